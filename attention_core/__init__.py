"""The attention mechanism, one idea per file. Needs PyTorch, and knows no screen.

>>> import torch
>>> from attention_core import attention, causal, mask_tensor, sample_qkv
>>> q, k, v = sample_qkv(2, 5, 8)
>>> output, weights = attention(q, k, v, mask_tensor(causal, 5, 5))
>>> output.shape, weights.shape
(torch.Size([2, 5, 8]), torch.Size([2, 5, 5]))
"""

from attention_core.agreement import (
    Agreement,
    compare_with_is_causal,
    compare_with_torch,
    tolerance_for,
)
from attention_core.attention import AttentionSteps, attention, attention_steps
from attention_core.convolution import convolve, toeplitz
from attention_core.decoding import KVCache, decode, replace_token
from attention_core.devices import DTYPES, Device, available_devices, resolve_device
from attention_core.masks import (
    Mask,
    all_of,
    any_of,
    bidirectional,
    causal,
    causal_bottom_right,
    dilated,
    document,
    grid_neighbourhood,
    local,
    mask_tensor,
    negate,
    prefix_lm,
    reachable,
    sliding_window,
)
from attention_core.measures import (
    asymmetry,
    entropy,
    future_weight,
    largest_weight,
    softmax_jacobian_norm,
)
from attention_core.patches import patch_attention, sample_picture, to_patches
from attention_core.retrieval import Retrieval, blend, coefficient_for_share, retrieve, vocabulary
from attention_core.sampling import sample_qkv
from attention_core.scaling import SCALE_RULES, ScalingResult, scale_for, scaling_study
from attention_core.trace import CellTrace, trace_cell

__all__ = [
    "DTYPES",
    "SCALE_RULES",
    "Agreement",
    "AttentionSteps",
    "CellTrace",
    "Device",
    "KVCache",
    "Mask",
    "Retrieval",
    "ScalingResult",
    "all_of",
    "any_of",
    "asymmetry",
    "attention",
    "attention_steps",
    "available_devices",
    "bidirectional",
    "blend",
    "causal",
    "causal_bottom_right",
    "coefficient_for_share",
    "compare_with_is_causal",
    "compare_with_torch",
    "convolve",
    "decode",
    "dilated",
    "document",
    "entropy",
    "future_weight",
    "grid_neighbourhood",
    "largest_weight",
    "local",
    "mask_tensor",
    "negate",
    "patch_attention",
    "prefix_lm",
    "reachable",
    "replace_token",
    "resolve_device",
    "retrieve",
    "sample_picture",
    "sample_qkv",
    "scale_for",
    "scaling_study",
    "sliding_window",
    "softmax_jacobian_norm",
    "to_patches",
    "toeplitz",
    "tolerance_for",
    "trace_cell",
    "vocabulary",
]
