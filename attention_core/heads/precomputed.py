"""Attention weights that somebody else computed: are they weights at all?"""

from dataclasses import dataclass

import torch
from torch import Tensor

from attention_core.checks import FLOATING, require, require_finite

ABOUT = 0.02  # a row of bfloat16 weights is off by about 0.004


@dataclass(frozen=True)
class RowSums:
    """How the rows of weights add up.

    wrong      how many rows sum neither to about 1 nor to exactly 0
    dead       how many sum to 0: queries that attend to nothing
    rows       how many there are
    worst      position (..., i) of the row that is farthest from 1, dead rows aside
    worst_sum  what it sums to; 1.0 if all rows are dead
    columns    whether the columns sum to 1 where the rows do not: it may be transposed
    """

    wrong: int
    fully_masked: int
    rows: int
    worst: tuple[int, ...]
    worst_sum: float
    columns: bool


def require_weights(weights: Tensor) -> None:
    """weights (..., n_q, n_k): floating, finite, none negative, none above 1 + ABOUT.

    Raises ValueError with the position of the first value that is no weight.
    """
    shape = tuple(weights.shape)
    require(weights.ndim >= 2, f"weights need two or more dimensions, (..., n_q, n_k): {shape}")
    require(weights.dtype in FLOATING, f"weights must be floating numbers: {weights.dtype}")
    require_finite("weights", weights)
    wrong = (weights < 0) | (weights > 1 + ABOUT)
    if wrong.any():
        position = wrong.nonzero()[0].tolist()
        value = weights[tuple(position)].item()
        raise ValueError(
            "weights must be shares between 0 and 1, as after a softmax; these may be scores: "
            f"weights{position} is {value:.5g}"
        )


def row_sums(weights: Tensor) -> RowSums:
    """How the rows of `weights` (..., n_q, n_k) add up: each to 1, or to 0 if all is masked."""
    sums = weights.sum(-1, dtype=torch.float64)  # (..., n_q)
    fully_masked = sums == 0
    off = (sums - 1).abs().masked_fill(fully_masked, 0.0)
    wrong = int((off > ABOUT).sum())
    worst = tuple(int(index) for index in torch.unravel_index(off.argmax(), off.shape))
    totals = weights.sum(-2, dtype=torch.float64) if wrong else sums
    return RowSums(
        wrong=wrong,
        fully_masked=int(fully_masked.sum()),
        rows=sums.numel(),
        worst=worst,
        worst_sum=1.0 if fully_masked.all() else float(sums[worst]),
        columns=wrong > 0 and bool(((totals - 1).abs() <= ABOUT).all()),
    )
