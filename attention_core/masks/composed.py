"""Masks of long sequences, each put together from the simple ones in `masks`.

>>> from attention_core.masks.basic import mask_tensor
>>> mask_tensor(sink_window(1, 2), 5, 5).int()
tensor([[1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0],
        [1, 0, 1, 1, 0],
        [1, 0, 0, 1, 1]], dtype=torch.int32)
"""

from attention_core.checks import require
from attention_core.masks.basic import Mask, all_of, any_of, causal, local, sliding_window


def sink_window(sinks: int, width: int) -> Mask:
    """k <= q and (k < sinks or q - k < width): the last `width` keys, and for ever the first few,
    on which a model puts the weight that it needs nowhere else (Xiao et al. 2023, StreamingLLM,
    section 3)."""
    require(sinks >= 0, f"sinks must not be negative: {sinks}")
    return all_of(causal, any_of(lambda q_idx, k_idx: k_idx < sinks, sliding_window(width)))


def global_local(tokens: int, width: int) -> Mask:
    """q < tokens or k < tokens or |q - k| <= (width - 1)/2: a centred window, an odd number of
    keys; only the first `tokens` see all and are seen by all (Beltagy et al. 2020, Longformer,
    section 3.1; Zaheer et al. 2020, BigBird)."""
    require(tokens >= 0, f"tokens must not be negative: {tokens}")
    return any_of(lambda q_idx, k_idx: (q_idx < tokens) | (k_idx < tokens), local(width))


def block_causal(size: int) -> Mask:
    """floor(k / size) <= floor(q / size): causal between blocks of `size` tokens, all to all
    inside one (Tian et al. 2024, VAR; Arriola et al. 2025, block diffusion)."""
    require(size >= 1, f"size must be 1 or more: {size}")
    return lambda q_idx, k_idx: causal(q_idx // size, k_idx // size)
