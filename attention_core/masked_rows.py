"""What becomes of a query that may attend to nothing: four ways to compute it, side by side."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from attention_core.attention import attention
from attention_core.checks import allowed_pairs, require_qkv, scale_or_default

Way = Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]


@dataclass(frozen=True, eq=False)
class MaskedRowAnswer:
    """One way to treat dead rows: what it computes, and what training would learn from it.

    name                       "NaN", "zero", "uniform" or "patched", see `masked_row_answers`
    weights  (..., n_q, n_k)
    output   (..., n_q, d_v)
    dq, dk, dv                 gradients of the sum of all outputs of the live rows
    """

    name: str
    weights: Tensor
    output: Tensor
    dq: Tensor
    dk: Tensor
    dv: Tensor

    @property
    def spoiled(self) -> tuple[str, ...]:
        """The gradients that hold a number that is not finite: they end the training."""
        return tuple(n for n in ("dq", "dk", "dv") if not getattr(self, n).isfinite().all())


def finite_stand_in(dtype: torch.dtype) -> float:
    """-1e9, the usual stand-in for -inf, or the lowest number of a dtype that cannot hold it."""
    return max(-1e9, torch.finfo(dtype).min)


def nan_way(q: Tensor, k: Tensor, v: Tensor, allowed: Tensor) -> tuple[Tensor, Tensor]:
    """softmax(scores + M), M = -inf where masked: in a dead row 0/0, so NaN."""
    scores = q @ k.mT * scale_or_default(None, q.shape[-1])
    added = torch.zeros_like(scores).masked_fill(~allowed, -math.inf)
    weights = (scores + added).softmax(-1)
    return weights @ v, weights


def zero_way(q: Tensor, k: Tensor, v: Tensor, allowed: Tensor) -> tuple[Tensor, Tensor]:
    """`attention`, and F.scaled_dot_product_attention of PyTorch 2.5 and later: 0."""
    return attention(q, k, v, allowed)


def uniform_way(q: Tensor, k: Tensor, v: Tensor, allowed: Tensor) -> tuple[Tensor, Tensor]:
    """softmax(scores, -1e9 where masked): in a dead row all are equal, so each gets 1/n_k."""
    scores = q @ k.mT * scale_or_default(None, q.shape[-1])
    weights = scores.masked_fill(~allowed, finite_stand_in(q.dtype)).softmax(-1)
    return weights @ v, weights


def patched_way(q: Tensor, k: Tensor, v: Tensor, allowed: Tensor) -> tuple[Tensor, Tensor]:
    """nan_way with the NaN replaced by 0 afterwards: right to look at, and wrong to train."""
    weights = nan_way(q, k, v, allowed)[1].nan_to_num(0.0)
    return weights @ v, weights


WAYS: dict[str, Way] = {
    "NaN": nan_way,
    "zero": zero_way,
    "uniform": uniform_way,
    "patched": patched_way,
}


def masked_row_answers(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor
) -> tuple[MaskedRowAnswer, ...]:
    """Attention under a mask that may have dead rows, in the four WAYS, with gradients.

    The loss is the sum of all outputs of the live rows, so nothing that a dead row computes enters
    it. Still a NaN there reaches the gradients: 0 * NaN is NaN.

    Arguments and errors as in `attention_steps`, scale 1/sqrt(d_k); q, k, v are not changed.
    """
    require_qkv(q, k, v)
    allowed = allowed_pairs(mask, q, k)
    return tuple(_answer(name, way, q, k, v, allowed) for name, way in WAYS.items())


def _answer(
    name: str, way: Way, q: Tensor, k: Tensor, v: Tensor, allowed: Tensor
) -> MaskedRowAnswer:
    q, k, v = (tensor.detach().clone().requires_grad_() for tensor in (q, k, v))
    output, weights = way(q, k, v, allowed)
    loss = output.where(allowed.any(-1, keepdim=True), 0.0).sum()
    dq, dk, dv = torch.autograd.grad(loss, (q, k, v))
    return MaskedRowAnswer(name, weights.detach(), output.detach(), dq, dk, dv)
