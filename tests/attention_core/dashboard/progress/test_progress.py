"""The progress: a right answer stays, being shown replaces nothing, and so it is when joined."""

import pytest

from attention_core.dashboard.progress.entry import Entry
from attention_core.dashboard.progress.progress import Progress

RIGHT = Entry("ex_blend_weight", "50 %", "49.997 %", True)
WRONG = Entry("ex_blend_weight", "20 %", "49.997 %", False)
SHOWN = Entry("ex_blend_weight", None, "49.997 %", None)
LATER = Entry("ex_blend_weight", "30 %", "49.997 %", False)
OUTCOMES = [  # first, then, what stays
    (WRONG, RIGHT, RIGHT),
    (RIGHT, WRONG, RIGHT),
    (RIGHT, SHOWN, RIGHT),
    (WRONG, SHOWN, WRONG),
    (SHOWN, WRONG, WRONG),
    (SHOWN, RIGHT, RIGHT),
    (
        WRONG,
        Entry("ex_blend_weight", "30 %", "49.997 %", False),
        Entry("ex_blend_weight", "30 %", "49.997 %", False),
    ),
]


@pytest.fixture
def progress() -> Progress:
    """That of a session whose browser keeps nothing."""
    return Progress(asked=True)


def record(progress: Progress, entry: Entry) -> bool:
    return progress.record("ex_blend_weight", entry.prediction, entry.result, entry.right)


@pytest.mark.parametrize(("first", "then", "stays"), OUTCOMES)
def test_what_stays_of_two_answers(
    progress: Progress, first: Entry, then: Entry, stays: Entry
) -> None:
    assert record(progress, first)
    assert record(progress, then) == (stays == then)
    assert progress.entries == (stays,)
    assert progress.of("ex_blend_weight") == stays and progress.of("ex_blend_share") is None


@pytest.mark.parametrize(("first", "then", "stays"), OUTCOMES)
def test_an_earlier_visit_is_joined_as_if_it_had_come_first(
    progress: Progress, first: Entry, then: Entry, stays: Entry
) -> None:
    record(progress, then)
    progress.join([first])
    assert progress.entries == (stays,)


def test_nothing_is_recorded_before_the_browser_was_asked_what_it_keeps() -> None:
    unheard = Progress()
    assert not record(unheard, WRONG) and not unheard.entries
    unheard.asked = True
    unheard.hear(0, [RIGHT])
    assert not record(unheard, WRONG) and unheard.entries == (RIGHT,)


def test_the_same_answer_under_other_settings_changes_nothing(progress: Progress) -> None:
    assert record(progress, WRONG)
    again = Entry("ex_blend_weight", WRONG.prediction, "another figure", False)
    assert not record(progress, again) and progress.entries == (WRONG,)


def test_what_another_tab_has_forgotten_is_forgotten_here(progress: Progress) -> None:
    record(progress, RIGHT)
    progress.hear(1, [])
    assert not progress.entries and progress.forgotten == 1
    progress.hear(0, [RIGHT])  # what an older run had heard
    assert not progress.entries


def test_only_questions_of_the_catalogue_are_kept(progress: Progress) -> None:
    with pytest.raises(KeyError):
        progress.record("no_such_question", "50 %", "49.997 %", True)
    progress.join([Entry("no_such_question", "50 %", "49.997 %", True)])
    assert not progress.entries
