"""The scale of the dots, forgotten, of the wrong size, or in the wrong place."""

import math

import torch
from torch import Tensor


def no_scale(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    padding: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """The dots are not scaled."""
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.ones(n_q, n_k, dtype=torch.bool, device=q.device)
    if mask is not None:  # (n_q, n_k)
        allowed = allowed & mask
    if padding is not None:  # (batch, n_k)
        allowed = allowed & padding[:, None, None, :]
    fully_masked = ~allowed.any(-1, keepdim=True)  # queries that may attend to nothing

    scores = q @ k.mT  # (batch, heads, n_q, n_k)
    scores = scores.masked_fill(~allowed & ~fully_masked, -math.inf)
    weights = scores.softmax(-1).masked_fill(fully_masked, 0.0)
    output = weights @ v
    return output, weights


def scale_by_d_model(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    padding: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Scaled by the width of all heads together, d_model = heads * d_k."""
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.ones(n_q, n_k, dtype=torch.bool, device=q.device)
    if mask is not None:  # (n_q, n_k)
        allowed = allowed & mask
    if padding is not None:  # (batch, n_k)
        allowed = allowed & padding[:, None, None, :]
    fully_masked = ~allowed.any(-1, keepdim=True)  # queries that may attend to nothing

    scores = q @ k.mT / math.sqrt(q.shape[1] * q.shape[-1])  # (batch, heads, n_q, n_k)
    scores = scores.masked_fill(~allowed & ~fully_masked, -math.inf)
    weights = scores.softmax(-1).masked_fill(fully_masked, 0.0)
    output = weights @ v
    return output, weights


def scale_after_softmax(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    padding: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Scaled too late: the softmax sees the bare dots."""
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.ones(n_q, n_k, dtype=torch.bool, device=q.device)
    if mask is not None:  # (n_q, n_k)
        allowed = allowed & mask
    if padding is not None:  # (batch, n_k)
        allowed = allowed & padding[:, None, None, :]
    fully_masked = ~allowed.any(-1, keepdim=True)  # queries that may attend to nothing

    scores = q @ k.mT  # (batch, heads, n_q, n_k)
    scores = scores.masked_fill(~allowed & ~fully_masked, -math.inf)
    weights = scores.softmax(-1).masked_fill(fully_masked, 0.0) / math.sqrt(q.shape[-1])
    output = weights @ v
    return output, weights
