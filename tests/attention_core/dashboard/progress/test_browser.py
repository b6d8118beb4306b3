"""What a browser claims to remember: joined, never trusted."""

import json

import pytest

from attention_core.dashboard.progress.browser import _read
from attention_core.dashboard.progress.progress import Entry

KNOWN = {"blend", "scale"}
ENTRY = {"exercise": "blend", "prediction": "50 %", "result": "49.997 %", "right": True}


def stored(**entries: object) -> str:
    return json.dumps(entries)


def test_what_was_written_is_read_again() -> None:
    shown = {"exercise": "scale", "prediction": None, "result": "1.0", "right": None}
    assert _read(stored(blend=ENTRY, scale=shown), KNOWN) == [
        Entry("blend", "50 %", "49.997 %", True),
        Entry("scale", None, "1.0", None),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "7",
        "{",
        "[" * 10_000,
        "x" * 100_000,
        None,
        5,
        stored(blend="done"),
        stored(blend=ENTRY | {"exercise": "no such exercise"}),
        stored(blend=ENTRY | {"right": "yes"}),
        stored(blend=ENTRY | {"right": 1}),
        stored(blend=ENTRY | {"result": {"a": 1}}),
        stored(blend={"exercise": "blend"}),
    ],
)
def test_anything_else_is_left_out(text: object) -> None:
    assert _read(text, KNOWN) == []


def test_one_bad_entry_does_not_cost_the_others() -> None:
    assert _read(stored(scale=3, blend=ENTRY), KNOWN) == [Entry("blend", "50 %", "49.997 %", True)]
