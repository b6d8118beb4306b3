"""The right one: the faults beside it differ from it in the lines that are wrong."""

import math

import torch
from torch import Tensor


def right(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    padding: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """softmax(q @ k.mT / sqrt(d_k)) @ v as (output, weights): nothing is wrong here."""
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.ones(n_q, n_k, dtype=torch.bool, device=q.device)
    if mask is not None:  # (n_q, n_k)
        allowed = allowed & mask
    if padding is not None:  # (batch, n_k)
        allowed = allowed & padding[:, None, None, :]
    fully_masked = ~allowed.any(-1, keepdim=True)  # queries that may attend to nothing

    scores = q @ k.mT / math.sqrt(q.shape[-1])  # (batch, heads, n_q, n_k)
    scores = scores.masked_fill(~allowed & ~fully_masked, -math.inf)
    weights = scores.softmax(-1).masked_fill(fully_masked, 0.0)
    output = weights @ v
    return output, weights
