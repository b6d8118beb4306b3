"""The mask in hand and the weights under it: pictures, how many pairs are visible, dead rows."""

import streamlit as st
from torch import Tensor

from attention_core.agreement import compare_with_torch
from attention_core.attention import attention_steps
from attention_core.dashboard.agreement_panel import show_agreement, show_overflow
from attention_core.dashboard.causal_story import hidden_cells
from attention_core.dashboard.frame import Setting
from attention_core.dashboard.heatmap import MARKED_CELLS, heatmap
from attention_core.dashboard.picture import Picture, show, show_tables
from attention_core.dashboard.words import listed
from attention_core.dashboard.workshop.in_hand import MaskInHand
from attention_core.dashboard.workshop.painted_cells import exceptions_in_words

_NAMED = 5  # queries without a key are called by their number


def show_mask(hand: MaskInHand, setting: Setting) -> Tensor:
    """What the mask lets through, and what attention makes of it; returns the weights."""
    steps = attention_steps(hand.q, hand.k, hand.v, hand.mask)
    pictures = {
        "Mask": mask_picture(hand.mask, "May query i attend to key j?", colour_bar=True),
        "Weights": _weights_picture(steps.weights, hand.mask),
    }
    for place, (name, picture) in zip(st.columns(2), pictures.items(), strict=True):
        with place:
            show(picture, key=f"work_{name.lower()}")
    if painted := exceptions_in_words(hand.exceptions):
        st.markdown(f":material/brush: {painted}")
    visible, pairs = int(hand.mask.sum()), hand.mask.numel()
    shares = st.columns(3)
    shares[0].metric("Visible pairs", f"{visible} of {pairs}")
    shares[1].metric("Share of all pairs", f"{100 * visible / pairs:.1f} %")
    shares[2].metric("Queries without a key", f"{int((~hand.mask.any(-1)).sum())}")
    st.markdown(f"{dead_rows_in_words(hand.mask)} {_hidden(hand.mask)}")
    show_overflow(steps.overflow, setting.dtype)
    agreement = compare_with_torch(hand.q, hand.k, hand.v, hand.mask)
    show_agreement(steps.output, agreement, setting.dtype)
    show_tables(pictures, key="work_tables")
    return steps.weights


def mask_picture(mask: Tensor, title: str, *, colour_bar: bool = False) -> Picture:
    """The mask (n_q, n_k) as a heatmap, each query's keys in its alt text while they are few."""
    heading = title if title.endswith("?") else f"{title}."
    seen = f"{heading} {int(mask.sum())} of {mask.numel()} pairs may."
    rows = " ".join(keys_in_words(i, row) for i, row in enumerate(mask)) if len(mask) <= 13 else ""
    return heatmap(
        mask.float(),
        title=title,
        alt_text=f"{seen} {rows}".strip(),
        mask=mask,
        colour_bar=colour_bar,
    )


def keys_in_words(i: int, row: Tensor) -> str:
    """Which keys one query sees: `Query 3: keys 2 and 3.`"""
    keys = [str(int(j)) for j in row.nonzero()]
    if not keys:
        return f"Query {i}: no key."
    return f"Query {i}: key{'s' * (len(keys) > 1)} {listed(keys)}."


def dead_rows_in_words(mask: Tensor) -> str:
    """The queries that may attend to nothing, the first few by their number."""
    dead = [str(int(i)) for i in (~mask.any(-1)).nonzero()]
    if not dead:
        return "Every query may attend to at least one key."
    if len(dead) > _NAMED:
        named = f"{', '.join(dead[:_NAMED])} and {len(dead) - _NAMED} more"
    else:
        named = listed(dead)
    nothing = "may attend to nothing: "
    if len(dead) == 1:
        return f"**Query {named}** {nothing}a *dead row*. Its weights and output are 0."
    return f"**Queries {named}** {nothing}*dead rows*. Their weights and output are 0."


def _weights_picture(weights: Tensor, mask: Tensor) -> Picture:
    i, j = divmod(int(weights.argmax()), weights.shape[-1])
    largest = f"The largest is {weights.max().item():.3f}, of query {i} on key {j}."
    return heatmap(
        weights,
        title="Weights under the mask",
        alt_text=f"Weights under the mask. {largest if mask.any() else 'All are 0.'}",
        mask=mask,
    )


def _hidden(mask: Tensor) -> str:
    """What the marks mean, where there are any."""
    if mask.all():
        return ""
    if mask.numel() <= MARKED_CELLS:
        return hidden_cells(2)
    return hidden_cells(MARKED_CELLS)  # so many in a row that cells are hatched
