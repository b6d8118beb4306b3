"""What one query looks at: the keys that it gives the most, and one cell in exact numbers."""

import streamlit as st
from torch import Tensor

from attention_core.attention import attention_steps
from attention_core.dashboard.charts.bars import bars
from attention_core.dashboard.charts.chart import Chart
from attention_core.dashboard.your_tensors.computing import head_of
from attention_core.dashboard.your_tensors.selected_head import SelectedHead
from attention_core.dashboard.your_tensors.tensor_files.loaded import Projections
from attention_core.dashboard.your_tensors.weights_map import Name

MOST_KEYS = 12  # of one query, as bars


def query_chart(weights: Tensor, i: int, names: tuple[Name, Name]) -> Chart:
    """The keys that one query gives the most, as bars."""
    any_weight = max(1, int((weights > 0).sum()))
    most = weights.topk(min(MOST_KEYS, any_weight))
    labels = [names[1](int(key)) for key in most.indices]
    return bars(
        most.values,
        labels,
        title=f"Where query {i} looks most",
        alt_text=f"The largest weights of query {names[0](i)}: {float(most.values[0]):.3g} on key "
        f"{labels[0]}; {len(labels) - 1} more follow.",
        decimals=3,
    )


def show_cell(head: SelectedHead, of_query: Tensor, i: int, j: int) -> None:
    """The exact numbers of one cell."""
    weight, share, rank = st.columns(3)
    weight.metric(f"Weight of query {i} on key {j}", f"{float(of_query[j]):.9g}")
    larger = int((of_query > of_query[j]).sum())
    rank.metric("Keys with a larger weight", f"{larger} of {len(of_query)}")
    if isinstance(head.tensors, Projections):
        q, k, v = head_of(head.tensors, head.b, head.h, head.settings)
        mask = None if head.mask is None else head.mask[i : i + 1]
        steps = attention_steps(q[i : i + 1], k, v, mask)
        hidden = mask is not None and not bool(mask[0, j])
        share.metric("Score", f"{float(steps.scores[0, j]):.6g}{' (hidden)' if hidden else ''}")
    else:
        share.metric(f"Row sum of query {i}", f"{float(of_query.double().sum()):.6g}")
