"""The parts of the workshop that can be tested without a page: marks, painting, judging."""

import itertools
from typing import Any

import pytest
import streamlit as st
import torch
from hypothesis import given
from hypothesis import strategies as some

from attention_core import MaskRuleError, mask_tensor, parse_mask_rule
from attention_core.dashboard.mask_workshop import paint
from attention_core.dashboard.mask_workshop.challenges import CHALLENGES
from attention_core.dashboard.mask_workshop.current_mask import load_rule
from attention_core.dashboard.mask_workshop.judging import difference, judge
from attention_core.dashboard.mask_workshop.mask_view import mask_chart, masked_rows_in_words
from attention_core.dashboard.mask_workshop.painted_cells import (
    exceptions_in_words,
    read_cells,
    write_cells,
)
from attention_core.dashboard.mask_workshop.targets import TARGETS
from attention_core.dashboard.panels.rule_refusal import marked
from attention_core.masks import flip_cells
from attention_core.masks.gallery import GALLERY

SIZES = [(1, 1), (2, 5), (7, 3), (11, 11), (13, 13)]


def refused(rule):
    with pytest.raises(MaskRuleError) as caught:
        parse_mask_rule(rule)
    return caught.value


@pytest.mark.parametrize(
    ("rule", "chart"),
    [
        ("j <= i & i < 3", "j <= i & i < 3|       ^"),
        ("  i && j", "  i && j|    ^^"),
        ("i\tin\nj", "i in j|     ^"),
        ("i < j\x00", "i < j�|     ^"),
        ("i < 😀", "i < 😀|    ^^"),
        ("i <", "i <|   ^"),
        ("", "|^"),
    ],
)
def test_the_offending_part_is_marked(rule, chart):
    error = refused(rule)
    assert marked(rule, error.start, error.end) == chart.replace("|", "\n")


def test_of_a_long_rule_the_surroundings_are_shown():
    rule = "i < 1 or " * 10 + "i = 3" + " or j < 1" * 10
    error = refused(rule)
    shown, under = marked(rule, error.start, error.end).split("\n")
    assert len(shown) < 60
    assert shown.startswith("…") and shown.endswith("…")
    assert shown[under.index("^")] == "="
    assert under.count("^") == 1
    many = "9" * 200
    assert len(marked(many, 0, 200).split("\n")[1]) <= 20


@given(some.text(max_size=300))
def test_any_text_can_be_marked(rule):
    half, end = len(rule) // 2, len(rule)
    for start, stop in ((0, end), (end, end), (half, half + 1)):
        lines = marked(rule, start, stop).split("\n")
        assert len(lines) == 2
        assert "\n".join(lines).encode()  # no half characters
        assert lines[1].endswith("^")


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("", ()),
        ("2-4 3-0", ((2, 4), (3, 0))),
        ("  3-0\t2-4  3-0", ((2, 4), (3, 0))),
        ("5-0 4-7 4-6", ((4, 6),)),
        ("-1-2 1--2 1-2-3 1.0-2 a-b 1- -1 x1-2 ١-٢", ()),
        ("7" * 5000, ()),
        ("9999999999-1 1-9999999999", ()),
        ("<img src=x onerror=alert(1)> 0-1", ((0, 1),)),
    ],
)
def test_cells_are_read_from_any_text(text, cells):
    assert read_cells(text, 5, 7) == cells


@given(some.sets(some.tuples(some.integers(0, 11), some.integers(0, 11))))
def test_cells_come_back_as_they_were_written(cells):
    assert read_cells(write_cells(sorted(cells)), 12, 12) == tuple(sorted(cells))


def test_what_is_too_long_ends_with_a_whole_cell():
    far = range(100, 128)
    many = list(itertools.product(far, far))
    text = write_cells(many)
    assert len(text) <= 900
    assert list(read_cells(text, 128, 128)) == many[: len(text.split())]


def test_exceptions_are_named():
    assert exceptions_in_words(()) == ""
    assert exceptions_in_words(((2, 4),)) == "1 painted exception to the rule: query 2, key 4."
    many = exceptions_in_words(tuple((i, 1) for i in range(9)))
    assert "9 painted exceptions" in many and "and 3 more" in many and "query 6" not in many


@pytest.fixture
def session(monkeypatch):
    """A session in which the grid can be clicked: {row: {column: value}}."""
    state: dict[str, Any] = {}
    monkeypatch.setattr(st, "session_state", state)
    grids = []
    monkeypatch.setattr(st, "data_editor", lambda frame, **given: grids.append((frame, given)))
    state["grids"] = grids
    return state


def click(session, edits):
    """The grid's boxes as the learner left them, all of them since it was drawn."""
    _, given = session["grids"][-1]
    session[given["key"]] = {"edited_rows": edits}
    given["on_change"](*given["args"])


def show_grid(session, rule, n_q=3, n_k=5):
    """One run of the page; which boxes are ticked, and the key of the grid."""
    mask = mask_tensor(parse_mask_rule(rule), n_q, n_k)
    cells = read_cells(session.get("work_paint", ""), n_q, n_k)
    paint._show_grid(mask, cells)
    frame, given = session["grids"][-1]
    return frame.to_numpy().tolist(), flip_cells(mask, cells).tolist(), given["key"]


def test_a_click_is_an_exception_and_the_grid_stays(session):
    drawn, wanted, key = show_grid(session, "j <= i")
    assert drawn == wanted
    click(session, {0: {"4": True}})
    assert session["work_paint"] == "0-4"
    same, _, same_key = show_grid(session, "j <= i")
    assert (same, same_key) == (drawn, key)  # so that a click on its way is not lost
    click(session, {0: {"4": True}, 2: {"0": False, "1": None}})
    assert session["work_paint"] == "0-4 2-0 2-1"
    assert show_grid(session, "j <= i")[2] == key
    click(session, {0: {"4": False}, 2: {"0": False, "1": True}})
    assert session["work_paint"] == "2-0"


def test_the_corner_of_the_grid_names_rows_and_columns(session):
    show_grid(session, "j <= i")
    frame, given = session["grids"][-1]
    assert given["column_config"]["_index"]["label"] == "query \\ key"
    assert frame.index.tolist() == ["query 0", "query 1", "query 2"]


def test_what_is_written_elsewhere_draws_the_grid_anew(session):
    key = show_grid(session, "j <= i")[2]
    session["work_paint"] = "0-4"
    drawn, wanted, second = show_grid(session, "j <= i")
    assert second != key and drawn == wanted and drawn[0][4]
    click(session, {1: {"3": True}})
    assert session["work_paint"] == "0-4 1-3"
    assert show_grid(session, "j <= i")[2] == second
    # another rule keeps the exceptions as exceptions
    drawn, wanted, third = show_grid(session, "j > i")
    assert third not in (key, second) and drawn == wanted
    assert not drawn[0][4] and not drawn[1][3]
    click(session, {0: {"4": True}})
    assert session["work_paint"] == "1-3"
    # and so do other sizes, also what is outside of them for now
    drawn, wanted, _ = show_grid(session, "j > i", 2, 2)
    assert drawn == wanted == [[False, True], [False, False]]
    click(session, {1: {"1": True}})
    assert session["work_paint"] == "1-1 1-3"
    drawn, wanted, _ = show_grid(session, "j > i")
    assert drawn == wanted
    load_rule("j == i")
    assert (session["work_rule"], session["work_paint"]) == ("j == i", "")
    drawn, wanted, _ = show_grid(session, "j == i")
    assert drawn == wanted == mask_tensor(parse_mask_rule("j == i"), 3, 5).tolist()


def test_a_stranger_in_the_edits_does_no_harm(session):
    show_grid(session, "j <= i")
    click(session, {1: {"_index": "x"}})
    assert session["work_paint"] == ""


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("0 == 0", "Every query"),
        ("i != 1", "**Query 1** may attend to nothing"),
        ("i > 1", "**Queries 0 and 1** may"),
        ("i > 8", "**Queries 0, 1, 2, 3, 4 and 4 more** may"),
    ],
)
def test_dead_rows_are_named(rule, says):
    words = masked_rows_in_words(mask_tensor(parse_mask_rule(rule), 11, 3))
    assert words.startswith(says)
    assert ("a *dead row*. Its weights" in words) == says.startswith("**Query ")
    assert ("*dead rows*. Their weights" in words) == says.startswith("**Queries")


def test_the_keys_of_each_query_can_be_heard():
    mask = mask_tensor(parse_mask_rule("j < i"), 3, 5)
    assert "Query 0: no key. Query 1: key 0. Query 2: keys 0 and 1." in mask_chart(mask, "?").alt
    assert len(mask_chart(mask_tensor(parse_mask_rule("j < i"), 128, 128), "?").alt) < 100
    target = mask_chart(mask, "Target: 3 queries, 5 keys")
    assert target.alt.startswith("Target: 3 queries, 5 keys. 3 of 15 pairs may. Query 0")
    assert target.spec["title"] == "Target: 3 queries, 5 keys"


def by_hand(number, n_q, n_k):
    """The targets, written another way: loops over positions."""
    mask = torch.zeros(n_q, n_k, dtype=torch.bool)
    for i in range(n_q):
        if number == 0 and 0 < i <= n_k:
            mask[i, i - 1] = True
        for j in range(i, -1, -2) if number == 1 else ():
            mask[i, j : j + 1] = True
        if number == 2:
            mask[i, 4 * (i // 4) : i + 1] = True
        if number == 3:
            at = n_k - n_q + i
            mask[i, max(0, at - 2) : max(0, at + 1)] = True
        if number == 4:
            mask[i, 3 * (i // 3) : i + 1] = True
            mask[i, 2:i:3] = True
    return mask


@pytest.mark.parametrize("number", range(5))
def test_the_targets(number):
    target = TARGETS[number]
    for sizes in (target.sizes, target.elsewhere, *SIZES):
        assert torch.equal(target.mask(sizes), by_hand(number, *sizes))
    found = judge(target, target.rule)
    assert found.verdict.right
    for hint in target.question.hints:
        assert target.rule not in hint
    assert len(target.question.hints) == 3


def test_there_are_five_and_one_is_not_square():
    assert [q.key for q in CHALLENGES] == [f"work_ch_{n}" for n in range(1, 6)]
    assert len({q.title for q in CHALLENGES}) == 5
    assert any(t.sizes[0] != t.sizes[1] for t in TARGETS)
    assert all(t.sizes != t.elsewhere for t in TARGETS)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.question.key)
def test_the_gallery_gives_no_target_away(target):
    for entry in GALLERY:
        assert not judge(target, entry.rule).verdict.right


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.question.key)
def test_a_list_of_cells_is_right_at_one_size_only(target):
    n_q, n_k = target.sizes
    mask = target.mask(target.sizes)
    rows = [[int(j) for j in row.nonzero()] for row in mask]
    cells = (f"i == {i} and j in ({''.join(f'{j},' for j in row)})" for i, row in enumerate(rows))
    rule = " or ".join(cells)
    if len(rule) <= 200:
        found = judge(target, rule)
        assert not found.verdict.right and "but not at" in found.verdict.text
    bounded = judge(target, f"i < {n_q} and j < {n_k} and ({target.rule})")
    assert not bounded.verdict.right
    assert f"Right at {n_q} × {n_k}, but not at" in bounded.verdict.text
    assert "must be allowed to attend to key" in bounded.verdict.text


def test_other_rules_for_the_same_mask_are_right():
    assert judge(TARGETS[0], "i - j == 1").verdict.right
    assert judge(TARGETS[0], "j + 1 in (i,)").verdict.right
    assert judge(TARGETS[1], "j in range(i, -1, -2)").verdict.right
    assert judge(TARGETS[2], "i - i % 4 <= j <= i").verdict.right
    assert judge(TARGETS[3], "j - (n_k - n_q + i) in range(-2, 1)").verdict.right


def test_a_rule_with_the_sizes_written_in_is_not_right():
    assert (
        "Right at 4 × 9, but not at 5 × 13" in judge(TARGETS[3], "0 <= i + 5 - j < 3").verdict.text
    )


def test_the_first_wrong_cell_is_named():
    found = judge(TARGETS[0], "j == i - 1 or (i == 2 and j == 4)")
    assert not found.verdict.right
    assert (
        found.verdict.text
        == "**Not quite.** Query 2 must not attend to key 4. 1 of 36 cells differs."
    )
    missing = judge(TARGETS[0], "j == i - 1 and i != 3")
    assert missing.verdict.text.startswith(
        "**Not quite.** Query 3 must be allowed to attend to key 2. 1 of 36 cells differs."
    )
    chart = difference(missing.mask, TARGETS[0].mask((6, 6)))
    assert chart.table.iloc[3, 2] == -1
    assert "Query 3" in chart.alt
    assert "upside down" in judge(TARGETS[1], "not (j <= i and (i - j) % 2 == 0)").verdict.text
    assert "exchanged" in judge(TARGETS[0], "i == j - 1").verdict.text


def test_a_rule_may_fail_at_the_other_size_only():
    found = judge(TARGETS[0], "j == i - 1 and 1 // (i - 9) <= 0")
    assert not found.verdict.right
    assert "divides by zero for i = 9, j = 8" in found.verdict.text
    with pytest.raises(MaskRuleError):
        judge(TARGETS[0], "j == i - 1 and 1 // (i - 3) <= 0")
