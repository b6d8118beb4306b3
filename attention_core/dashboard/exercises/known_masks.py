"""Masks that people write for a centred window of three keys, and what each overlooks."""

import torch
from torch import Tensor

from attention_core.masks import (
    Mask,
    all_of,
    bidirectional,
    causal,
    dilated,
    local,
    mask_tensor,
    negate,
    sliding_window,
)

N = 6  # tokens, few enough to paint
TARGET = local(3)


def wrapped(q_idx: Tensor, k_idx: Tensor) -> Tensor:
    """(k - q + 1) mod N <= 2: the window of three, bent into a ring."""
    return (k_idx - q_idx + 1) % N <= 2


# They say what a rule does, not what it is called: that would be the answer. No brackets: the names
# stand in the URL, and brackets in a URL break colours in an SVG.
RULES: dict[str, Mask] = {
    "Its own key and the two before": sliding_window(3),
    "Its own key and all before": causal,
    "Distance at most 2": local(5),
    "Distance at most 1": TARGET,
    "Distance 0 or 2": dilated(3, 2),
    "Distance 2 or more": negate(TARGET),
}
MISTAKES: tuple[tuple[Mask, str], ...] = (
    (
        sliding_window(3),
        "Three keys, but all of them behind: that is a window that looks back. A centred window "
        "has one neighbour on each side.",
    ),
    (
        causal,
        "This hides the future and keeps all of the past. A window is about distance, not about "
        "time: it hides what is far on either side.",
    ),
    (
        local(5),
        "Two neighbours on each side make five keys. Width 3 counts the query's own position too.",
    ),
    (
        local(7),
        "Three neighbours on each side make seven keys. The width is the number of keys, not the "
        "distance to the farthest one.",
    ),
    (local(1), "Each query sees itself alone here: that is width 1."),
    (
        dilated(3, 2),
        "Three keys, but with gaps: the neighbours at distance 1 are left out, and those at "
        "distance 2 are in.",
    ),
    (
        negate(TARGET),
        "Upside down: True, a painted cell, means *may* attend. This allows what should be hidden.",
    ),
    (
        all_of(TARGET, causal),
        "Half of the window: itself and the past neighbour. Without a causal mask the neighbour "
        "ahead belongs to it too.",
    ),
    (
        all_of(TARGET, negate(local(1))),
        "Both neighbours, but not the query's own position, which is the centre of its window.",
    ),
    (
        wrapped,
        "The window is cut off at the ends of the sequence, it does not go round: the first and "
        "the last query have two keys only.",
    ),
    (bidirectional, "Every query sees every key: that is attention without a mask."),
    (
        negate(bidirectional),
        "No query may attend to anything, so every weight and every output would be 0.",
    ),
)


def mistake(mask: Tensor) -> str:
    """The sentence for a mask (N, N) that is known to be wrong, "" for one that is not known."""
    for rule, sentence in MISTAKES:
        if torch.equal(mask.cpu(), mask_tensor(rule, N, N)):
            return sentence
    return ""
