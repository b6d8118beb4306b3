"""What an implementation of attention does, seen from outside: its symptoms, not its code."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from attention_core.faults import Implementation
from attention_core.measures import future_weight, largest_weight


@dataclass(frozen=True, eq=False)
class Symptoms:
    """What one implementation returned, and numbers about it. NaN stays NaN.

    output            (batch, heads, n_q, d_v)
    weights           (batch, heads, n_q, n_k)
    row_sums          (batch, heads, n_q)  1 for each query that may attend to something
    column_sums       (batch, heads, n_k)
    future_weight     the largest weight of a query i on a key j > i
    forbidden_weight  the largest weight where the masks forbid, 0 if they forbid nothing
    own_weight        the largest weight of a query i on key i
    mean_largest      the largest weight of a row, averaged over the rows: how sharp they are
    torch_difference  largest |output - F.scaled_dot_product_attention|
    earlier_change    the largest change of an output i < n_k - 1 when key and value n_k - 1, the
                      last ones, change their sign: with a causal mask exactly 0
    not_numbers       how many entries of weights and output are NaN or infinite
    """

    output: Tensor
    weights: Tensor
    row_sums: Tensor
    column_sums: Tensor
    future_weight: float
    forbidden_weight: float
    own_weight: float
    mean_largest: float
    torch_difference: float
    earlier_change: float
    not_numbers: int


def symptoms(
    implementation: Implementation,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    padding: Tensor | None = None,
) -> Symptoms | str:
    """The symptoms, or the message of the error that the implementation stops with.

    Arguments as in `attention_core.faults`; True = may attend. Only what torch says about tensors
    that do not fit is taken for a symptom, a RuntimeError; other errors are raised.
    """
    last = torch.arange(k.shape[-2], device=k.device).unsqueeze(-1) == k.shape[-2] - 1  # (n_k, 1)
    try:
        output, weights = implementation(q, k, v, mask, padding)
        later, _ = implementation(q, k.where(~last, -k), v.where(~last, -v), mask, padding)
    except RuntimeError as error:
        return str(error)
    allowed = allowed_by_both(q, k, mask, padding)
    fused = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    earlier = slice(k.shape[-2] - 1)
    return Symptoms(
        output=output,
        weights=weights,
        row_sums=weights.sum(-1),
        column_sums=weights.sum(-2),
        future_weight=future_weight(weights),
        forbidden_weight=_largest_absolute(weights.masked_fill(allowed, 0.0)),
        own_weight=_largest_absolute(weights.diagonal(dim1=-2, dim2=-1)),
        mean_largest=largest_weight(weights).double().mean().item(),
        torch_difference=_largest_absolute(output - fused),
        earlier_change=_largest_absolute((later - output)[..., earlier, :]),
        not_numbers=sum(int((~tensor.isfinite()).sum()) for tensor in (weights, output)),
    )


def allowed_by_both(
    q: Tensor, k: Tensor, mask: Tensor | None = None, padding: Tensor | None = None
) -> Tensor:
    """Where the two masks both allow, as booleans that broadcast to (batch, heads, n_q, n_k)."""
    allowed = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device)
    allowed = allowed if mask is None else allowed & mask
    return allowed if padding is None else allowed & padding[:, None, None, :]


def _largest_absolute(values: Tensor) -> float:
    return values.abs().max().item() if values.numel() else 0.0
