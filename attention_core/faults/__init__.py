"""Attention as people get it wrong: twelve implementations with one fault each, and the right one.

All take q (batch, heads, n_q, d_k), k (batch, heads, n_k, d_k), v (batch, heads, n_k, d_v), and
two masks, True = may attend: `mask` (n_q, n_k), the same for all, and `padding` (batch, n_k), the
keys that are real tokens. All return (output, weights). Some stop with an error for some inputs.

They are for teaching and for tests: use `attention_core.attention`.
"""

from collections.abc import Callable

from torch import Tensor

from attention_core.faults.right import right
from attention_core.faults.wrong_axis import (
    keys_and_values_swapped,
    softmax_over_queries,
    weights_transposed,
)
from attention_core.faults.wrong_mask import (
    diagonal_masked,
    finite_fill,
    mask_after_softmax,
    mask_inverted,
    masked_scores_zero,
    padding_per_query,
)
from attention_core.faults.wrong_scale import no_scale, scale_after_softmax, scale_by_d_model

Implementation = Callable[
    [Tensor, Tensor, Tensor, Tensor | None, Tensor | None], tuple[Tensor, Tensor]
]

FAULTS: tuple[Implementation, ...] = (
    softmax_over_queries,
    no_scale,
    scale_by_d_model,
    scale_after_softmax,
    mask_after_softmax,
    masked_scores_zero,
    mask_inverted,
    diagonal_masked,
    finite_fill,
    keys_and_values_swapped,
    weights_transposed,
    padding_per_query,
)
IMPLEMENTATIONS = (*FAULTS, right)

__all__ = [
    "FAULTS",
    "IMPLEMENTATIONS",
    "Implementation",
    "diagonal_masked",
    "finite_fill",
    "keys_and_values_swapped",
    "mask_after_softmax",
    "mask_inverted",
    "masked_scores_zero",
    "no_scale",
    "padding_per_query",
    "right",
    "scale_after_softmax",
    "scale_by_d_model",
    "softmax_over_queries",
    "weights_transposed",
]
