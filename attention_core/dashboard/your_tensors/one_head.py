"""One head in full: its weights, zoomed and named, and one query and cell of it exactly."""

from functools import partial

import streamlit as st
from torch import Tensor

from attention_core.dashboard import controls
from attention_core.dashboard.charts.chart import show, show_tables
from attention_core.dashboard.charts.heatmap import MARKED_CELLS
from attention_core.dashboard.charts.hidden_cells import hidden_cells
from attention_core.dashboard.your_tensors.one_query import query_chart, show_cell
from attention_core.dashboard.your_tensors.saved_view import keep_view
from attention_core.dashboard.your_tensors.selected_head import SelectedHead
from attention_core.dashboard.your_tensors.token_names import choose_names
from attention_core.dashboard.your_tensors.weights_map import dots_across, largest_at, weights_map


@st.fragment
def show_head(head: SelectedHead) -> None:
    """Zoom, names and cell; the picture; the numbers of the cell."""
    _, _, n_q, n_k = head.tensors.shape
    asking = st.container()
    queries, keys = st.columns(2)
    with queries:
        top, bottom = controls.span("Queries in view", n_q, key="own_rows")
    with keys:
        left, right = controls.span("Keys in view", n_k, key="own_columns")
    names = choose_names(n_q, n_k)
    with st.container(horizontal=True):
        i = controls.position("Look at query i", n_q, key="own_i", default=4, labels=names[0])
        j = controls.position("and key j", n_k, key="own_j", default=3, labels=names[1])

    weights = head.weights(slice(top, bottom + 1))[:, left : right + 1]
    click = "click a cell or choose one" if weights.numel() <= MARKED_CELLS else "choose a cell"
    asking.markdown(
        f"Which tokens does this head connect? Zoom in, name the tokens, and {click} for its exact "
        "numbers."
    )
    mask = None if head.mask is None else head.mask[top : bottom + 1, left : right + 1]
    row, column = largest_at(weights)
    where = f"head {head.h}" if head.tensors.shape[1] > 1 else "the head"
    chart = weights_map(
        weights,
        first=(top, left),
        chosen=(i, j),
        names=names,
        mask=mask,
        title=f"Weights of {where}",
        alt_text=f"Weights of {where} of batch element {head.b}: queries {top} to {bottom}, keys "
        f"{left} to {right}. The largest, {float(weights[row, column]):.3g}, is of query "
        f"{names[0](top + row)} on key {names[1](left + column)}.",
    )
    keep_view(weights, (top, left), (i, j), names)
    of_query = head.weights(slice(i, i + 1))[0]
    wide, narrow = st.columns([3, 2])
    with wide.container(key="own_weights_box"):
        show(chart, key="own_weights", on_select=partial(_choose_cell, top, left))
        _say_what_a_dot_is(bottom + 1 - top, right + 1 - left)
        _say_what_is_hidden(mask)
    with narrow:
        show(query_chart(of_query, i, names), key="own_query")
    show_cell(head, of_query, i, j)
    show_tables({"Weights in view": chart}, key="own_head_tables")


def _say_what_a_dot_is(n_rows: int, n_columns: int) -> None:
    high, wide = dots_across(n_rows), dots_across(n_columns)
    if max(high, wide) > 1:
        st.caption(
            f"One dot is the largest of {high} × {wide} weights. Zoom in to see them one by one."
        )


def _say_what_is_hidden(mask: Tensor | None) -> None:
    """What grey means, where there is any in view."""
    if mask is not None and not mask.all():
        crossed = mask.numel() <= MARKED_CELLS
        st.caption(hidden_cells(2 if crossed else MARKED_CELLS))


def _choose_cell(top: int, left: int) -> None:
    """A click on a cell moves the two selectors; the cells know their place in the view."""
    for cell in st.session_state["own_weights"]["selection"]["cell"]:
        st.session_state["own_i"], st.session_state["own_j"] = top + cell["i"], left + cell["j"]
