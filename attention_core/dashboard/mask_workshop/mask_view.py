"""The mask in hand and the weights under it: pictures, how many pairs are visible, dead rows."""

import streamlit as st
from torch import Tensor

from attention_core.agreement import compare
from attention_core.attention import attention_steps
from attention_core.dashboard.charts.chart import Chart, show, show_tables
from attention_core.dashboard.charts.heatmap import MARKED_CELLS, heatmap
from attention_core.dashboard.charts.hidden_cells import hidden_cells
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.mask_workshop.current_mask import CurrentMask
from attention_core.dashboard.mask_workshop.painted_cells import exceptions_in_words
from attention_core.dashboard.panels.agreement import show_agreement, show_overflow
from attention_core.dashboard.words import listed

_NAMED = 5  # queries without a key are called by their number


def show_mask(current: CurrentMask, settings: ComputeSettings) -> Tensor:
    """What the mask lets through, and what attention makes of it; returns the weights."""
    steps = attention_steps(current.q, current.k, current.v, current.mask)
    charts = {
        "Mask": mask_chart(current.mask, "May query i attend to key j?", colour_bar=True),
        "Weights": _weights_chart(steps.weights, current.mask),
    }
    for place, (name, chart) in zip(st.columns(2), charts.items(), strict=True):
        with place:
            show(chart, key=f"work_{name.lower()}")
    if painted := exceptions_in_words(current.exceptions):
        st.markdown(f":material/brush: {painted}")
    visible, pairs = int(current.mask.sum()), current.mask.numel()
    shares = st.columns(3)
    shares[0].metric("Visible pairs", f"{visible} of {pairs}")
    shares[1].metric("Share of all pairs", f"{100 * visible / pairs:.1f} %")
    shares[2].metric("Queries without a key", f"{int((~current.mask.any(-1)).sum())}")
    st.markdown(f"{masked_rows_in_words(current.mask)} {_hidden(current.mask)}")
    show_overflow(steps.overflow, settings.dtype)
    agreement = compare(steps, current.q, current.k, current.v, current.mask)
    show_agreement(steps.output.shape, agreement, settings.dtype)
    show_tables(charts, key="work_tables")
    return steps.weights


def mask_chart(mask: Tensor, title: str, *, colour_bar: bool = False) -> Chart:
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


def masked_rows_in_words(mask: Tensor) -> str:
    """The queries that may attend to nothing, the first few by their number."""
    fully_masked = [str(int(i)) for i in (~mask.any(-1)).nonzero()]
    if not fully_masked:
        return "Every query may attend to at least one key."
    if len(fully_masked) > _NAMED:
        named = f"{', '.join(fully_masked[:_NAMED])} and {len(fully_masked) - _NAMED} more"
    else:
        named = listed(fully_masked)
    nothing = "may attend to nothing: "
    if len(fully_masked) == 1:
        return f"**Query {named}** {nothing}a *dead row*. Its weights and output are 0."
    return f"**Queries {named}** {nothing}*dead rows*. Their weights and output are 0."


def _weights_chart(weights: Tensor, mask: Tensor) -> Chart:
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
