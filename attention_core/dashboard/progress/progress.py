"""What the learner has predicted and what came out, across all pages: one object per session."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import streamlit as st

from attention_core.dashboard.catalogue import TITLES
from attention_core.dashboard.controls.url_state import UrlState
from attention_core.dashboard.lesson import EXERCISES
from attention_core.dashboard.progress.entry import Entry

_PROGRESS = "progress"


@dataclass
class Progress:
    """The answers of this visit, joined with those that the learner's browser keeps.

    done       by question, in the order in which they were first done
    asked      whether the browser was asked what it keeps, which it says at once: in the first run
               nothing is recorded, lest it be lost
    forgotten  how often the learner has forgotten everything: what was stored before counts no more
    """

    done: dict[str, Entry] = field(default_factory=dict)
    asked: bool = False
    forgotten: int = 0

    @classmethod
    def here(cls) -> "Progress":
        """That of this session."""
        found: Progress = st.session_state.setdefault(_PROGRESS, cls())
        return found

    @property
    def entries(self) -> tuple[Entry, ...]:
        return tuple(self.done.values())

    def of(self, question: str) -> Entry | None:
        """What is known of the question with this key."""
        return self.done.get(question)

    def record(
        self, question: str, prediction: str | None, result: str, right: bool | None
    ) -> bool:
        """Note an answer, unless the one before outlasts it. Whether anything has changed.

        KeyError for a question that is not in the catalogue.
        """
        entry = Entry(question, prediction, result, None if prediction is None else bool(right))
        before = self.done.get(question)
        if question not in TITLES:
            raise KeyError(question)
        if not self.asked or (before and before.outlasts(entry)):
            return False
        if before and (before.prediction, before.right) == (entry.prediction, entry.right):
            return False  # the same answer, seen under other settings
        self.done[question] = entry
        return True

    def join(self, earlier: Iterable[Entry]) -> None:
        """Take up entries of an earlier visit, as if this visit had come upon them."""
        for entry in earlier:
            later = self.done.get(entry.exercise)
            if entry.exercise in TITLES and (later is None or entry.outlasts(later)):
                self.done[entry.exercise] = entry

    def hear(self, forgotten: int, stored: Iterable[Entry]) -> None:
        """Take up what the browser keeps. What another tab has forgotten is forgotten here too."""
        if forgotten > self.forgotten:
            self.done.clear()
            self.forgotten = forgotten
        if forgotten == self.forgotten:
            self.join(stored)

    def forget(self) -> None:
        """Begin anew, predictions too: for `on_click`. The browser follows at the page's end."""
        self.done.clear()
        self.forgotten += 1
        for prefix in (EXERCISES.prefix, *TITLES):
            UrlState.here().reset(prefix)
