"""Does this library compute what PyTorch computes, and what float64 says is right?"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from attention_core.attention import AttentionSteps, attention_steps
from attention_core.checks import allowed_pairs, scale_or_default
from attention_core.masks import causal, mask_tensor


@dataclass(frozen=True)
class Agreement:
    """How far computed steps are from two oracles, and how far they may be.

    torch_difference    largest |output - F.scaled_dot_product_attention|
    float64_difference  largest |difference| of output, weights or the scores of allowed pairs to
                        the formula in float64
    row_sum_deviation   largest |sum of a row of weights - 1|, dead rows aside
    tolerance           what rounding explains, see `tolerance_for`
    """

    torch_difference: float
    float64_difference: float
    row_sum_deviation: float
    tolerance: float

    @property
    def agrees(self) -> bool:
        """All three are within the tolerance. NaN never is."""
        found = (self.torch_difference, self.float64_difference, self.row_sum_deviation)
        return all(difference <= self.tolerance for difference in found)


def tolerance_for(
    dtype: torch.dtype,
    *,
    largest_score: float = 0.0,
    largest_terms: float = 0.0,
    largest_value: float = 1.0,
) -> float:
    """max(1, V) * (4 eps + eps/2 * S + eps' * A): the difference that rounding explains.

    eps   distance from 1 to the next number of the dtype
    eps'  the same for the dtype that sums the dots: float32 for the half precisions
    S     largest |score|: rounded by eps/2 * S, and so is ln(weight); with a bias, two roundings,
          so largest |score| + |score + bias|
    A     largest sum of |q * k * scale| in one score, far above S where the terms cancel
    V     largest |v|, which carries errors of the weights into the output

    Measured on normal q, k, v in all four dtypes, n to 128, d to 1024, scaled and unscaled, right
    results stay below half of it. Where eps * S nears 1 (bfloat16, unscaled, d = 1024) it exceeds
    1, and rightly: such scores are not known to the unit.
    """
    eps = torch.finfo(dtype).eps
    eps_of_sums = min(eps, torch.finfo(torch.float32).eps)
    score_error = eps / 2 * largest_score + eps_of_sums * largest_terms
    return max(1.0, largest_value) * (4 * eps + score_error)


def compare(
    steps: AttentionSteps,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    *,
    bias: Tensor | None = None,
    scale: float | None = None,
) -> Agreement:
    """Judge the very steps that are shown by PyTorch and by float64 on the CPU.

    steps are what `attention_steps(q, k, v, mask, bias=bias, scale=scale)` should be; nothing of
    them is computed again. PyTorch's `F.scaled_dot_product_attention` gets the mask as booleans,
    or with a bias the two as one float mask, which it adds to the scores. Its `is_causal` gives NaN
    on four-dimensional CPU tensors where the scale is 0 or negative (PyTorch 2.13).

    Raises ValueError if mask or bias do not fit to q and k.
    """
    allowed = allowed_pairs(mask, q, k, bias)
    scale = scale_or_default(scale, d_k=q.shape[-1])
    added = allowed if bias is None else bias.where(allowed, -math.inf)  # "attn_mask" is either
    fused = F.scaled_dot_product_attention(q, k, v, attn_mask=added, scale=scale)

    q64, k64, v64, allowed = _float64(q), _float64(k), _float64(v), allowed.cpu()
    scores = torch.einsum("...id,...jd->...ij", q64, k64) * scale  # (..., n_q, n_k)
    rounded = scores.abs()  # the numbers that rounding touched on their way to the softmax
    if bias is not None:
        scores = scores + _float64(bias)
        rounded = rounded + scores.abs()
    terms = torch.einsum("...id,...jd->...ij", q64.abs(), k64.abs()) * abs(scale)
    log_total = scores.where(allowed, -math.inf).logsumexp(-1, keepdim=True)  # (..., n_q, 1)
    right_weights = (scores - log_total).exp().where(allowed, 0.0)
    right_output = torch.einsum("...ij,...jd->...id", right_weights, v64)  # (..., n_q, d_v)

    output, weights, fused = _float64(steps.output), _float64(steps.weights), _float64(fused)
    wrong_scores = (_float64(steps.biased_scores) - scores).where(allowed, 0.0)
    wrong = (output - right_output, weights - right_weights, wrong_scores)
    live = allowed.any(-1).expand(weights.shape[:-1])  # (..., n_q)
    return Agreement(
        torch_difference=_largest(output - fused),
        float64_difference=_largest(torch.cat([difference.flatten() for difference in wrong])),
        row_sum_deviation=_largest(weights.sum(-1)[live] - 1),
        tolerance=tolerance_for(
            q.dtype,
            largest_score=_largest(rounded.where(allowed, 0.0)),
            largest_terms=_largest(terms * allowed),
            largest_value=_largest(v64),
        ),
    )


def compare_with_torch(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    *,
    bias: Tensor | None = None,
    scale: float | None = None,
) -> Agreement:
    """Compute the steps, then `compare` them. Arguments and errors as in `attention_steps`."""
    steps = attention_steps(q, k, v, mask, bias=bias, scale=scale)
    return compare(steps, q, k, v, mask, bias=bias, scale=scale)


def is_causal_difference(output: Tensor, q: Tensor, k: Tensor, v: Tensor) -> float:
    """The largest |output - F.scaled_dot_product_attention(q, k, v, is_causal=True)|.

    The second way to causal attention: PyTorch is given no mask here, and makes its own. Its scale
    is 1/sqrt(d_k); sequences of different lengths start together (top-left).

    Source: the lesson; 1.19e-07 for its tensors in float32.
    """
    fused = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return _largest(_float64(output) - _float64(fused))


def compare_with_is_causal(q: Tensor, k: Tensor, v: Tensor) -> float:
    """Compute causal attention, then its `is_causal_difference`. Errors as in `attention_steps`."""
    mask = mask_tensor(causal, q.shape[-2], k.shape[-2], q.device)
    steps = attention_steps(q, k, v, mask[(None,) * (max(q.ndim, k.ndim) - 2)])
    return is_causal_difference(steps.output, q, k, v)


def _float64(tensor: Tensor) -> Tensor:
    return tensor.detach().cpu().double()


def _largest(differences: Tensor) -> float:
    return differences.abs().max().item() if differences.numel() else 0.0
