"""What a row of attention weights is like: how spread, how sharp, how much it looks ahead."""

import torch
from torch import Tensor

from attention_core.checks import as_boolean, require


def entropy(weights: Tensor) -> Tensor:
    """-sum_j w_j ln w_j in nats, weights (..., n_k) -> (...); 0 ln 0 = 0.

    0 when one key has all the weight, ln(n_k) when all keys share it (Shannon 1948).
    """
    return torch.sum(torch.special.entr(weights), dim=-1)


def entropy_ceiling(mask: Tensor) -> float:
    """The largest mean entropy, in nats, that weights under this mask can have.

    mask (..., n_q, n_k), True = may attend: the mean of ln(keys seen) over the queries that see
    any. Without a mask ln(n_k), causal ln(n!)/n: a causal head of 11 keys cannot exceed 1.59,
    though ln(11) is 2.40. 0.0 if no query sees a key.
    """
    seen = as_boolean(mask).sum(-1, dtype=torch.float64)
    seen = seen[seen > 0]
    return float(seen.log().mean()) if seen.numel() else 0.0


def largest_weight(weights: Tensor) -> Tensor:
    """max_j w_j, weights (..., n_k) -> (...): 1 when one key has all the weight."""
    return weights.amax(-1)


def future_weight(weights: Tensor) -> float:
    """max of w[i, j] over keys j > i, weights (..., n_q, n_k): exactly 0.0 if causal."""
    ahead = weights.triu(diagonal=1)
    return float(ahead.max()) if ahead.numel() else 0.0


def far_weight(weights: Tensor, distance: int) -> float:
    """The share of all weight that lies on keys more than `distance` positions from their query.

    weights (..., n_q, n_k); 0 if there is no weight at all. Query i stands at position i.
    """
    n_q, n_k = weights.shape[-2:]
    away = (torch.arange(n_q).unsqueeze(1) - torch.arange(n_k)).abs()  # (n_q, n_k)
    shares = weights.detach().cpu().double()
    total = float(shares.sum())
    return float(shares[..., away > distance].sum()) / total if total else 0.0


def asymmetry(matrix: Tensor) -> float:
    """max |m[i, j] - m[j, i]|, matrix (..., n, n): exactly 0.0 if symmetric.

    Raises ValueError if the matrix is not square.
    """
    square = matrix.ndim >= 2 and matrix.shape[-2] == matrix.shape[-1]
    require(square, f"matrix must be square, (..., n, n): {tuple(matrix.shape)}")
    return float((matrix - matrix.mT).abs().max()) if matrix.numel() else 0.0


def softmax_jacobian(weights: Tensor) -> Tensor:
    """J = diag(w) - w w^T, the derivative of w = softmax(scores) by its scores.

    weights (..., n_k) -> (..., n_k, n_k)
    """
    outer = weights.unsqueeze(-1) * weights.unsqueeze(-2)  # (..., n_k, n_k)
    return torch.diag_embed(weights) - outer


def softmax_jacobian_norm(weights: Tensor) -> Tensor:
    """||J||, the Frobenius norm of the softmax Jacobian, weights (..., n_k) -> (...).

    How strongly the weights answer to the scores: nearly 0 when one key has nearly all the weight
    (Vaswani et al. 2017, section 3.2.1).
    """
    return softmax_jacobian(weights).square().sum((-2, -1)).sqrt()


def query_gradient_norm(weights: Tensor, k: Tensor, scale: float) -> Tensor:
    """||dw/dq|| = ||scale * J @ k||, the Frobenius norm: what reaches the query.

    weights (..., n_k), k (..., n_k, d_k) -> (...). The scores are scale * k @ q, so the chain rule
    multiplies the Jacobian by the scale and by the keys, which grow with d_k.
    """
    return (scale * softmax_jacobian(weights) @ k).square().sum((-2, -1)).sqrt()
