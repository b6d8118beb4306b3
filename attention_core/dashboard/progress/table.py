"""The learner's progress in words: what is done, predictions against results."""

from collections.abc import Mapping, Sequence
from typing import Literal

import streamlit as st

from attention_core.dashboard.progress import progress
from attention_core.dashboard.progress.browser import forget_progress
from attention_core.dashboard.progress.progress import Entry
from attention_core.dashboard.questions.exercise import Question

# Each verdict as an icon and a colour; the word beside them says the same.
BADGES: dict[str, tuple[str, Literal["green", "orange", "blue"]]] = {
    "right": ("check_circle", "green"),
    "not yet right": ("cancel", "orange"),
    "shown": ("visibility", "blue"),
}
LISTED = 5  # answers of one group that are in view at once; more are folded away


def show_progress(groups: Mapping[str, Sequence[Question]]) -> None:
    """How many questions are done and right, then what is done in each group."""
    keys = {question.key for questions in groups.values() for question in questions}
    done = {entry.exercise: entry for entry in progress.entries() if entry.exercise in keys}
    count = len(keys)
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
    for title, questions in groups.items():
        finished = [question for question in questions if question.key in done]
        says = f"**{title}** · {len(finished)} of {len(questions)} done"
        if not finished:
            st.markdown(says)
            continue
        with st.expander(says, expanded=len(finished) <= LISTED, key=f"progress_{title}"):
            for question in finished:
                _show_line(question.title, done[question.key])
    st.button(
        "Forget my progress",
        icon=":material/delete:",
        key="progress_forget_button",
        on_click=forget_progress,
        args=(keys,),
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
