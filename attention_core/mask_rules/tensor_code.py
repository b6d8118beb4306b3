"""A mask rule in the words of tensors, where it has some: `&` for and, `|` for or, `~` for not."""

import ast
from itertools import pairwise

from attention_core.mask_rules.syntax import parse_rule


class _NoSuchWordsError(Exception):
    """Something in the rule means another thing for tensors than for whole numbers, or nothing."""


def rule_on_tensors(rule: str) -> str | None:
    """The rule for `i` and `j` that are tensors, None if only a table can say it.

    Python's and, or and not ask for one truth value, which a tensor does not have. Comparisons of
    sums, products and distances are the same on both; so are // and % by a number other than 0.

    Raises MaskRuleError for a text that is no rule.

    >>> rule_on_tensors("j <= i and not i - j >= 3")
    '(j <= i) & (~(i - j >= 3))'
    >>> rule_on_tensors("j in (0, 2)")
    """
    try:
        return _condition(parse_rule(rule))
    except _NoSuchWordsError:
        return None


def _condition(node: ast.expr) -> str:
    match node:
        case ast.BoolOp(op=op, values=values):
            sign = " & " if isinstance(op, ast.And) else " | "
            return sign.join(f"({_condition(value)})" for value in values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return f"~({_condition(operand)})"
        case ast.Compare(left=left, ops=ops, comparators=others):
            pairs = pairwise([left, *others])
            said = [_comparison(a, op, b) for op, (a, b) in zip(ops, pairs, strict=True)]
            return said[0] if len(said) == 1 else " & ".join(f"({part})" for part in said)
    raise _NoSuchWordsError


def _comparison(left: ast.expr, sign: ast.cmpop, right: ast.expr) -> str:
    nodes = [*ast.walk(left), *ast.walk(right)]
    # Without i or j the answer would be one bool of Python, and ~True is -2.
    asks = any(isinstance(node, ast.Name) and node.id in ("i", "j") for node in nodes)
    collects = isinstance(sign, ast.In | ast.NotIn)
    if collects or not (asks and _is_number(left) and _is_number(right)):
        raise _NoSuchWordsError
    return ast.unparse(ast.Compare(left, [sign], [right]))


def _is_number(node: ast.expr) -> bool:
    """Is this a whole number or a tensor of them, computed alike in Python and in PyTorch?"""
    match node:
        case ast.Name() | ast.Constant():
            return True
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _is_number(operand)
        case ast.Call(func=ast.Name(id="abs"), args=[argument]):
            return _is_number(argument)
        case ast.BinOp(left=left, op=ast.FloorDiv() | ast.Mod(), right=ast.Constant(value=divisor)):
            return divisor != 0 and _is_number(left)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult(), right=right):
            return _is_number(left) and _is_number(right)
    return False
