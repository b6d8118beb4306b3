"""A weight is not an explanation: what a key does to the output is measured, not read off.

Jain and Wallace (2019), "Attention is not Explanation"; Wiegreffe and Pinter (2019), "Attention is
not not Explanation".
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from attention_core.attention import attention_steps
from attention_core.checks import require, require_finite


@dataclass(frozen=True, eq=False)
class KeyDeletion:
    """What becomes of one query when one key is taken away.

    weight   what the query gave to the key
    before   output of the query, (d_v,)
    after    the same without the key; the other weights grow to sum to 1 again
    change   ||after - before||, the Euclidean norm: weight / (1 - weight) * ||before - v_j||
    """

    weight: float
    before: Tensor
    after: Tensor
    change: float


def delete_key(
    q: Tensor, k: Tensor, v: Tensor, i: int, j: int, mask: Tensor | None = None
) -> KeyDeletion:
    """Query i of one head, with key j and without it.

    q (n_q, d_k), k (n_k, d_k), v (n_k, d_v), mask (n_q, n_k). A query that saw key j only sees
    nothing afterwards: its output is 0.

    Raises ValueError if there is no query i or no key j, and as `attention_steps` does.
    """
    shapes = f"q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}"
    require(q.ndim == k.ndim == v.ndim == 2, f"q, k, v must be one head, (n, d): {shapes}")
    inside = 0 <= i < len(q) and 0 <= j < len(k)
    require(inside, f"i and j must be positions in q and k: i={i}, j={j}, {shapes}")
    steps = attention_steps(q, k, v, mask)
    kept = torch.ones(len(q), len(k), dtype=torch.bool, device=q.device)
    kept[:, j] = False
    allowed = kept if mask is None else kept & mask.bool()
    before, after = steps.output[i], attention_steps(q, k, v, allowed).output[i]
    change = float((after - before).double().norm())
    return KeyDeletion(float(steps.weights[i, j]), before, after, change)


def other_weights(weights: Tensor, v: Tensor) -> Tensor:
    """Weights as different from `weights` (n_k,) as they come, with the same output weights @ v.

    Moving the weights along a direction d with d @ v = 0 and d @ 1 = 0 changes neither the output
    nor their sum: there are n_k - d_v - 1 such directions or more. Of those towards or away from a
    single key, the one that moves the most weight, as far as no weight falls below 0. In float64,
    on the CPU; v (n_k, d_v). The same weights where there is no way to move.

    Raises ValueError unless weights (n_k,) and v (n_k, d_v) are finite and fit together.
    """
    fits = weights.ndim == 1 and v.ndim == 2 and len(weights) == len(v)
    shapes = f"weights {tuple(weights.shape)}, v {tuple(v.shape)}"
    require(fits, f"weights must be (n_k,) and v (n_k, d_v): {shapes}")
    require_finite("weights", weights)
    require_finite("v", v)
    w, values = weights.detach().cpu().double(), v.detach().cpu().double()
    pinned = torch.cat([values, torch.ones(len(w), 1, dtype=torch.float64)], dim=1)  # [V, 1]
    left, sizes, _ = torch.linalg.svd(pinned)  # the columns of `left` past the rank are free
    rank = int((sizes > sizes.max() * len(w) * torch.finfo(torch.float64).eps).sum())
    free = left[:, rank:]  # (n_k, n_k - rank)
    towards = free @ free.mT  # row j: the direction nearest to key j
    best = w
    for direction in (*towards, *-towards):
        falling = direction < -1e-12
        if falling.any():
            step = (w[falling] / -direction[falling]).min()
            moved = (w + step * direction).clamp(min=0)
            if (moved - w).abs().sum() > (best - w).abs().sum():
                best = moved
    return best
