"""Why the scores are scaled: what a scale does to the weights as d_k grows.

The dot product of two independent standard normal vectors has variance d_k. Unscaled, the scores
spread like sqrt(d_k) and the softmax saturates: for most queries one weight is near 1 and the
Jacobian near 0, and for a few, whose two largest scores nearly tie, the gradient is huge.

Queries and keys that have learned to match are not independent. Their dots have a mean that grows
like d_k, and only 1/d_k keeps the weights from saturating (Yang et al. 2021, muP, section 5).

Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.1 and its footnote 4.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from attention_core.attention import AttentionSteps, attention_steps
from attention_core.checks import require
from attention_core.measures import (
    entropy,
    largest_weight,
    query_gradient_norm,
    softmax_jacobian_norm,
)
from attention_core.retrieval import blend, retrieve, vocabulary

Tokens = Literal["one_hot", "normal"]

_SCALES: Mapping[str, Callable[[int, int], float]] = {
    "1/sqrt(d_k)": lambda d_k, d_model: 1 / math.sqrt(d_k),
    "none": lambda d_k, d_model: 1.0,
    "1/d_k": lambda d_k, d_model: 1 / d_k,
    "1/sqrt(d_model)": lambda d_k, d_model: 1 / math.sqrt(d_model),
}
SCALE_RULES: tuple[str, ...] = tuple(_SCALES)


@dataclass(frozen=True, eq=False)
class ScalingResult:
    """What one scale does at one d_k; the tensors are float64 on the CPU.

    largest_weights   (draws,)
    entropies         (draws,)  in nats
    jacobian_norms    (draws,)  Frobenius norms of the softmax Jacobian
    query_gradients   (draws,)  Frobenius norms of dw/dq = scale * Jacobian @ k
    dots_variance               over all draws and keys, before the scale
    """

    d_k: int
    rule: str
    tokens: Tokens
    largest_weights: Tensor
    entropies: Tensor
    jacobian_norms: Tensor
    query_gradients: Tensor
    dots_variance: float

    @property
    def mean_largest_weight(self) -> float:
        return self.largest_weights.mean().item()

    @property
    def mean_entropy(self) -> float:
        return self.entropies.mean().item()

    @property
    def mean_jacobian_norm(self) -> float:
        return self.jacobian_norms.mean().item()


def scale_for(rule: str, d_k: int, heads: int = 4) -> float:
    """The scale by one of SCALE_RULES, with d_model = heads * d_k.

    Raises ValueError for any other rule, or if d_k or heads is below 1.
    """
    require(rule in _SCALES, f"the rule must be one of {', '.join(SCALE_RULES)}: {rule!r}")
    require(min(d_k, heads) >= 1, f"d_k and heads must be 1 or more: d_k={d_k}, heads={heads}")
    return _SCALES[rule](d_k, heads * d_k)


def scaling_study(
    d_ks: Iterable[int],
    *,
    rule: str = "1/sqrt(d_k)",
    tokens: Tokens = "normal",
    n_k: int = 5,
    draws: int = 500,
    seed: int = 0,
    correlation: float = 0.0,
    sharpness: float = 5.0,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float32,
) -> list[ScalingResult]:
    """Measure the weights of one query on n_k keys, for each d_k, under one scale rule.

    tokens "normal": in each draw, query and keys are standard normal, so the dots have variance
    d_k. The draws at one d_k depend on the seed alone, not on the other d_k in the list. Each entry
    of the query has the given correlation with that of the first key: 0 at initialisation, more
    once they have learned to match.

    tokens "one_hot": the retrieval demo. The query is the middle one of n_k one-hot tokens of
    length sharpness, so a dot is sharpness ** 2 or 0 whatever d_k is, and scaling by d_k only
    blurs. Nothing is random: there is one draw.

    Raises ValueError for an unknown rule or kind of tokens, for sizes below 1, for a correlation
    outside of -1 to 1, and for one-hot tokens with d_k < n_k.
    """
    kinds = get_args(Tokens)
    require(tokens in kinds, f"tokens must be one of {', '.join(kinds)}: {tokens!r}")
    require(min(n_k, draws) >= 1, f"n_k and draws must be 1 or more: n_k={n_k}, draws={draws}")
    require(-1 <= correlation <= 1, f"correlation must be from -1 to 1: {correlation}")

    def measured(d_k: int) -> ScalingResult:
        scale = scale_for(rule, d_k)
        if tokens == "one_hot":
            require(d_k >= n_k, f"one-hot tokens need d_k >= n_k: d_k={d_k}, n_k={n_k}")
            vocab = vocabulary(d_k, sharpness, device=device, dtype=dtype)
            query = blend(vocab, {n_k // 2: 1.0})
            steps = retrieve(query, vocab, range(n_k), scale=scale).steps
            return _measured(steps, vocab[:n_k].unsqueeze(0), rule, tokens)
        generator = torch.Generator().manual_seed(seed)
        q = torch.randn(draws, 1, d_k, generator=generator)
        k = torch.randn(draws, n_k, d_k, generator=generator)
        q = correlation * k[:, :1] + math.sqrt(1 - correlation**2) * q
        q, k = q.to(device, dtype), k.to(device, dtype)
        return _measured(attention_steps(q, k, v=k, scale=scale), k, rule, tokens)

    return [measured(d_k) for d_k in d_ks]


def _measured(steps: AttentionSteps, k: Tensor, rule: str, tokens: Tokens) -> ScalingResult:
    """k (draws, n_k, d_k)"""
    weights = steps.weights.cpu().double().flatten(end_dim=-2)  # (draws, n_k)
    return ScalingResult(
        d_k=k.shape[-1],
        rule=rule,
        tokens=tokens,
        largest_weights=largest_weight(weights),
        entropies=entropy(weights),
        jacobian_norms=softmax_jacobian_norm(weights),
        query_gradients=query_gradient_norm(weights, k.cpu().double(), steps.scale),
        dots_variance=steps.dots.cpu().double().var(correction=0).item(),
    )
