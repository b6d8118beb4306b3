"""The progress: a right answer stays, being shown replaces nothing, and so it is when joined."""

import pytest

from attention_core.dashboard.progress import progress
from attention_core.dashboard.progress.progress import Entry

RIGHT = Entry("ex", "50 %", "49.997 %", True)
WRONG = Entry("ex", "20 %", "49.997 %", False)
SHOWN = Entry("ex", None, "49.997 %", None)
OUTCOMES = [  # first, then, what stays
    (WRONG, RIGHT, RIGHT),
    (RIGHT, WRONG, RIGHT),
    (RIGHT, SHOWN, RIGHT),
    (WRONG, SHOWN, WRONG),
    (SHOWN, WRONG, WRONG),
    (SHOWN, RIGHT, RIGHT),
    (WRONG, Entry("ex", "30 %", "49.997 %", False), Entry("ex", "30 %", "49.997 %", False)),
]


@pytest.fixture(autouse=True)
def session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress.st, "session_state", {})


def record(entry: Entry) -> None:
    progress.record("ex", prediction=entry.prediction, result=entry.result, right=entry.right)


@pytest.mark.parametrize(("first", "then", "stays"), OUTCOMES)
def test_what_stays_of_two_answers(first: Entry, then: Entry, stays: Entry) -> None:
    record(first)
    record(then)
    assert progress.entries() == (stays,)


@pytest.mark.parametrize(("first", "then", "stays"), OUTCOMES)
def test_an_earlier_visit_is_joined_as_if_it_had_come_first(
    first: Entry, then: Entry, stays: Entry
) -> None:
    record(then)
    progress.restore([first])
    assert progress.entries() == (stays,)
