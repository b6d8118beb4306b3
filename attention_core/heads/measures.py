"""What one head is like, in three numbers: how spread, how far it looks, how few keys it needs."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attention_core.checks import require
from attention_core.measures import entropy

SHARE = 0.9  # of its weight that a query gathers from its most important keys
_ROWS = 256  # measured at once: large heads take little memory


@dataclass(frozen=True)
class HeadMeasures:
    """Means over the queries that attend to anything; all three 0.0 if none does.

    entropy   -sum_j w_ij ln w_ij in nats: 0 for one key, ln(n_k) for all keys alike
    distance  sum_j w_ij |i - j|: how far from its own position a query looks
    keys      the smallest number of keys that hold SHARE of the weight of query i
    """

    entropy: float
    distance: float
    keys: float


def measure_head(weights: Tensor) -> HeadMeasures:
    """The three measures of one head, weights (n_q, n_k).

    Each row is divided by its sum first, so rows that do not sum to 1 count as much as others.
    Raises ValueError unless weights has two dimensions.
    """
    shape = tuple(weights.shape)
    require(weights.ndim == 2, f"weights must be one head, (n_q, n_k): {shape}")
    total = torch.zeros(3, dtype=torch.float64)
    live = 0
    for start in range(0, len(weights), _ROWS):
        rows = weights[start : start + _ROWS].detach().cpu().double()
        alive = rows.sum(-1) != 0
        rows = rows[alive] / rows[alive].sum(-1, keepdim=True)
        i = torch.arange(start, start + len(alive))[alive]
        each = (entropy(rows), distance(rows, i), keys_for_share(rows))
        total += torch.stack([measure.double().sum() for measure in each])
        live += len(rows)
    return HeadMeasures(*(total / max(1, live)).tolist())


def distance(weights: Tensor, i: Tensor | Sequence[int]) -> Tensor:
    """sum_j w_j |i - j|, weights (n, n_k) of the queries at positions i (n,) -> (n,).

    The mean attention distance of Vig and Belinkov (2019), "Analyzing the Structure of Attention
    in a Transformer Language Model", section 4.
    """
    positions = torch.as_tensor(i, device=weights.device).unsqueeze(-1)
    apart = (positions - torch.arange(weights.shape[-1], device=weights.device)).abs()
    return (weights * apart).sum(-1)


def keys_for_share(weights: Tensor, share: float = SHARE) -> Tensor:
    """The smallest number of keys whose weights add up to `share`, weights (..., n_k) -> (...).

    1 where one key is enough. Rounding does not count: ten even shares need nine keys for 0.9.
    Raises ValueError unless 0 < share <= 1.
    """
    require(0 < share <= 1, f"share must be above 0, and 1 at most: {share}")
    sums = weights.sort(-1, descending=True).values.cumsum(-1)  # (..., n_k)
    return 1 + (sums[..., :-1] < share - 1e-6).sum(-1)
