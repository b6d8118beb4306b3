"""The causal mask and what it does to the weights: charts, numbers, and the proof."""

from dataclasses import dataclass

import streamlit as st
from torch import Tensor

from attention_core.agreement import Agreement, compare, is_causal_difference
from attention_core.attention import AttentionSteps, attention_steps
from attention_core.dashboard import controls
from attention_core.dashboard.causal_masking.mask_story import (
    mask_charts,
    softmax_with_numbers,
    weights_heatmaps,
)
from attention_core.dashboard.charts.chart import Chart, show
from attention_core.dashboard.charts.hidden_cells import hidden_cells
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.panels.agreement import show_agreement, show_overflow
from attention_core.dashboard.panels.formula import formula
from attention_core.dashboard.tensors import MAX_N, cached_qkv
from attention_core.masks import causal, mask_tensor
from attention_core.measures import future_weight
from attention_core.trace import trace_steps

BATCH, D = 2, 8  # the lesson's


@dataclass(frozen=True, eq=False)
class CausalAttention:
    """The lesson's tensors, the mask (n, n), and all steps without it and with it."""

    n: int
    seed: int
    q: Tensor
    k: Tensor
    v: Tensor
    mask: Tensor
    unmasked: AttentionSteps
    masked: AttentionSteps
    agreement: Agreement

    @property
    def first(self) -> tuple[Tensor, Tensor, Tensor]:
        """q, k, v of the first sequence, the one in the charts."""
        return self.q[0], self.k[0], self.v[0]


def choose_sequence(settings: ComputeSettings) -> CausalAttention:
    """Two sliders, and everything that the page computes with the mask: once."""
    left, right = st.columns(2)
    with left:
        n = controls.slider("Sequence length", 1, MAX_N, 5, key="mask_n")
    with right:
        seed = controls.slider("Seed", 0, 99, 0, key="mask_seed")
    q, k, v = cached_qkv(BATCH, n, n, D, seed, settings.dtype, settings.device)
    mask = mask_tensor(causal, n, n, settings.device)
    masked, unmasked = attention_steps(q, k, v, mask[None]), attention_steps(q, k, v)
    agreement = compare(masked, q, k, v, mask[None])
    return CausalAttention(n, seed, q, k, v, mask, unmasked, masked, agreement)


def show_mask(found: CausalAttention, settings: ComputeSettings) -> dict[str, Chart]:
    """The mask in both forms, the weights without and with it, and the numbers that prove it."""
    masked, unmasked, n = found.masked, found.unmasked, found.n
    weights = weights_heatmaps(unmasked.weights[0], masked.weights[0], found.mask)
    charts = {**mask_charts(found.mask), **weights}
    for place, (name, chart) in zip((*st.columns(2), *st.columns(2)), charts.items(), strict=True):
        with place:
            show(chart, key=f"mask_{name}")
    st.markdown(
        f"Query 0 sees key 0 only, and gives it the weight {float(masked.weights[0, 0, 0]):g}, "
        f"whatever the score. Query {n - 1} sees {int(found.mask[-1].sum())} of {n} keys. The "
        f"pictures show the first of {BATCH} sequences, the numbers below hold for all. "
        f"{hidden_cells(n)}"
    )
    ahead, behind, fused = st.columns(3)
    free, bound = future_weight(unmasked.weights), future_weight(masked.weights)
    ahead.metric("Largest weight on a future key, unmasked", f"{free:.4f}")
    behind.metric("Largest weight on a future key, masked", f"{bound:g}")
    difference = is_causal_difference(masked.output, found.q, found.k, found.v)
    fused.metric("Max abs diff to is_causal=True", f"{difference:.2e}")
    show_overflow(masked.overflow, settings.dtype)
    show_agreement(masked.output.shape, found.agreement, settings.dtype)
    return charts


def show_one_row(found: CausalAttention) -> None:
    """One masked weight in numbers: its last key is in the future, if there is a future at all."""
    row = min(1, max(0, found.n - 2))
    formula(softmax_with_numbers(trace_steps(found.masked[0], *found.first, row, found.n - 1)))
