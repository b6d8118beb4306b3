"""What the learner has predicted and what came out, across all pages."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

import streamlit as st

LONGEST = 1000  # characters of one entry; the longest of the lesson takes a fifth of that
_PROGRESS = "progress"


@dataclass(frozen=True)
class Entry:
    """One exercise that is done.

    exercise    which one: the id it was recorded under
    prediction  what the learner expected, in words; None for one who asked to be shown
    result      what was computed, in words
    right       whether the two agree; None where nothing was predicted
    """

    exercise: str
    prediction: str | None
    result: str
    right: bool | None

    @property
    def verdict(self) -> str:
        """The outcome in one word for a table."""
        return {True: "right", False: "not yet right", None: "shown"}[self.right]


def record(
    exercise_id: str, *, prediction: str | None = None, result: str, right: bool | None = None
) -> None:
    """Note that an exercise is done. A right answer stays, and being shown replaces nothing."""
    done: dict[str, Entry] = st.session_state.setdefault(_PROGRESS, {})
    entry = Entry(exercise_id, prediction, result, right)
    if exercise_id not in done or not _stays(done[exercise_id], entry):
        done[exercise_id] = entry


def restore(earlier: Iterable[Entry]) -> None:
    """Take up entries of an earlier visit, as if this visit had come upon them."""
    done: dict[str, Entry] = st.session_state.setdefault(_PROGRESS, {})
    for entry in earlier:
        if entry.exercise not in done or _stays(entry, done[entry.exercise]):
            done[entry.exercise] = entry


def _stays(before: Entry, after: Entry) -> bool:
    return bool(before.right) or after.prediction is None


def forget() -> None:
    """Begin anew."""
    st.session_state[_PROGRESS] = {}


def entries() -> tuple[Entry, ...]:
    """All that is done, in the order in which it was first done."""
    return tuple(st.session_state.get(_PROGRESS, {}).values())


def read_entry(candidate: object) -> Entry | None:
    """The entry that a browser or a file holds in this form; None for anything else."""
    match candidate:
        case {
            "exercise": str(exercise),
            "prediction": str() | None as prediction,
            "result": str(result),
            "right": True | False | None as right,
        } if (prediction is None) == (right is None) and _can_be_shown(
            f"{exercise}{prediction}{result}"
        ):
            return Entry(exercise, prediction, result, right)
    return None


def _can_be_shown(text: str) -> bool:
    return len(text) <= LONGEST and not re.search("[\ud800-\udfff]", text)  # half characters
