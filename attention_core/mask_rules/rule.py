"""Masks from rules that a learner types: `j <= i and i - j < 3`.

A small language with Python's syntax and, for every cell, Python's semantics: floor division,
short circuits, chained comparisons, True == 1. It is never run as Python: what may stand in it is
a list (`rule_syntax`), and its operations work on whole tensors of positions (`rule_cells`).
"""

import ast

import torch
from torch import Tensor

from attention_core.checks import broadcast, require
from attention_core.mask_rules.evaluation import Cells, Fault
from attention_core.mask_rules.syntax import MAX_POSITION, error_at, parse_rule
from attention_core.mask_rules.text import MaskRuleError
from attention_core.masks import Mask

__all__ = ["MaskRuleError", "parse_mask_rule", "rule_matrix"]

ROWS = 128  # queries at once: each step of a rule takes 2 MB of int64 for 2,048 keys
_INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def parse_mask_rule(text: str) -> Mask:
    """The mask of a rule: may query i attend to key j, of n_q queries and n_k keys?

    Whole numbers, i j n_q n_k, + - * // %, comparisons, and or not, in with a tuple or range(...),
    abs, min, max, parentheses. i and j are positions, from -2**20 to 2**20; n_q and n_k are how
    many the mask is asked about at once, the sizes of `q_idx` and `k_idx`.

    Raises MaskRuleError, which points at the offending part: at once for a text that is no rule;
    from the mask, with the first cell, where a rule divides by zero or answers with a number.

    >>> from attention_core import mask_tensor
    >>> mask_tensor(parse_mask_rule("j <= i and i - j < 2"), 3, 3).int().tolist()
    [[1, 0, 0], [1, 1, 0], [0, 1, 1]]
    """
    tree = parse_rule(text)

    def mask(q_idx: Tensor, k_idx: Tensor) -> Tensor:
        shapes = f"{tuple(q_idx.shape)}, {tuple(k_idx.shape)}"
        shape = broadcast(q_idx.shape, k_idx.shape)
        if shape is None:
            raise ValueError(f"q_idx and k_idx must broadcast: {shapes}")
        _require_positions("q_idx", q_idx)
        _require_positions("k_idx", k_idx)
        cells = Cells(q_idx.long(), k_idx.long(), (q_idx.numel(), k_idx.numel()))
        return _answers(tree, text, cells, shape)

    return mask


def rule_matrix(text: str, n_q: int, n_k: int, device: torch.device | str | None = None) -> Tensor:
    """`mask_tensor(parse_mask_rule(text), n_q, n_k, device)`, some queries at a time.

    The same booleans (n_q, n_k), and n_q in the rule is all queries, in bounded memory.

    Raises MaskRuleError for a text that is no rule, and for the first cell without an answer.
    """
    tree = parse_rule(text)
    require(min(n_q, n_k) >= 0, f"n_q and n_k must not be negative: n_q={n_q}, n_k={n_k}")
    q_idx = torch.arange(n_q, device=device).unsqueeze(-1)  # (n_q, 1)
    k_idx = torch.arange(n_k, device=device)
    _require_positions("q_idx", q_idx)
    _require_positions("k_idx", k_idx)
    matrix = torch.empty(n_q, n_k, dtype=torch.bool, device=device)
    for start in range(0, n_q, ROWS):  # in reading order, so the first to fail has the first cell
        rows = q_idx[start : start + ROWS]
        cells = Cells(rows, k_idx, (n_q, n_k))
        matrix[start : start + ROWS] = _answers(tree, text, cells, torch.Size((len(rows), n_k)))
    return matrix


def _answers(tree: ast.expr, text: str, cells: Cells, shape: torch.Size) -> Tensor:
    """True or False for each cell of `shape`, to which the positions broadcast.

    Raises MaskRuleError for the first cell, in reading order, at which Python would stop.
    """
    answer = cells.value(tree, cells.yes)
    problem = "A rule must answer True or False: this one gives {value} for i = {i}, j = {j}."
    cells.faults.append(Fault(~answer.is_bool, tree, problem, "Write a comparison, as in j <= i."))
    first: tuple[list[int], Fault] | None = None
    for fault in cells.faults:  # of two at one cell, Python meets the earlier
        where = fault.where.expand(shape)
        if where.any() and (first is None or where.nonzero()[0].tolist() < first[0]):
            first = where.nonzero()[0].tolist(), fault
    if first is not None:
        cell, fault = tuple(first[0]), first[1]
        held = {"i": cells.names["i"], "j": cells.names["j"], "value": answer.number}
        numbers = {name: int(tensor.expand(shape)[cell]) for name, tensor in held.items()}
        raise error_at(fault.node, text, fault.problem.format(**numbers), fault.advice)
    return answer.number.bool().expand(shape)


def _require_positions(name: str, idx: Tensor) -> None:
    """Within MAX_POSITION no legal rule can overflow; beyond, it could."""
    require(idx.dtype in _INTEGERS, f"{name} must hold whole numbers: it holds {idx.dtype}")
    low, high = (int(end) for end in idx.aminmax()) if idx.numel() else (0, 0)
    fits = low >= -MAX_POSITION and max(high, idx.numel()) <= MAX_POSITION
    limit = f"positions of a mask rule lie between {-MAX_POSITION} and {MAX_POSITION}"
    require(fits, f"{limit}: {name} has {idx.numel()}, from {low} to {high}")
