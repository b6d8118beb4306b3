"""What a browser claims to remember: joined, never trusted."""

import json

import pytest

from attention_core.dashboard.progress.browser import read_stored
from attention_core.dashboard.progress.entry import Entry

ENTRY = {"exercise": "ex_blend_weight", "prediction": "50 %", "result": "49.997 %", "right": True}


def stored(**entries: object) -> str:
    return json.dumps({"forgotten": 2, "entries": entries})


def test_what_was_written_is_read_again() -> None:
    shown = {"exercise": "ex_scale_dense", "prediction": None, "result": "1.0", "right": None}
    assert read_stored(stored(ex_blend_weight=ENTRY, ex_scale_dense=shown)) == (
        2,
        [
            Entry("ex_blend_weight", "50 %", "49.997 %", True),
            Entry("ex_scale_dense", None, "1.0", None),
        ],
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "7",
        "5e999",
        '{"forgotten": "1", "entries": {}}',
        '{"forgotten": 1, "entries": []}',
        "{",
        "[" * 10_000,
        "x" * 100_000,
        None,
        stored(ex_blend_weight="done"),
        stored(ex_blend_weight=ENTRY | {"exercise": "no such exercise"}),
        stored(ex_blend_weight=ENTRY | {"right": "yes"}),
        stored(ex_blend_weight=ENTRY | {"right": 1}),
        stored(ex_blend_weight=ENTRY | {"result": {"a": 1}}),
        stored(ex_blend_weight={"exercise": "ex_blend_weight"}),
    ],
)
def test_anything_else_is_left_out(text: str | None) -> None:
    assert read_stored(text)[1] == []


def test_one_bad_entry_does_not_cost_the_others() -> None:
    assert read_stored(stored(ex_scale_dense=3, ex_blend_weight=ENTRY)) == (
        2,
        [Entry("ex_blend_weight", "50 %", "49.997 %", True)],
    )
