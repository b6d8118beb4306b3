"""Scaled dot-product attention, one line of code per step of the formula.

    attention(q, k, v) = softmax(q @ k.mT / sqrt(d_k)) @ v

Vaswani et al., "Attention Is All You Need" (2017), equation 1. A mask forbids pairs, a bias is
added to the scores.
"""

import math
from dataclasses import dataclass, replace

from torch import Tensor

from attention_core.checks import allowed_pairs, require_qkv, scale_or_default


@dataclass(frozen=True, eq=False)
class AttentionSteps:
    """Every step of the formula under its own name, in the order of computation.

    dots            (..., n_q, n_k)  q @ k.mT
    scale                            the factor that was used
    scores          (..., n_q, n_k)  dots * scale
    biased_scores   (..., n_q, n_k)  scores + bias; scores as they are without a bias
    masked_scores   (..., n_q, n_k)  biased_scores, -inf where the query may not attend
    weights         (..., n_q, n_k)  softmax over the keys; rows sum to 1, or to 0 if all is masked
    output          (..., n_q, d_v)  weights @ v
    """

    dots: Tensor
    scale: float
    scores: Tensor
    biased_scores: Tensor
    masked_scores: Tensor
    weights: Tensor
    output: Tensor

    def __getitem__(self, index: int) -> "AttentionSteps":
        """The steps of one element of the first leading dimension, as of a batch."""
        tensors = {name: value for name, value in vars(self).items() if name != "scale"}
        return replace(self, **{name: tensor[index] for name, tensor in tensors.items()})

    @property
    def overflow(self) -> str | None:
        """The first step that left the range of its dtype, None if all is well.

        The inputs were finite, so a value that is not finite was made here. The -inf of a bias or
        a mask is meant, and not counted: it leaves a weight of 0, where one that scores + bias fell
        to leaves 0 (it was that small) or NaN.
        """
        for step in ("dots", "scores", "biased_scores", "weights", "output"):
            values = getattr(self, step)
            meant = values.isneginf() & (self.weights == 0) if step == "biased_scores" else False
            if not (values.isfinite() | meant).all():
                return step
        return None


def attention_steps(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    *,
    bias: Tensor | None = None,
    scale: float | None = None,
) -> AttentionSteps:
    """weights = softmax(mask(q @ k.mT * scale + bias)), output = weights @ v, step by step.

    q (..., n_q, d_k), k (..., n_k, d_k), v (..., n_k, d_v); leading dimensions broadcast. All
    three are finite and share a dtype (float64, float32, bfloat16, float16) and a device.

    mask broadcasts to (..., n_q, n_k): True, or 1, where the query may attend to the key. A query
    that may attend to no key has zero weights, a zero output and finite gradients.

    bias broadcasts to (..., n_q, n_k) too, and has q's dtype: finite numbers, or -inf, which
    forbids the pair exactly as False in the mask does.

    scale is 1/sqrt(d_k) for None; 0 and negative numbers are legal.

    Raises ValueError if shapes, dtypes or devices disagree, if a value or the scale is not finite,
    if the mask holds anything but booleans or 0 and 1, if the bias holds NaN or +inf, or if either
    can be read in two ways.

    Source: Vaswani et al. (2017), section 3.2.1, equation 1.
    """
    require_qkv(q, k, v)
    factor = scale_or_default(scale, d_k=q.shape[-1])
    allowed = allowed_pairs(mask, q, k, bias)
    fully_masked = ~allowed.any(
        -1, keepdim=True
    )  # (..., n_q, 1), queries that may attend to nothing

    dots = q @ k.mT  # (..., n_q, n_k)
    scores = dots / math.sqrt(q.shape[-1]) if scale is None else dots * factor
    biased_scores = scores if bias is None else scores + bias
    masked_scores = biased_scores.masked_fill(~allowed, -math.inf)
    # A row of nothing but -inf would be 0/0, in the gradients too: dead rows pass through as 0.
    weights = (
        masked_scores.masked_fill(fully_masked, 0.0).softmax(-1).masked_fill(fully_masked, 0.0)
    )
    output = weights @ v  # (..., n_q, d_v)

    return AttentionSteps(dots, factor, scores, biased_scores, masked_scores, weights, output)


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    *,
    bias: Tensor | None = None,
    scale: float | None = None,
) -> tuple[Tensor, Tensor]:
    """softmax(q @ k.mT / sqrt(d_k)) @ v as (output (..., n_q, d_v), weights (..., n_q, n_k)).

    Arguments, errors and source as in `attention_steps`, which also returns what lies between.

    >>> import torch
    >>> q, k, v = torch.tensor([[1.0], [2.0]]), torch.tensor([[1.0], [2.0]]), torch.eye(2)
    >>> attention(q, k, v)[1]  # row 0: softmax of 1*1 and 1*2
    tensor([[0.2689, 0.7311],
            [0.1192, 0.8808]])
    """
    steps = attention_steps(q, k, v, mask, bias=bias, scale=scale)
    return steps.output, steps.weights
