"""The learner's progress in words: what is done, predictions against results."""

from collections.abc import Sequence
from typing import Literal

import streamlit as st

from attention_core.dashboard import progress
from attention_core.dashboard.browser_memory import forget_progress
from attention_core.dashboard.exercise import Exercise
from attention_core.dashboard.progress import Entry

TO_DO = "to do"
# Each verdict as an icon and a colour; the word beside them says the same.
BADGES: dict[str, tuple[str, Literal["green", "orange", "blue", "gray"]]] = {
    "right": ("check_circle", "green"),
    "not yet right": ("cancel", "orange"),
    "shown": ("visibility", "blue"),
    TO_DO: ("radio_button_unchecked", "gray"),
}


def show_progress(exercises: Sequence[Exercise]) -> None:
    """How many questions are done and right, then one line for each in the order of the lesson.

    What other pages have recorded comes after them, under the name it was recorded by.
    """
    done = {entry.exercise: entry for entry in progress.entries()}
    groups = {e.title: {q.key: q.title for q in e.questions} for e in exercises}
    known = {key for titles in groups.values() for key in titles}
    if others := {key: key for key in done if key not in known}:
        groups["On the pages"] = others
    count = sum(map(len, groups.values()))
    predicted = [entry for entry in done.values() if entry.right is not None]
    right = sum(entry.right is True for entry in predicted)

    st.progress(len(done) / count, f"{len(done)} of {count} questions done")
    if not done:
        st.markdown("Nothing is done yet: your predictions will stand here, beside the results.")
        return
    st.markdown(
        f"**{right}** of **{len(predicted)}** predictions right. A wrong one that you can explain "
        "is worth as much."
    )
    for exercise, titles in groups.items():
        st.markdown(f"**{exercise}**")
        for key, title in titles.items():
            _show_line(title, done.get(key))
    st.button(
        "Forget my progress",
        icon=":material/delete:",
        key="progress_forget_button",
        on_click=forget_progress,
    )


def _show_line(title: str, entry: Entry | None) -> None:
    """The verdict, then what was asked, said and computed: as text, as it may be a stranger's."""
    verdict = TO_DO if entry is None else entry.verdict
    icon, colour = BADGES[verdict]
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.badge(verdict, icon=f":material/{icon}:", color=colour)
            st.text(title)
        if entry is not None:
            if entry.prediction is not None:
                st.text(f"You said: {entry.prediction}")
            st.text(f"Computed: {entry.result}")
