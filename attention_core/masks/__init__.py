"""Masks as answers to: may the query at q_idx attend to the key at k_idx?"""

from attention_core.masks.basic import (
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

__all__ = [
    "GALLERY",
    "GalleryMask",
    "Mask",
    "MaskCosts",
    "all_of",
    "any_of",
    "bidirectional",
    "block_causal",
    "causal",
    "causal_bottom_right",
    "dilated",
    "document",
    "flip_cells",
    "global_local",
    "grid_neighbourhood",
    "local",
    "mask_costs",
    "mask_tensor",
    "negate",
    "prefix_lm",
    "reachable",
    "sink_window",
    "sliding_window",
]
