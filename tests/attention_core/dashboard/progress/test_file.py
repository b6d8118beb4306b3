"""A progress file: read again as it was written; anything else is refused or left out."""

import json

import pytest

from attention_core.dashboard.progress.entry import LONGEST, Entry
from attention_core.dashboard.progress.file import LARGEST, read_progress, write_progress

ENTRIES = [
    Entry("ex_blend_weight", "“λ” <b>50 %</b>", "49.997 %", True),
    Entry("ex_blend_share", None, "a = 1.2153", None),
]


def file_of(**changes: object) -> bytes:
    return json.dumps(json.loads(write_progress(ENTRIES)) | changes).encode()


def record(**changes: object) -> dict[str, object]:
    return vars(ENTRIES[0]) | changes


def test_what_was_written_is_read_again() -> None:
    assert read_progress(write_progress(ENTRIES)) == (ENTRIES, 0)
    assert read_progress(write_progress([])) == ([], 0)


def test_an_editor_may_have_marked_it_as_unicode() -> None:
    assert read_progress(b"\xef\xbb\xbf" + write_progress(ENTRIES)) == (ENTRIES, 0)


def test_an_exercise_counts_once() -> None:
    assert read_progress(write_progress([ENTRIES[0]] * 3)) == ([ENTRIES[0]], 2)


def test_answers_to_unknown_questions_are_left_out_and_counted() -> None:
    stranger = Entry("no_such_question", "50 %", "49.997 %", True)
    assert read_progress(write_progress([stranger, ENTRIES[1]])) == (ENTRIES[1:], 1)


def test_a_file_that_was_saved_by_the_first_version_still_opens() -> None:
    saved = (
        b'{"format": "attention-lesson-progress", "version": 1, "entries": [\n'
        b'  {"exercise": "ex_blend_weight", "prediction": "50 %", "result": "49.997 % on each",'
        b' "right": true},\n'
        b'  {"exercise": "lab_A", "prediction": null, "result": "mask after softmax",'
        b' "right": null}\n]}'
    )
    assert read_progress(saved) == (
        [
            Entry("ex_blend_weight", "50 %", "49.997 % on each", True),
            Entry("lab_A", None, "mask after softmax", None),
        ],
        0,
    )


@pytest.mark.parametrize(
    "bad",
    [
        None,
        7,
        [],
        {},
        record(result=5),
        record(right="yes"),
        record(right=1),
        record(prediction=["50 %"]),
        record(result="x" * LONGEST),
        record(result="\ud800"),
        record(prediction=None),
        record(right=None),
        {"exercise": "ex_blend_weight"},
    ],
)
def test_a_record_of_another_form_is_left_out(bad: object) -> None:
    assert read_progress(file_of(entries=[bad, vars(ENTRIES[1])])) == (ENTRIES[1:], 1)


@pytest.mark.parametrize(
    "file",
    [
        b"",
        b"\x00\xff\xfe",
        b"{",
        b"null",
        b"[1]",
        b"[" * 50_000,
        b"1" * 5000,
        file_of(format="other"),
        file_of(version="1"),
        file_of(version=True),
        file_of(entries={"ex_blend_weight": {}}),
    ],
)
def test_a_file_of_another_kind_is_refused(file: bytes) -> None:
    with pytest.raises(ValueError, match="This is not a progress file: choose one"):
        read_progress(file)


def test_a_newer_version_is_named() -> None:
    with pytest.raises(ValueError, match="another version than 1"):
        read_progress(file_of(version=2))


def test_a_large_file_is_refused_before_it_is_read() -> None:
    with pytest.raises(ValueError, match="100,000 bytes at most: 100,001"):
        read_progress(write_progress(ENTRIES).ljust(LARGEST + 1))
