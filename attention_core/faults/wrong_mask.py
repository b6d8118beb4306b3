"""Masks that come too late, hide too little, or hide the wrong pairs."""

import math

import torch
from torch import Tensor


def mask_after_softmax(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    padding: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Hidden keys are in the sum that divides the row."""
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.ones(n_q, n_k, dtype=torch.bool, device=q.device)
    if mask is not None:  # (n_q, n_k)
        allowed = allowed & mask
    if padding is not None:  # (batch, n_k)
        allowed = allowed & padding[:, None, None, :]

    scores = q @ k.mT / math.sqrt(q.shape[-1])  # (batch, heads, n_q, n_k)
    weights = scores.softmax(-1).masked_fill(~allowed, 0.0)
    output = weights @ v
    return output, weights


def masked_scores_zero(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    padding: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """A hidden pair gets the score 0, which is a score like any other."""
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.ones(n_q, n_k, dtype=torch.bool, device=q.device)
    if mask is not None:  # (n_q, n_k)
        allowed = allowed & mask
    if padding is not None:  # (batch, n_k)
        allowed = allowed & padding[:, None, None, :]
    fully_masked = ~allowed.any(-1, keepdim=True)  # queries that may attend to nothing

    scores = q @ k.mT / math.sqrt(q.shape[-1])  # (batch, heads, n_q, n_k)
    scores = scores.masked_fill(~allowed & ~fully_masked, 0.0)
    weights = scores.softmax(-1).masked_fill(fully_masked, 0.0)
    output = weights @ v
    return output, weights


def mask_inverted(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    padding: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Takes True for hidden, as `nn.MultiheadAttention` does."""
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.ones(n_q, n_k, dtype=torch.bool, device=q.device)
    if mask is not None:  # (n_q, n_k)
        allowed = allowed & ~mask
    if padding is not None:  # (batch, n_k)
        allowed = allowed & ~padding[:, None, None, :]
    fully_masked = ~allowed.any(-1, keepdim=True)  # queries that may attend to nothing

    scores = q @ k.mT / math.sqrt(q.shape[-1])  # (batch, heads, n_q, n_k)
    scores = scores.masked_fill(~allowed & ~fully_masked, -math.inf)
    weights = scores.softmax(-1).masked_fill(fully_masked, 0.0)
    output = weights @ v
    return output, weights


def diagonal_masked(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    padding: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """No token may attend to itself."""
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = ~torch.eye(n_q, n_k, dtype=torch.bool, device=q.device)
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


def finite_fill(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    padding: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Hides with a large number: too large for float16, and no help where all is hidden."""
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.ones(n_q, n_k, dtype=torch.bool, device=q.device)
    if mask is not None:  # (n_q, n_k)
        allowed = allowed & mask
    if padding is not None:  # (batch, n_k)
        allowed = allowed & padding[:, None, None, :]

    scores = q @ k.mT / math.sqrt(q.shape[-1])  # (batch, heads, n_q, n_k)
    scores = scores.masked_fill(~allowed, -1e9)
    weights = scores.softmax(-1)
    output = weights @ v
    return output, weights


def padding_per_query(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    padding: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Reads the padding mask (batch, n_k) as one row for each query."""
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.ones(n_q, n_k, dtype=torch.bool, device=q.device)
    if mask is not None:  # (n_q, n_k)
        allowed = allowed & mask
    if padding is not None:  # (batch, n_k)
        allowed = allowed & padding
    fully_masked = ~allowed.any(-1, keepdim=True)  # queries that may attend to nothing

    scores = q @ k.mT / math.sqrt(q.shape[-1])  # (batch, heads, n_q, n_k)
    scores = scores.masked_fill(~allowed & ~fully_masked, -math.inf)
    weights = scores.softmax(-1).masked_fill(fully_masked, 0.0)
    output = weights @ v
    return output, weights
