"""The learner's progress as a picture of words: what is done, predictions against results."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from attention_core.dashboard import progress
from attention_core.dashboard.browser_memory import forget_progress
from attention_core.dashboard.exercise import Exercise


def show_progress(exercises: Sequence[Exercise]) -> None:
    """How many questions are done and right, then one row for each in the order of the lesson.

    What other pages have recorded comes after them, under the name it was recorded by.
    """
    done = {entry.exercise: entry for entry in progress.entries()}
    questions = {q.key: (e.title, q.title) for e in exercises for q in e.questions}
    questions |= {key: ("On the pages", key) for key in done if key not in questions}
    predicted = [entry for entry in done.values() if entry.right is not None]
    right = sum(entry.right is True for entry in predicted)

    st.progress(len(done) / len(questions), f"{len(done)} of {len(questions)} questions done")
    if not done:
        st.markdown("Nothing is done yet: your predictions will stand here, beside the results.")
        return
    st.markdown(
        f"**{right}** of **{len(predicted)}** predictions right. A wrong one that you can explain "
        "is worth as much."
    )
    rows = [
        {
            "exercise": exercise,
            "question": title,
            "your prediction": (done[key].prediction or "–") if key in done else "",
            "computed": done[key].result if key in done else "",
            "so far": done[key].verdict if key in done else "to do",
        }
        for key, (exercise, title) in questions.items()
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True)
    st.button(
        "Forget my progress",
        icon=":material/delete:",
        key="progress_forget_button",
        on_click=forget_progress,
    )
