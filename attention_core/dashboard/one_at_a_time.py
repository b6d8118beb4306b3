"""Work that takes much memory: one learner at a time, and nobody waits without a word."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

PATIENCE = 10.0  # seconds in which a learner's page stands still, at most


class Busy(ValueError):
    """Others are at it; the message is for the learner."""


class OneAtATime:
    """A lock for what many learners bring; `what` names that in the message."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._lock = Lock()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """The learner's turn. Raises Busy if it does not come in time."""
        if not self._lock.acquire(timeout=PATIENCE):
            raise Busy(f"Other learners' {self._what} come first: please try again in a moment.")
        try:
            yield
        finally:
            self._lock.release()
