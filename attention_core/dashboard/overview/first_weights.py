"""The first picture of the lesson: the weights of its five tokens, the largest one framed."""

import streamlit as st

from attention_core.attention import AttentionSteps, attention_steps
from attention_core.dashboard.charts.chart import show
from attention_core.dashboard.charts.heatmap import heatmap
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.tensors import cached_qkv


def show_first_weights(settings: ComputeSettings) -> AttentionSteps:
    """Draw them, and say which weight is the largest."""
    q, k, v = cached_qkv(2, 5, 5, 8, 0, settings.dtype, settings.device)
    steps = attention_steps(q[0], k[0], v[0])
    i, j = divmod(int(steps.weights.argmax()), steps.weights.shape[-1])
    largest = f"Query {i} puts {100 * steps.weights[i, j].item():.0f} % of its weight on key {j}"
    show(
        heatmap(
            steps.weights,
            title="Who attends to whom: the lesson's five tokens",
            alt_text=f"Attention weights of five tokens. {largest}, the largest weight of all.",
            chosen=(i, j),
        ),
        key="overview_weights",
    )
    st.caption(f"Rows are queries and ask, columns are keys and answer. {largest}: why?")
    return steps
