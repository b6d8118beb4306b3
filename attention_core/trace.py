"""Where one number comes from: one cell of the weights, retold step by step."""

from dataclasses import dataclass

from torch import Tensor

from attention_core.attention import AttentionSteps, attention_steps
from attention_core.checks import require


@dataclass(frozen=True, eq=False)
class CellTrace:
    """How query i asks, key j answers, and value j enters the output.

    products      (d_k,)  q[i] * k[j], entry by entry
    dot                   their sum
    scale                 the factor that was used
    score                 dot * scale
    biased_score          score + bias, before the mask; the score as it is without a bias
    largest               the largest biased score of row i that is allowed, -inf if none is
    exponentials  (n_k,)  exp(biased_score - largest), 0 where masked
    total                 their sum
    weights       (n_k,)  exponentials / total; 0 if query i may attend to nothing
    weight                weights[j]
    contribution  (d_v,)  weight * v[j]
    output        (d_v,)  row i of the output, the sum of the contributions of all keys
    """

    i: int
    j: int
    products: Tensor
    dot: float
    scale: float
    score: float
    biased_score: float
    largest: float
    exponentials: Tensor
    total: float
    weights: Tensor
    weight: float
    contribution: Tensor
    output: Tensor


def trace_steps(
    steps: AttentionSteps, q: Tensor, k: Tensor, v: Tensor, i: int, j: int
) -> CellTrace:
    """weights[i, j] = exp(s_ij - m) / sum_j' exp(s_ij' - m), m the largest s of row i.

    s is the score, plus the bias if there is one.
    q (n_q, d_k), k (n_k, d_k), v (n_k, d_v): one head, no batch; `steps` are those of
    `attention_steps` for them, so the trace explains the very numbers that are shown.

    Raises ValueError if q, k, v are not two-dimensional, or if there is no query i or no key j.
    """
    shapes = f"q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}"
    require(q.ndim == k.ndim == v.ndim == 2, f"q, k, v must be one head, (n, d): {shapes}")
    inside = 0 <= i < len(q) and 0 <= j < len(k)
    require(inside, f"i and j must be positions in q and k: i={i}, j={j}, {shapes}")

    row = steps.masked_scores[i]  # (n_k,)
    largest = row.max()
    # In a row of nothing but -inf the difference would be NaN: there, exp(-inf) = 0 as it is.
    exponentials = (row if largest.isneginf() else row - largest).exp()
    weight = steps.weights[i, j]
    return CellTrace(
        i=i,
        j=j,
        products=q[i] * k[j],
        dot=steps.dots[i, j].item(),
        scale=steps.scale,
        score=steps.scores[i, j].item(),
        biased_score=steps.biased_scores[i, j].item(),
        largest=largest.item(),
        exponentials=exponentials,
        total=exponentials.sum().item(),
        weights=steps.weights[i],
        weight=weight.item(),
        contribution=weight * v[j],
        output=steps.output[i],
    )


def trace_cell(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    i: int,
    j: int,
    mask: Tensor | None = None,
    *,
    bias: Tensor | None = None,
    scale: float | None = None,
) -> CellTrace:
    """Compute the steps, then `trace_steps`. Errors as there and in `attention_steps`."""
    return trace_steps(attention_steps(q, k, v, mask, bias=bias, scale=scale), q, k, v, i, j)
