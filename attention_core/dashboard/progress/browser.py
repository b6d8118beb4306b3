"""Progress that outlives the visit: kept in the learner's own browser, and nowhere else.

What the browser holds and what this visit has found are joined, never overwritten, so a stale tab
cannot erase anything. What comes from a browser is a stranger's: read with care, shown as text.
"""

import json
from collections.abc import Collection

import streamlit as st

from attention_core.dashboard.controls.bound import reset
from attention_core.dashboard.lesson import EXERCISES
from attention_core.dashboard.progress import progress
from attention_core.dashboard.progress.progress import LONGEST, Entry, read_entry

_KEY, _FORGET, _FORGOTTEN = "progress_memory", "progress_forget", "progress_forgotten"
_ASKED, _WAITED_FOR = "progress_asked", "progress_waited_for"

_MEMORY = st.components.v2.component(
    "attention_progress",
    js="""
    const NAME = "attention-lesson-progress";
    let told = null;  // what the server has been told of, lest it be told again and again

    export default function ({ data, setStateValue }) {
        let stored = {};
        try {
            if (data.forget) localStorage.removeItem(NAME);
            const found = Object.entries(JSON.parse(localStorage.getItem(NAME)) ?? {});
            const ours = ([key, entry]) =>
                data.known.includes(key) && JSON.stringify(entry).length < data.longest;
            stored = Object.fromEntries(found.filter(ours));
        } catch { /* nothing readable there, or storage is switched off */ }
        const text = JSON.stringify(stored);
        try {
            localStorage.setItem(NAME, JSON.stringify({ ...stored, ...data.entries }));
        } catch { /* then progress lasts for this visit */ }
        const news = data.answer || Object.keys(stored).some((key) => !(key in data.entries));
        if (text !== told && news) {
            told = text;
            setStateValue("stored", text);
        }
    }
    """,
)


def remember_progress(known: Collection[str]) -> None:
    """Join this visit's progress with the browser's; `known` are the exercises that there are.

    At the first visit the browser answers a moment later, with a second run.
    """
    forget = st.session_state.pop(_FORGET, False)
    if forget:
        progress.forget()
        st.session_state[_FORGOTTEN] = _stored()
    else:
        recall_progress(known)
    entries = {entry.exercise: vars(entry) for entry in progress.entries()}
    known_keys = {"known": list(known), "longest": LONGEST}
    answer = st.session_state.pop(_WAITED_FOR, False)
    _MEMORY(
        key=_KEY,
        data={"entries": entries, "forget": forget, "answer": answer, **known_keys},
        on_stored_change=lambda: None,
    )
    st.session_state[_ASKED] = True


def recall_progress(known: Collection[str]) -> None:
    """Take up what the browser holds, for a page that shows progress or adds to what is there."""
    stored = _stored()
    if stored != st.session_state.get(_FORGOTTEN):
        progress.restore(_read(stored, known))


def _must_wait() -> bool:
    """Whether what the browser holds is still to come: then it is here in a run that follows,
    also if it is nothing."""
    if st.session_state.get(_ASKED, False):
        return False
    st.session_state[_WAITED_FOR] = True
    return True


def record(
    exercise_id: str, *, prediction: str | None = None, result: str, right: bool | None = None
) -> None:
    """As `progress.record`, but not before what the browser holds is here, lest it be lost."""
    if not _must_wait():
        progress.record(exercise_id, prediction=prediction, result=result, right=right)


def forget_progress(known: Collection[str]) -> None:
    """Have the next run forget, here and in the browser, predictions too: for `on_click`."""
    st.session_state[_FORGET] = True
    for prefix in (EXERCISES.prefix, *known):
        reset(prefix)


def _stored() -> object:
    return st.session_state.get(_KEY, {}).get("stored", "")


def _read(stored: object, known: Collection[str]) -> list[Entry]:
    """The entries in a browser's text; what is not one of ours is left out."""
    if not isinstance(stored, str) or len(stored) > LONGEST * len(known):
        return []
    try:
        found = json.loads(stored)
    except (ValueError, RecursionError):
        return []
    candidates = found.values() if isinstance(found, dict) else ()
    entries = (read_entry(candidate) for candidate in candidates)
    return [entry for entry in entries if entry and entry.exercise in known]
