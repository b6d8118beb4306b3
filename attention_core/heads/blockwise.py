"""Heads of two thousand queries, some rows at a time: the same numbers in bounded memory."""

from dataclasses import astuple, fields

import torch
from torch import Tensor
from torch.nn.functional import max_pool2d

from attention_core.agreement import Agreement, compare
from attention_core.attention import AttentionSteps, attention, attention_steps
from attention_core.checks import require

ROWS = 256  # queries at once


def weights_blockwise(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """The weights (n_q, n_k) of one head, as `attention` computes them.

    q (n_q, d_k), k (n_k, d_k), v (n_k, d_v), mask (n_q, n_k). Every query has its softmax for
    itself, so a block of queries can be computed without the others.

    Raises ValueError as `attention` does, and if q, k, v are more than one head.
    """
    _require_one_head(q, k, v)
    blocks = [attention(q[rows], k, v, _of(mask, rows))[1] for rows in _blocks(len(q))]
    return torch.cat(blocks) if blocks else q.new_zeros(0, len(k))


def compare_blockwise(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> tuple[Agreement, str | None]:
    """`compare` and the overflow of one head, of every block of its steps, computed once.

    The largest differences and the largest tolerance; then the first step that left the range of
    the dtype for any query, as `AttentionSteps.overflow`. The float64 copies of a block take 4 MB
    per matrix for 2,048 keys, those of the whole 34. Shapes and errors as in `weights_blockwise`.
    """
    _require_one_head(q, k, v)
    found: list[Agreement] = []
    overflows: set[str | None] = set()
    for rows in _blocks(len(q)):
        steps = attention_steps(q[rows], k, v, _of(mask, rows))
        found.append(compare(steps, q[rows], k, v, _of(mask, rows)))
        overflows.add(steps.overflow)
    if not found:
        return Agreement(0.0, 0.0, 0.0, 0.0), None
    numbers = torch.tensor([astuple(part) for part in found], dtype=torch.float64)
    worst = Agreement(*numbers.amax(0).tolist())  # of NaN too, which Python's max() may pass over
    order = (field.name for field in fields(AttentionSteps))
    return worst, next((step for step in order if step in overflows), None)


def pool_largest(matrix: Tensor, rows: int, columns: int) -> Tensor:
    """The largest of each block of `rows` by `columns` cells; blocks at the end may be smaller.

    matrix (n, m) -> (ceil(n / rows), ceil(m / columns)). A mean would make a thin line fade.
    Raises ValueError unless both are 1 or more.
    """
    require(min(rows, columns) >= 1, f"rows and columns must be 1 or more: {rows}, {columns}")
    size = (rows, columns)
    return max_pool2d(matrix.float()[None, None], size, stride=size, ceil_mode=True)[0, 0]


def _blocks(n: int) -> list[slice]:
    return [slice(start, start + ROWS) for start in range(0, n, ROWS)]


def _of(mask: Tensor | None, rows: slice) -> Tensor | None:
    return None if mask is None else mask[rows]


def _require_one_head(q: Tensor, k: Tensor, v: Tensor) -> None:
    shapes = f"q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}"
    require(q.ndim == k.ndim == v.ndim == 2, f"q, k, v must be one head, (n, d): {shapes}")
