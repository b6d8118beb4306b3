"""Which diagnoses were tried for each specimen, and how many are right: kept in the progress."""

from collections.abc import Sequence

import streamlit as st

from attention_core.dashboard.bug_lab.names import DIAGNOSES
from attention_core.dashboard.bug_lab.specimens import SPECIMENS
from attention_core.dashboard.progress.entry import Entry
from attention_core.dashboard.progress.progress import Progress
from attention_core.dashboard.questions.ask import note
from attention_core.dashboard.questions.question import Question

SHOWN = "shown"
_THEN = ", then "
_MOST = 10  # guesses that are kept for one specimen, the latest


def entry_of(question: Question) -> Entry | None:
    """What the progress holds about this specimen."""
    return Progress.here().of(question.key)


def history(question: Question) -> list[str]:
    """The guesses so far, in their order, and SHOWN if the learner asked then; names of ours only,
    as the progress may have come from a browser."""
    entry = entry_of(question)
    said = (entry and entry.prediction) or ""
    return [guess for guess in said.split(_THEN) if guess in DIAGNOSES or guess == SHOWN]


def is_over(question: Question) -> bool:
    """Right, or shown: nothing that is tried from now on counts."""
    entry = entry_of(question)
    return (entry is not None and (bool(entry.right) or not history(question))) or (
        SHOWN in history(question)
    )


def note_diagnosis(question: Question, guess: str | None, *, right: bool, result: str) -> None:
    """Add a guess to the history, or None for one who asked to be shown.

    A refreshed page finds the latest guess in its URL, and all of them in the browser, which
    answers a moment later: until then nothing is added, lest it stand in place of them.
    """
    tried = history(question)
    if is_over(question) or (guess is not None and tried[-1:] == [guess]):
        return
    if guess is None and not tried:
        note(question, result=result)
        return
    said = _THEN.join([*tried, SHOWN if guess is None else guess][-_MOST:])
    note(question, prediction=said, result=result, right=right)


def diagnosed() -> Sequence[Question]:
    """The specimens whose fault the learner has named, in their order."""
    right = {entry.exercise for entry in Progress.here().entries if entry.right}
    return [question for question in SPECIMENS if question.key in right]


def show_score(question: Question) -> None:
    """How many of all, and what was tried for this one."""
    done = diagnosed()
    st.progress(len(done) / len(SPECIMENS), f"{len(done)} of {len(SPECIMENS)} diagnosed")
    if done:
        st.caption("Diagnosed: " + ", ".join(q.title.split()[-1] for q in done))
    if tried := history(question):
        st.markdown(f"**{question.title}: tried so far**")
        st.markdown("\n".join(f"{number}. {guess}" for number, guess in enumerate(tried, start=1)))
