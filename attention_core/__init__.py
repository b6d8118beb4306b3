"""The attention mechanism, one idea per file. Needs PyTorch, and knows no screen.

>>> import torch
>>> from attention_core import attention, causal, mask_tensor, sample_qkv
>>> q, k, v = sample_qkv(2, 5, 8)
>>> output, weights = attention(q, k, v, mask_tensor(causal, 5, 5))
>>> output.shape, weights.shape
(torch.Size([2, 5, 8]), torch.Size([2, 5, 5]))
"""

import warnings

from attention_core.agreement import (
    Agreement,
    compare,
    compare_with_is_causal,
    compare_with_torch,
    is_causal_difference,
    tolerance_for,
)
from attention_core.attention import AttentionSteps, attention, attention_steps
from attention_core.biases import (
    Bias,
    alibi,
    alibi_slopes,
    bias_tensor,
    relative_bias,
    relative_bucket,
    soft_cap,
    soft_cap_bias,
)
from attention_core.conventions import (
    CONVENTIONS,
    MixUp,
    cannot_say,
    difference_in,
    mix_up,
    output_in,
    outputs,
)
from attention_core.conventions.calls import additive, blocked
from attention_core.conventions.snippets import snippets
from attention_core.convolution import convolve, toeplitz
from attention_core.decoding import KVCache, decode, replace_token
from attention_core.devices import DTYPES, Device, available_devices, resolve_device
from attention_core.explanation import KeyDeletion, delete_key, other_weights
from attention_core.faults import FAULTS, IMPLEMENTATIONS, Implementation
from attention_core.faults.symptoms import Symptoms, symptoms
from attention_core.faults.telling_apart import indistinguishable
from attention_core.mask_rules import MaskRuleError, parse_mask_rule
from attention_core.masked_rows import MaskedRowAnswer, finite_stand_in, masked_row_answers
from attention_core.masks import (
    Mask,
    all_of,
    any_of,
    bidirectional,
    causal,
    causal_bottom_right,
    dilated,
    document,
    flip_cells,
    grid_neighbourhood,
    local,
    mask_tensor,
    negate,
    prefix_lm,
    reachable,
    sliding_window,
)
from attention_core.masks.composed import block_causal, global_local, sink_window
from attention_core.masks.costs import MaskCosts, mask_costs
from attention_core.masks.gallery import GALLERY, GalleryMask
from attention_core.measures import (
    asymmetry,
    entropy,
    entropy_ceiling,
    far_weight,
    future_weight,
    largest_weight,
    query_gradient_norm,
    softmax_jacobian,
    softmax_jacobian_norm,
)
from attention_core.patches import patch_attention, sample_image, to_patches
from attention_core.retrieval import Retrieval, blend, coefficient_for_share, retrieve, vocabulary
from attention_core.sampling import sample_qkv
from attention_core.scaling import SCALE_RULES, ScalingResult, scale_for, scaling_study
from attention_core.trace import CellTrace, trace_cell, trace_steps

__all__ = [
    "CONVENTIONS",
    "DTYPES",
    "FAULTS",
    "GALLERY",
    "IMPLEMENTATIONS",
    "SCALE_RULES",
    "Agreement",
    "AttentionSteps",
    "Bias",
    "CellTrace",
    "Device",
    "GalleryMask",
    "Implementation",
    "KVCache",
    "KeyDeletion",
    "Mask",
    "MaskCosts",
    "MaskRuleError",
    "MaskedRowAnswer",
    "MixUp",
    "Retrieval",
    "ScalingResult",
    "Symptoms",
    "additive",
    "alibi",
    "alibi_slopes",
    "all_of",
    "any_of",
    "asymmetry",
    "attention",
    "attention_steps",
    "available_devices",
    "bias_tensor",
    "bidirectional",
    "blend",
    "block_causal",
    "blocked",
    "cannot_say",
    "causal",
    "causal_bottom_right",
    "coefficient_for_share",
    "compare",
    "compare_with_is_causal",
    "compare_with_torch",
    "convolve",
    "decode",
    "delete_key",
    "difference_in",
    "dilated",
    "document",
    "entropy",
    "entropy_ceiling",
    "far_weight",
    "finite_stand_in",
    "flip_cells",
    "future_weight",
    "global_local",
    "grid_neighbourhood",
    "indistinguishable",
    "is_causal_difference",
    "largest_weight",
    "local",
    "mask_costs",
    "mask_tensor",
    "masked_row_answers",
    "mix_up",
    "negate",
    "other_weights",
    "output_in",
    "outputs",
    "parse_mask_rule",
    "patch_attention",
    "prefix_lm",
    "query_gradient_norm",
    "reachable",
    "relative_bias",
    "relative_bucket",
    "replace_token",
    "resolve_device",
    "retrieve",
    "sample_image",
    "sample_qkv",
    "scale_for",
    "scaling_study",
    "sink_window",
    "sliding_window",
    "snippets",
    "soft_cap",
    "soft_cap_bias",
    "softmax_jacobian",
    "softmax_jacobian_norm",
    "symptoms",
    "to_patches",
    "toeplitz",
    "tolerance_for",
    "trace_cell",
    "trace_steps",
    "vocabulary",
]

_EARLIER_NAMES = {
    "DeadRowAnswer": "MaskedRowAnswer",
    "dead_row_answers": "masked_row_answers",
    "sample_picture": "sample_image",
    "turned": "flip_cells",
}


def __getattr__(name: str) -> object:
    """Names from before they were the field's terms: still here, with a word of warning."""
    if name not in _EARLIER_NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    now = _EARLIER_NAMES[name]
    warnings.warn(f"attention_core.{name} is now {now}", DeprecationWarning, stacklevel=2)
    return globals()[now]
