"""Progress that outlives the visit: kept in the learner's own browser, and nowhere else.

What the browser keeps and what this visit has found are joined there by the rule of
`Entry.outlasts`, never overwritten, so a stale tab cannot erase anything. What this version does
not understand is left as it is. What comes from a browser is a stranger's: read with care, shown
as text.
"""

import json

import streamlit as st

from attention_core.dashboard.catalogue import TITLES
from attention_core.dashboard.progress.entry import LONGEST, Entry, read_entry
from attention_core.dashboard.progress.progress import Progress

_KEY = "progress_memory"
_FORGOTTEN = "forgotten"  # beside the entries, how often the learner has forgotten them all
MERGE = """
    const length = (entry) =>
        [...`${entry.exercise}${entry.prediction ?? ""}${entry.result}`].length;
    const isEntry = (entry) => typeof entry?.result === "string"
        && (entry.prediction === null || typeof entry.prediction === "string")
        && (entry.right === null || typeof entry.right === "boolean");
    const outlasts = (before, later) => before.right === true || later.prediction === null;
    const same = (one, other) => ["prediction", "result", "right"]
        .every((part) => one?.[part] === other?.[part]);

    // What is to be stored, and what this session has not heard of it; null if it knows all.
    export function merge(stored, data) {
        const found = stored && typeof stored === "object" && !Array.isArray(stored) ? stored : {};
        const known = (key) => data.known.includes(key);
        const readable = (key) => known(key) && found[key]?.exercise === key
            && isEntry(found[key]) && length(found[key]) <= data.longest;
        const foreign = (key) => !readable(key)
            && !(known(key) && (typeof found[key] !== "object" || found[key] === null));
        const earlier = Number.isInteger(found.forgotten) ? found.forgotten : 0;
        const next = {};
        const stays = (key) => readable(key) ? earlier >= data.forgotten : foreign(key);
        for (const key of Object.keys(found))
            if (key !== "forgotten" && stays(key)) next[key] = found[key];
        const forgotten = Math.max(earlier, data.forgotten);
        if (data.forgotten >= earlier)
            for (const [key, entry] of Object.entries(data.entries)) {
                const before = next[key];
                if (before === undefined || (isEntry(before) && !outlasts(before, entry)))
                    next[key] = entry;
            }
        const entries = Object.fromEntries(Object.entries(next).filter(([key, entry]) =>
            known(key) && entry.exercise === key && isEntry(entry)
            && length(entry) <= data.longest));
        const keys = new Set([...Object.keys(entries), ...Object.keys(data.entries)]);
        const news = !data.asked || forgotten !== data.forgotten
            || [...keys].some((key) => !same(entries[key], data.entries[key]));
        const text = JSON.stringify({ forgotten, entries });
        return {
            next: forgotten ? { ...next, forgotten } : next,
            told: news && text !== data.heard ? text : null,
        };
    }
"""
_MEMORY = st.components.v2.component(
    "attention_progress",
    js=MERGE
    + """
    const NAME = "attention-lesson-progress";

    export default function ({ data, setStateValue }) {
        let stored = null;
        try { stored = JSON.parse(localStorage.getItem(NAME)); } catch { /* nothing readable */ }
        const { next, told } = merge(stored, data);
        try {
            localStorage.setItem(NAME, JSON.stringify(next));
        } catch { /* storage is switched off: then progress lasts for this visit */ }
        if (told !== null) setStateValue("stored", told);
    }
    """,
)


def hear_from_browser() -> None:
    """At the head of a page: take up what the browser has said since."""
    heard = _heard()
    forgotten, stored = read_stored(heard)
    if heard is not None:
        Progress.here().hear(forgotten, stored)


def tell_browser() -> None:
    """At the end of a page: have the browser keep what this visit has found.

    At the first visit it answers a moment later, with a second run.
    """
    progress = Progress.here()
    _MEMORY(
        key=_KEY,
        data={
            "entries": {entry.exercise: vars(entry) for entry in progress.entries},
            "forgotten": progress.forgotten,
            "asked": progress.asked,
            "heard": _heard(),
            "known": list(TITLES),
            "longest": LONGEST,
        },
        on_stored_change=lambda: None,
    )
    progress.asked = True


def _heard() -> str | None:
    stored = st.session_state.get(_KEY, {}).get("stored")
    return stored if isinstance(stored, str) else None


def read_stored(text: str | None) -> tuple[int, list[Entry]]:
    """How often everything was forgotten, and the entries; what is not one of ours is left out."""
    if text is None or len(text) > 2 * LONGEST * len(TITLES):
        return 0, []
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return 0, []
    match found:
        case {"forgotten": int(forgotten), "entries": dict(candidates)}:
            entries = (read_entry(candidate) for candidate in candidates.values())
            kept = [entry for entry in entries if entry and entry.exercise in TITLES]
            return max(0, forgotten), kept
    return 0, []
