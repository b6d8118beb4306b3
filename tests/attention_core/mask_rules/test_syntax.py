"""What no rule may hold, and where the error points."""

import ast
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import attention_core
from attention_core import MaskRuleError, mask_tensor, parse_mask_rule
from attention_core.mask_rules.syntax import MAX_ITEMS, MAX_NUMBER, _Checker
from attention_core.mask_rules.text import LONGEST


def refused(rule):
    """The error, from the text alone."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(MaskRuleError) as caught:
            parse_mask_rule(rule)
    error = caught.value
    assert isinstance(error, ValueError)
    assert 0 <= error.start <= error.end <= len(rule)
    assert str(error).encode()  # no lone surrogate in what will be shown
    assert len(str(error)) < 400
    return error


@pytest.mark.parametrize(
    ("rule", "part", "cure"),
    [
        ("j <= i & i < 3", "&", "Write and."),
        ("j <= i && i < 3", "&&", "Write and."),
        ("i | j", "|", "Write or"),
        ("i || j", "||", "Write or"),
        ("~(i < j)", "~", "Write not"),
        ("!i", "!", "Write not"),
        ("i = j", "=", "=="),
        ("i === j", "===", "=="),
        ("(i := 3) > 1", ":=", "=="),
        ("i is j", "is", "=="),
        ("i is not j", "is", "=="),
        ("j ≤ i", "≤", "<="),
        ("i ≥ j", "≥", ">="),
        ("i ≠ j", "≠", "!="),
        ("i <> j", "<>", "!="),
        ("i ^ j", "^", "!="),
        ("i => j", "=>", ">="),
        ("i / 2 == j", "/", "//"),
        ("i ** 2 > j", "**", "i * i"),
        ("9**9**9", "**", "i * i"),
        ("1<<99999", "<<", "2 * i"),
        ("i >> 1", ">>", "//"),
        ("True", "True", "0 == 0"),
        ("i < j or False", "False", "0 == 1"),
        ("None", "None", "0 == 1"),
        ("k_idx <= q_idx", "k_idx", "is j"),
        ("q_idx >= 3", "q_idx", "is i"),
        ("x < 3", "x", "is i"),
        ("j < N", "N", "n_k"),
        ("j AND i", "AND", "and"),
        ("i − j < 3", "−", "minus"),
        ("i if j else 3", "if", "and, or, not"),
        ("ｉ < j", "ｉ", "Type i"),
        ("i\u00a0< j", "\\u00a0", "ordinary space"),
        ("i < ３", "３", "Type 3"),
        ("1.5 < i", "1.5", "whole"),
        ("i < .5", ".5", "whole"),
        ("1e9 > i", "1e9", "whole number"),
        ("1j == 0", "1j", "whole number"),
        ("i < 007", "007", "no 0 in front"),
        ("1and i", "1and", "whole number"),
        ("'a' == 'a'", "'a'", ""),
        ('f"{i}" == 0', "f", ""),
        ("i.real == 0", ".", ""),
        ("i.__class__", ".", ""),
        ("__import__('os')", "__import__", "does not know"),
        ("open('x')", "open", "does not know"),
        ("lambda: 0", "lambda", "does not know"),
        ("[i] == [j]", "[", "round"),
        ("{i}", "{", "round"),
        ("i[0]", "[", "round"),
        ("i < 3  # comment", "# comment", ""),
        ("i \\\n < j", "\\", ""),
        ("i; j", ";", ""),
        ("i @ j", "@", ""),
        ("await i", "await", ""),
        ("yield", "yield", ""),
        ("א < j", "א", "does not know"),
        ("i < j 😀", "😀", ""),
        ("i < j\x00", "\\u0000", ""),
        ("\ud800", "\\ud800", ""),
        ("\u202ei < j", "\\u202e", ""),
        ("abs(x=i)", "x", ""),
        ("abs(**i)", "**", ""),
        # and what only the tree shows
        ("abs(*(i, j))", "*(i, j)", "cannot stand"),
        ("+i < 3", "+i", "plus"),
        ("  abs < 3", "abs", "parentheses"),
        ("i in j", "j", "After in"),
        ("i in (j)", "j", "After in"),
        ("i in max(i, j)", "max(i, j)", "After in"),
        ("i < (1, 2)", "(1, 2)", "after in only"),
        ("(i, j) == (1, 2)", "(i, j)", "after in only"),
        ("(i, j) in (1, 2)", "(i, j)", "after in only"),
        ("i, j", "i, j", "after in only"),
        ("()", "()", "after in only"),
        ("i in ((1, 2), 3)", "(1, 2)", "after in only"),
        ("i in (1, 2) < 3", "(1, 2)", "compared with a list"),
        ("i in (1, 2) in (3, 4)", "(1, 2)", "compared with a list"),
        ("range(3)", "range(3)", "after in only"),
        ("i < range(3)", "range(3)", "after in only"),
        ("i in range(range(3))", "range(3)", "after in only"),
        ("range in (1, 2)", "range", "parentheses"),
        ("i in range", "range", "After in"),
        ("i in range()", "range()", "1 to 3"),
        ("i in range(1, 2, 3, 4)", "range(1, 2, 3, 4)", "1 to 3"),
        ("abs() < 1", "abs()", "one number"),
        ("abs(i, j) < 1", "abs(i, j)", "one number"),
        ("min(i) < 1", "min(i)", "2 to"),
        ("min((i, j)) < 1", "min((i, j))", "2 to"),
        ("i(3) == 1", "i(3)", "Only abs"),
        ("2(i) == 1", "2(i)", "Only abs"),
        ("abs(i)(j) == 1", "abs(i)(j)", "Only abs"),
        ("i * i * i * i < 3", "i * i * i * i", "too large"),
        ("-1 % (j * j * j) * i * i < 3", "-1 % (j * j * j) * i", "too large"),
        ("i < 9999999999999999999", "9999999999999999999", "too large"),
        # and what Python cannot read
        ("i j", "j", "missing"),
        ("i < j j", "j", "missing"),
        ("j <= and i", "and", "missing"),
        ("i not j", "j", ""),
        ("  i)", ")", "No parenthesis"),
        ("  (i < j", "(", "not closed"),
        ("i < j <", "", "too early"),
        ("not ", "", "too early"),
    ],
)
def test_what_is_no_rule_is_refused_at_the_right_place(rule, part, cure):
    error = refused(rule)
    assert cure in str(error)
    assert error.part == part or error.part.strip() == part
    if part.isascii() and "\\" not in part and part:
        assert rule[error.start : error.end] == part
    allowed = "too large" in str(error)
    assert allowed or "whole numbers, i, j, n_q, n_k" in str(error)


@pytest.mark.parametrize("node", [n for n in vars(ast).values() if isinstance(n, type)])
def test_no_other_kind_of_node_gets_past_the_tree(node):
    """Even if its text got past the first door."""
    allowed = {"Constant", "Name", "UnaryOp", "BinOp", "BoolOp", "Compare", "Call", "Num", "Str"}
    if not issubclass(node, ast.expr) or node.__name__ in allowed | {"expr"}:
        return
    stranger = node.__new__(node)
    stranger.col_offset, stranger.end_col_offset = 0, 1
    with pytest.raises(MaskRuleError, match="stand"):
        _Checker("?").magnitude(stranger, 5)


@pytest.mark.parametrize(
    "python",
    (
        *("True", "1.0", "'s'", "b'b'", "None", "...", "1j", "i / j", "i ** j", "i & j", "i | j"),
        *("i ^ j", "i << j", "i >> j", "i @ j", "~i", "+i", "i is j", "i is not j", "x", "f(i)"),
        *("abs(x=i)", "abs(*i)", "abs(i, **j)", "i.abs(j)", "i if j else i", "lambda: i", "[i]"),
        *("{i}", "{i: j}", "[i for i in j]", "i[j]", "(i, j)", "(y := i)", "f'{i}'", "i in [1]"),
    ),
)
def test_the_tree_alone_refuses_it(python):
    """The second door, for whatever the first one might let through."""
    with pytest.raises(MaskRuleError):
        _Checker(python).magnitude(ast.parse(python, mode="eval").body, 9)


@pytest.mark.parametrize(
    "rule",
    (
        *("", " ", "\n\t", "(" * 200, "(" * 5000, ")" * 200, "i" * 5000, "9" * 200, "9" * 5000),
        *("-" * 199 + "i", "not " * 49 + "i", "i<" * 99 + "i" + "(", "min(" * 50, "i in " * 39),
        *("(i,)" * 50, "\x00" * 200, "\ud800" * 200, "👩‍👩‍👧" * 20, "{" * 200, "[" * 200, "'" * 99),
        *("i in range(10**18)", "i*" * 99 + "i", "0x" + "f" * 198, "é" * 200, "i\u0301 < j", "'''"),
        *("i in (" + "1," * (MAX_ITEMS + 1) + ")", f"{MAX_NUMBER + 1} > i", "i,*j", "j<=i\\", "$"),
        *(
            "i+" * 60 + "i > 3",
            "i in (" * 25 + "i" + ",)" * 25,
            "min(i,i)" * 25,
            "---i<" * 39 + "i",
        ),
    ),
)
def test_hostile_texts_are_refused(rule):
    refused(rule)


@pytest.mark.parametrize("rule", [None, 3, b"i < j", ["i"]])
def test_a_rule_is_a_text(rule):
    with pytest.raises(MaskRuleError, match="text"):
        parse_mask_rule(rule)


def test_the_limits_themselves_are_legal():
    longest = "j <= i" + " " * (LONGEST - 6)
    for rule in (
        longest,
        f"{MAX_NUMBER} > i",
        "i in (" + "1," * MAX_ITEMS + ")",
        "(" * 20 + "i<j" + ")" * 20,
        "not " * 27 + "i < j",
        "i<" * 99 + "i",
        "i in (" * 15 + "i" + ",)" * 15,
        "i in range(1000000000000000000)",
    ):
        assert mask_tensor(parse_mask_rule(rule), 3, 5).shape == (3, 5)
    refused(longest + " ")
    refused("(" * 21 + "i<j" + ")" * 21)


@settings(max_examples=200)
@given(
    st.text(max_size=250) | st.text("ij nq_k0123456789+-*/%<>=!()andortbsmixge,&|.\n", max_size=90)
)
def test_no_text_does_harm(text):
    """Any text is a rule or is refused, in its own kind of error, and never with a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            mask = mask_tensor(parse_mask_rule(text), 3, 5)
        except MaskRuleError as error:
            assert 0 <= error.start <= error.end <= len(text)
            assert str(error).encode()
        else:
            assert mask.shape == (3, 5)


def test_nothing_is_ever_run_as_python():
    folder = Path(attention_core.__file__).parent
    for file in folder.glob("mask_rules/*.py"):
        names = {n.id for n in ast.walk(ast.parse(file.read_text())) if isinstance(n, ast.Name)}
        assert not names & {"eval", "exec", "compile", "getattr", "globals", "__import__"}
