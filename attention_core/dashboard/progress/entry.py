"""One answer to one question, and how answers that come from outside are read."""

import re
from dataclasses import dataclass

LONGEST = 1000  # characters of one entry; the longest of the lesson takes a fifth of that


@dataclass(frozen=True)
class Entry:
    """One question that is done.

    exercise    which one: the key of the question
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

    def outlasts(self, later: "Entry") -> bool:
        """A right answer stays, and being shown replaces nothing. The browser has the same rule."""
        return bool(self.right) or later.prediction is None


def read_entry(candidate: object) -> Entry | None:
    """The entry that a browser or a file holds in this form; None for anything else."""
    match candidate:
        case {
            "exercise": str(exercise),
            "prediction": str() | None as prediction,
            "result": str(result),
            "right": True | False | None as right,
        } if (prediction is None) == (right is None) and _can_be_shown(
            f"{exercise}{prediction or ''}{result}"
        ):
            return Entry(exercise, prediction, result, right)
    return None


def _can_be_shown(text: str) -> bool:
    return len(text) <= LONGEST and not re.search("[\ud800-\udfff]", text)  # half characters
