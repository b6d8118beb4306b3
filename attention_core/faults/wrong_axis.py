"""Queries, keys and values, rows and columns, mixed up."""

import math

import torch
from torch import Tensor


def softmax_over_queries(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    padding: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """The queries compete for each key, in place of the keys for each query."""
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.ones(n_q, n_k, dtype=torch.bool, device=q.device)
    if mask is not None:  # (n_q, n_k)
        allowed = allowed & mask
    if padding is not None:  # (batch, n_k)
        allowed = allowed & padding[:, None, None, :]
    fully_masked = ~allowed.any(-1, keepdim=True)  # queries that may attend to nothing

    scores = q @ k.mT / math.sqrt(q.shape[-1])  # (batch, heads, n_q, n_k)
    scores = scores.masked_fill(~allowed & ~fully_masked, -math.inf)
    weights = scores.softmax(-2).masked_fill(fully_masked, 0.0)
    output = weights @ v
    return output, weights


def keys_and_values_swapped(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    padding: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Scored by the values, and the keys are what is handed out."""
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.ones(n_q, n_k, dtype=torch.bool, device=q.device)
    if mask is not None:  # (n_q, n_k)
        allowed = allowed & mask
    if padding is not None:  # (batch, n_k)
        allowed = allowed & padding[:, None, None, :]
    fully_masked = ~allowed.any(-1, keepdim=True)  # queries that may attend to nothing

    scores = q @ v.mT / math.sqrt(q.shape[-1])  # (batch, heads, n_q, n_k)
    scores = scores.masked_fill(~allowed & ~fully_masked, -math.inf)
    weights = scores.softmax(-1).masked_fill(fully_masked, 0.0)
    output = weights @ k
    return output, weights


def weights_transposed(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    padding: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Query i gets what belongs to key i: right weights, used the wrong way round."""
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
    output = weights.mT @ v
    return output, weights
