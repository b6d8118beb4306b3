"""More queries than keys, and fewer: top-left against bottom-right, and why a cache needs one."""

import streamlit as st
import torch
from torch import Tensor

from attention_core.agreement import compare, is_causal_difference
from attention_core.attention import AttentionSteps, attention_steps
from attention_core.dashboard import controls
from attention_core.dashboard.charts.chart import show, show_tables
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.export.page_export import keep_section
from attention_core.dashboard.export.weight_files import Matrix
from attention_core.dashboard.mask_workshop.alignment_charts import (
    last_rows_chart,
    weights_heatmap,
)
from attention_core.dashboard.mask_workshop.alignment_question import predict_alignment
from attention_core.dashboard.mask_workshop.conventions_notebook import alignment_section
from attention_core.dashboard.mask_workshop.current_mask import CurrentMask
from attention_core.dashboard.mask_workshop.mask_view import masked_rows_in_words
from attention_core.dashboard.panels.source import show_source
from attention_core.dashboard.tensors import cached_qkv
from attention_core.decoding import decode
from attention_core.masks import causal, causal_bottom_right, mask_tensor

MOST, D = 12, 8
TASK = (
    "*Causal* means: no key after the query. With as many queries as keys, that is one triangle. "
    "With more of one than of the other there are two, and both are in use. **Top-left**: query 0 "
    "and key 0 stand at the same place, the sequences *start* together. **Bottom-right**: the last "
    "query and the last key stand at the same place, they *end* together."
)


@st.fragment
def show_alignment(current: CurrentMask, settings: ComputeSettings) -> None:
    """The two causal masks of n_q queries and n_k keys, each against the whole causal result."""
    st.markdown(TASK)
    if not predict_alignment():
        return
    queries, keys = st.columns(2)
    with queries:
        n_q = controls.slider("Queries here, n_q", 1, MOST, 3, key="work_align_nq")
    with keys:
        n_k = controls.slider("Keys here, n_k", 1, MOST, 5, key="work_align_nk")
    n = max(n_q, n_k)
    tokens = cached_qkv(1, n, n, D, current.seed, settings.dtype, settings.device)
    whole_q, whole_k, whole_v = (tensor[0] for tensor in tokens)
    q, k, v = whole_q[-n_q:], whole_k[-n_k:], whole_v[-n_k:]  # both end with the last token
    masks = {
        "Top-left": mask_tensor(causal, n_q, n_k, settings.device),
        "Bottom-right": mask_tensor(causal_bottom_right(n_q, n_k), n_q, n_k, settings.device),
    }
    steps = {name: attention_steps(q, k, v, mask) for name, mask in masks.items()}
    charts = {name: weights_heatmap(name, steps[name].weights, masks[name]) for name in masks}
    full = attention_steps(whole_q, whole_k, whole_v, mask_tensor(causal, n, n, settings.device))
    if n_q <= n_k:
        charts["Whole sequence"] = last_rows_chart(full.weights[-n_q:], n)
    for place, (name, chart) in zip(st.columns(len(charts)), charts.items(), strict=True):
        with place:
            show(chart, key=f"work_align_{name}")
    keep_section(
        alignment_section(TASK, n_q, n_k),
        {f"Weights, {name.lower()}": Matrix(found.weights) for name, found in steps.items()},
    )
    _show_who_sees_what(masks)
    if n_q <= n_k:
        tolerance = compare(steps["Bottom-right"], q, k, v, masks["Bottom-right"]).tolerance
        decoded = torch.cat([step.output for step in decode(whole_q, whole_k, whole_v)])
        _tell_of_the_cache(steps, full.output[-n_q:], decoded[-n_q:], tolerance)
    else:
        _tell_of_dropped_keys(masks["Bottom-right"])
    difference = is_causal_difference(steps["Top-left"].output, q, k, v)
    st.markdown(
        "In PyTorch, `is_causal=True` is top-left (largest difference to the left picture's output "
        f"{difference:.2g}); bottom-right has a name of its own, "
        "`causal_lower_right`. In FlashAttention, `causal=True` is bottom-right since version 2.1. "
        "So look it up each time, or write the mask yourself."
    )
    show_tables(charts, key="work_align_tables")
    show_source(causal, causal_bottom_right, decode, key="work_align_source")


def _show_who_sees_what(masks: dict[str, Tensor]) -> None:
    n_q, n_k = masks["Top-left"].shape
    first, last = (
        [f"**{int(mask[i].sum())} of {n_k}**" for mask in masks.values()] for i in (0, -1)
    )
    says = f"Query 0 sees {first[0]} keys top-left and {first[1]} bottom-right."
    if n_q > 1:
        says += f" The last query, query {n_q - 1}, sees {last[0]} and {last[1]}."
    if n_q == n_k:
        says += " With as many queries as keys the two are the same mask."
    st.markdown(says)


def _tell_of_the_cache(
    steps: dict[str, AttentionSteps], full: Tensor, decoded: Tensor, tolerance: float
) -> None:
    """Which of the two gives the rows (n_q, d_v) of the whole causal result?"""
    n_q, n_k = steps["Top-left"].weights.shape
    cached = n_k - n_q
    new = f"token {n_k - 1} arrives" if n_q == 1 else f"tokens {cached} to {n_k - 1} arrive"
    queries = "1 new query" if n_q == 1 else f"{n_q} new queries"
    st.markdown(
        f"**Why a cache needs bottom-right.** A model has read {cached} of {n_k} tokens; their "
        "keys and values wait in a cache, their queries are no longer needed. Now "
        f"{new}: {queries}, {n_k} keys. The answer must be the same as if all tokens had been "
        "computed at once."
    )
    left, right = (float((steps[name].output - full).abs().max()) for name in steps)
    one_by_one = float((steps["Bottom-right"].output - decoded).abs().max())
    columns = st.columns(3)
    columns[0].metric("Top-left: max abs diff to the whole", f"{left:.3g}")
    columns[1].metric("Bottom-right: max abs diff to the whole", f"{right:.3g}")
    columns[2].metric("Bottom-right to one token at a time", f"{one_by_one:.3g}")
    verdicts = " ".join(
        f"{':green[:material/check_circle:]' if off <= tolerance else ':red[:material/error:]'} "
        f"{name} {'gives' if off <= tolerance else 'does **not** give'} these rows."
        for name, off in zip(steps, (left, right), strict=True)
    )
    st.markdown(
        f"{verdicts} Rounding explains differences up to {tolerance:.1e}."
        + (
            " With n_q = 1, the usual step of writing, top-left shows the new token only the very "
            "first key."
            if n_q == 1 < n_k
            else ""
        )
    )


def _tell_of_dropped_keys(mask: Tensor) -> None:
    n_q, n_k = mask.shape
    st.markdown(
        f"**More queries than keys**: {n_q} tokens, and only the last {n_k} keys were kept. "
        f"Bottom-right keeps everyone at their place, so the first {n_q - n_k} queries come before "
        f"every key. {masked_rows_in_words(mask)} Top-left gives every query a key, but at the "
        f"wrong places: query 0 gets the key of token {n_q - n_k}, from its own future."
    )
