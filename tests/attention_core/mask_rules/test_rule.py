"""Rules against Python itself, cell by cell."""

import ast
import weakref

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from attention_core import (
    MaskRuleError,
    all_of,
    any_of,
    bidirectional,
    causal,
    causal_bottom_right,
    dilated,
    document,
    grid_neighbourhood,
    local,
    mask_tensor,
    negate,
    parse_mask_rule,
    prefix_lm,
    sliding_window,
)
from attention_core.mask_rules import rule as rule_module
from attention_core.mask_rules import rule_matrix
from attention_core.mask_rules.evaluation import Cells
from attention_core.mask_rules.syntax import MAX_POSITION

PYTHON = {"abs": abs, "min": min, "max": max, "range": range}
ATOMS = ("i", "j", "n_q", "n_k", "0", "1", "2", "3", "5", "7", "0x10", "1_0")


def joined(*parts):
    return st.tuples(*(st.just(p) if isinstance(p, str) else p for p in parts)).map("".join)


def grow(inner):
    several = st.lists(inner, min_size=2, max_size=3)
    listed = st.lists(inner, max_size=3).map(lambda x: "(" + "".join(f"{e}, " for e in x) + ")")
    ranged = st.lists(inner, min_size=1, max_size=3).map(lambda x: f"range({', '.join(x)})")
    sign = st.sampled_from([f" {s} " for s in ("+", "-", "*", "//", "%")])
    compare = st.sampled_from([f" {s} " for s in ("<", "<=", ">", ">=", "==", "!=")])
    member = st.sampled_from([" in ", " not in "])
    return st.one_of(
        joined("(", inner, sign, inner, ")"),
        joined("(", inner, compare, inner, ")"),
        joined("(", inner, compare, inner, compare, inner, ")"),
        joined("(", inner, member, listed | ranged, ")"),
        joined("(", inner, compare, inner, member, listed | ranged, ")"),
        joined("(", inner, st.sampled_from([" and ", " or "]), inner, ")"),
        several.map(lambda x: "(" + " and ".join(x) + ")"),
        joined("(not ", inner, ")"),
        joined("(-", inner, ")"),
        joined("abs(", inner, ")"),
        several.map(lambda x: f"min({', '.join(x)})"),
        several.map(lambda x: f"max({', '.join(x)})"),
    )


rules = st.recursive(st.sampled_from(ATOMS), grow, max_leaves=12).filter(lambda r: len(r) <= 200)
conditions = st.one_of(rules, rules.map(lambda r: f"({r}) == 1"), rules.map(lambda r: f"not {r}"))


def python_answers(rule, n_q, n_k):
    """Python's answer for every cell, up to the first one that is no answer: (rows, that cell)."""
    code = compile(rule.strip(), "rule", "eval")
    rows: list[list[bool]] = []
    for i in range(n_q):
        rows.append([])
        for j in range(n_k):
            names = {"i": i, "j": j, "n_q": n_q, "n_k": n_k}
            try:
                value = eval(code, {"__builtins__": PYTHON}, names)
            except (ZeroDivisionError, ValueError):  # by zero, or a range with step 0
                return rows, (i, j, None)
            if type(value) is not bool:
                return rows, (i, j, value)
            rows[-1].append(value)
    return rows, None


def assert_as_python(rule, n_q, n_k):
    rows, stop = python_answers(rule, n_q, n_k)
    mask = parse_mask_rule(rule)
    if stop is None:
        assert mask_tensor(mask, n_q, n_k).tolist() == rows
        return
    i, j, value = stop
    with pytest.raises(MaskRuleError) as caught:
        mask_tensor(mask, n_q, n_k)
    assert f"for i = {i}, j = {j}." in str(caught.value)
    given = f"gives {value} for"
    assert value is None or given in str(caught.value)
    assert (value is None) == ("by zero" in str(caught.value) or "step 0" in str(caught.value))
    part = rule[caught.value.start : caught.value.end]
    assert part if value is None else part in rule
    ast.parse(part.strip(), mode="eval")  # a whole part of the rule


@settings(max_examples=300)
@given(conditions, st.sampled_from([(3, 5), (5, 2), (1, 1), (4, 4)]))
@example("(i // j < 2) or (3 % (i - 1) == 0)", (3, 5))
@example("(j != 0 and i // j) == 1", (5, 3))
@example("max(0 == 0, 1) and 0 == 0", (2, 3))
@example("-7 // (j + 1) == -(i + 1) and -7 % (j + 1) >= 0", (3, 7))
@example("i in range(j, 0 - 9, 0 - 2)", (5, 7))
@example("i in range(0, 9, j - 2)", (3, 5))
@example("1 // (i - 2) < 9 and 1 // (j - 3) < 9", (5, 7))
@example("1 // (j - 3) < 9 and 1 // (i - 2) < 9", (5, 7))
@example("i in range(3, 1, -1) or j in range(4, 0, -2)", (5, 7))
@example("(i < j) + (j < 3) == 2", (3, 5))
@example("0 < i < 6 // j", (3, 5))
@example("i < 1 or 1 // (j - 1) == 1 or i // (j - 2) < 9", (3, 5))
def test_a_rule_is_what_python_says(rule, sizes):
    try:
        parse_mask_rule(rule)
    except MaskRuleError as error:
        assert "too large" in str(error) or "at most" in str(error) or "nested" in str(error)
        return
    assert_as_python(rule, *sizes)


@pytest.mark.parametrize(
    "rule",
    [
        "j <= i and i - j < 3",
        "abs(i - j) <= 1",
        "i // 4 == j // 4",
        "j == 0 or i - j in (0, 1)",
        "j not in (1, n_k - 1)",
        "i in ()",
        "i - j in range(3)",
        "j in range(1, n_k, 2)",
        "j in range(n_k, 0, -2)",
        "0 <= i + n_k - n_q - j < 3",
        "min(i, j, 2) != max(i, j)",
        "not i < j",
        "not (i < j) == (j < i)",
        "-i <= -j",
        "(-i - 1) % 3 == j % 3 and (-i) // 2 == -j // 2",
        "i < j < n_k - 1 != 3",
        "i % 2 == j % 2 == 0",
        "i == j == i",
        "i - j in (0, 2) or j == 0 and i > 1",
        "(i < j) * 3 + (j < i) > 0",
        "0b1_1 > i and 0o17 > j and 00 <= 0xF",
        "(((i)))==(j)",
        "  i\n <=\tj\r",
        "0 == 0",
        "i + j < n_q or n_k > 9",
    ],
)
@pytest.mark.parametrize("sizes", [(5, 7), (7, 3), (1, 1), (0, 3)])
def test_every_construct_in_turn(rule, sizes):
    assert_as_python(" ".join(rule.split()), *sizes)
    mask = parse_mask_rule(rule)
    rows, stop = python_answers(" ".join(rule.split()), *sizes)
    assert stop or mask_tensor(mask, *sizes).tolist() == rows


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("3", "gives 3 for i = 0, j = 0"),
        ("i < 2 and 5", "gives 5 for i = 0, j = 0"),
        ("i < 2 or j", "gives 0 for i = 2, j = 0"),
        ("i < 2 or j == 1 or 4", "gives 4 for i = 2, j = 0"),
        ("min(1, i < 2)", "gives 1 for i = 0"),
        ("max(1, i < 2)", "gives 1 for i = 0"),
        ("abs(i < 2)", "gives 1 for i = 0"),
        ("-(i < 2)", "gives -1 for"),
    ],
)
def test_an_answer_is_true_or_false(rule, says):
    with pytest.raises(MaskRuleError, match="True or False") as caught:
        mask_tensor(parse_mask_rule(rule), 3, 5)
    assert says in str(caught.value)
    assert (caught.value.start, caught.value.end) == (0, len(rule))


def test_of_equal_numbers_the_first_is_the_answer():
    """True == 1: Python's min and max then keep the first, bool or not."""
    assert_as_python("min(i < 2, 1)", 3, 5)
    assert_as_python("max(0 == 0, 1, j < 2)", 3, 5)
    assert_as_python("max(i < 2, 0)", 3, 5)


def test_zero_matters_only_where_python_would_divide():
    assert_as_python("i != j and 6 // (i - j) > 1", 5, 7)
    assert_as_python("i == j or 6 % (i - j) == 0", 5, 7)
    assert_as_python("0 == 1 and 1 // 0 == 1", 5, 7)
    assert_as_python("1 < 0 < 1 // 0", 2, 3)
    with pytest.raises(MaskRuleError, match=r"for i = 2, j = 4\.") as caught:
        mask_tensor(parse_mask_rule("i < 2 or 1 // (j - 4) == 0"), 3, 5)
    assert caught.value.part == "1 // (j - 4)"
    with pytest.raises(MaskRuleError, match="step 0 for i = 0, j = 3"):
        mask_tensor(parse_mask_rule("i in range(0, 9, j - 3)"), 3, 5)


@pytest.mark.parametrize(
    ("rule", "mask"),
    [
        ("0 == 0", bidirectional),
        ("j <= i", causal),
        ("j <= i + n_k - n_q", None),
        ("abs(i - j) <= 2", local(5)),
        ("0 <= i - j < 3", sliding_window(3)),
        ("j < 2 or j <= i", prefix_lm(2)),
        ("max(i, j) < 7 and (i < 2) == (j < 2) and (i < 5) == (j < 5)", document([2, 3, 2])),
        ("abs(i - j) <= 4 and (i - j) % 2 == 0", dilated(5, 2)),
        ("abs(i // 3 - j // 3) <= 1 and abs(i % 3 - j % 3) <= 1", grid_neighbourhood(3, 3)),
        ("j <= i and i // 4 == j // 4", all_of(causal, document([4, 4, 4, 4]))),
    ],
)
@pytest.mark.parametrize("sizes", [(11, 13), (13, 7), (5, 5), (1, 2)])
def test_rules_of_the_masks_that_have_a_name(rule, mask, sizes):
    mask = mask or causal_bottom_right(*sizes)
    assert torch.equal(mask_tensor(parse_mask_rule(rule), *sizes), mask_tensor(mask, *sizes))


def test_a_rule_is_a_mask_among_masks():
    rule, window = parse_mask_rule("i - j < 3"), sliding_window(3)
    for combined, wanted in [
        (all_of(causal, rule), window),
        (any_of(negate(rule), window), any_of(negate(local(1)), causal)),
        (negate(negate(all_of(rule, causal))), window),
        (all_of(rule, parse_mask_rule("i >= j")), window),
    ]:
        if wanted is window:
            assert torch.equal(mask_tensor(combined, 5, 7), mask_tensor(wanted, 5, 7))
    late = parse_mask_rule("j == n_k - 1 and i == n_q - 1")
    assert mask_tensor(late, 3, 5).nonzero().tolist() == [[2, 4]]


def test_positions_may_be_any():
    """A mask is asked about some positions only, and in other integers."""
    mask = parse_mask_rule("j <= i and n_q == 2 and n_k == 3")
    q_idx = torch.tensor([[7], [2]], dtype=torch.int32)
    assert mask(q_idx, torch.tensor([[1, 2, 3]])).tolist() == [[True] * 3, [True, True, False]]
    assert mask(torch.tensor([[-1], [0]]), torch.tensor([[0, -1, -2]])).tolist() == [
        [False, True, True],
        [True, True, True],
    ]
    far = (torch.tensor([[sign * (MAX_POSITION + 1)], [0]]) for sign in (1, -1))
    for wrong in (torch.tensor([[0.0], [1.0]]), *far):
        with pytest.raises(ValueError, match="q_idx"):
            mask(wrong, torch.tensor([[1, 2, 3]]))
    with pytest.raises(ValueError, match="broadcast"):
        mask(torch.zeros(2, 2).long(), torch.tensor([[1, 2, 3]]))


def test_the_largest_legal_numbers_do_not_wrap():
    """At the limit of the positions, against Python's integers of any size."""
    at = torch.tensor([[-MAX_POSITION], [0], [MAX_POSITION]])
    for rule in ("i * i * i > 0", "i * i * i - j * j < 0", "i * i * j in range(-1, i * j * j, 7)"):
        code = compile(rule, "rule", "eval")
        wanted = [
            [eval(code, PYTHON | {"i": i, "j": j}) for j in at.flatten().tolist()]
            for i in at.flatten().tolist()
        ]
        assert parse_mask_rule(rule)(at, at.T).tolist() == wanted


# --- some queries at a time


def outcome(compute):
    """The matrix, or what the refusal says and where it points."""
    try:
        return compute().tolist()
    except MaskRuleError as error:
        return str(error), error.start, error.end


@settings(max_examples=150)
@given(conditions, st.sampled_from([(3, 5), (5, 2), (1, 1), (7, 4)]))
@example("i + j < n_q - 1 and n_q * n_k == 28", (7, 4))
@example("max(0 == 0, 1 // (i - 2)) and 0 == 0", (5, 2))
@example("1 // (j - 3) < 9 and 1 // (i - 2) < 9", (7, 4))
def test_rows_in_blocks_are_the_rows_of_the_whole(rule, sizes):
    wanted = outcome(lambda: mask_tensor(parse_mask_rule(rule), *sizes))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rule_module, "ROWS", 2)
        assert outcome(lambda: rule_matrix(rule, *sizes)) == wanted


def test_a_later_block_knows_how_many_queries_there_are_and_names_its_cell():
    n_q, n_k = 2 * rule_module.ROWS + 3, 5
    rule = "j <= i + n_k - n_q"
    matrix = rule_matrix(rule, n_q, n_k)
    assert torch.equal(matrix, mask_tensor(causal_bottom_right(n_q, n_k), n_q, n_k))
    assert matrix[-1].all() and not matrix[: n_q - n_k].any()
    last = n_q - 1
    with pytest.raises(MaskRuleError, match=f"by zero for i = {last}, j = 2") as caught:
        rule_matrix(f"0 <= j and 1 // (abs(i - {last}) + abs(j - 2)) < 9", n_q, n_k)
    assert caught.value.start == 11
    with pytest.raises(MaskRuleError, match=f"gives 3 for i = {last}, j = 0"):
        rule_matrix(f"i < {last} or 3", n_q, n_k)
    with pytest.raises(MaskRuleError):
        rule_matrix("import os", n_q, n_k)


def test_blocks_of_no_queries_or_no_keys():
    assert rule_matrix("j <= i", 0, 3).shape == (0, 3)
    assert rule_matrix("j <= i", 3, 0).shape == (3, 0)
    with pytest.raises(ValueError, match="must not be negative"):
        rule_matrix("j <= i", -1, 3)


def test_no_step_of_a_rule_is_of_more_queries_than_a_block(monkeypatch):
    seen = []
    value = Cells.value

    def noted(cells, node, active):
        result = value(cells, node, active)
        seen.append(result.number.numel())
        return result

    monkeypatch.setattr(Cells, "value", noted)
    rule_matrix("max(i * j, 3) > i", 1000, 7)
    assert max(seen) == rule_module.ROWS * 7


def test_of_many_arguments_no_more_than_two_are_held(monkeypatch):
    alive: weakref.WeakSet[torch.Tensor] = weakref.WeakSet()
    most = []
    value = Cells.value

    def noted(cells, node, active):
        result = value(cells, node, active)
        if isinstance(node, ast.BinOp):
            alive.add(result.number)
        most.append(len(alive))
        return result

    monkeypatch.setattr(Cells, "value", noted)
    mask_tensor(parse_mask_rule(f"max({','.join(['i*j'] * 40)})>0"), 5, 7)
    assert max(most) <= 3  # with the one that has just been combined
