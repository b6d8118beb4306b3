"""The learner's progress in words: what is done, predictions against results."""

from typing import Literal

import streamlit as st

from attention_core.dashboard.catalogue import GROUPS, TITLES
from attention_core.dashboard.progress.entry import Entry
from attention_core.dashboard.progress.progress import Progress

# Each verdict as an icon and a colour; the word beside them says the same.
BADGES: dict[str, tuple[str, Literal["green", "orange", "blue"]]] = {
    "right": ("check_circle", "green"),
    "not yet right": ("cancel", "orange"),
    "shown": ("visibility", "blue"),
}
LISTED = 5  # answers of one group that are in view at once; more are folded away


def show_progress() -> None:
    """How many questions are done and right, then what is done in each group."""
    progress = Progress.here()
    done = progress.done
    predicted = [entry for entry in progress.entries if entry.right is not None]
    right = sum(entry.right is True for entry in predicted)

    st.progress(len(done) / len(TITLES), f"{len(done)} of {len(TITLES)} questions done")
    if not done:
        st.markdown("Nothing is done yet: your predictions will stand here, beside the results.")
        return
    st.markdown(
        f"**{right}** of **{len(predicted)}** predictions right. A wrong one that you can explain "
        "is worth as much."
    )
    for group, titles in GROUPS.items():
        finished = [key for key in titles if key in done]
        says = f"**{group}** · {len(finished)} of {len(titles)} done"
        if not finished:
            st.markdown(says)
            continue
        with st.expander(says, expanded=len(finished) <= LISTED, key=f"progress_{group}"):
            for key in finished:
                _show_line(titles[key], done[key])
    st.button(
        "Forget my progress",
        icon=":material/delete:",
        key="progress_forget_button",
        on_click=progress.forget,
    )


def _show_line(title: str, entry: Entry) -> None:
    """The verdict, then what was asked, said and computed: as text, as it may be a stranger's."""
    icon, colour = BADGES[entry.verdict]
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.badge(entry.verdict, icon=f":material/{icon}:", color=colour)
            st.text(title)
        if entry.prediction is not None:
            st.text(f"You said: {entry.prediction}")
        st.text(f"Computed: {entry.result}")
