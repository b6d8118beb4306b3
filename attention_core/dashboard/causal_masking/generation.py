"""Generate: attention as a decoder runs it, one position at a time, step by step on screen."""

import streamlit as st
import torch
from torch import Tensor

from attention_core.attention import AttentionSteps
from attention_core.dashboard import controls
from attention_core.dashboard.causal_masking.notebook import generation_section
from attention_core.dashboard.charts.chart import Chart, show, show_tables
from attention_core.dashboard.charts.heatmap import heatmap
from attention_core.dashboard.export.page_export import keep_section
from attention_core.dashboard.panels.source import show_source
from attention_core.dashboard.tensors import cached_qkv
from attention_core.decoding import KVCache, decode

TASK = (
    "A model that writes text has no future to hide: it has not been written yet. At each step "
    "one query, one key and one value are new; the keys and values of the past wait in a "
    "**cache**. So no mask is needed here. Step through the positions: which keys exist, and "
    "is each step the same as its row of the full, masked result?"
)


@st.cache_resource(max_entries=16, show_spinner=False)
def cached_decoding(
    batch: int, n: int, d: int, seed: int, dtype: str, device: str
) -> tuple[AttentionSteps, ...]:
    """Every step of decoding element 0 of the random sequences; at most 0.2 MB in float32."""
    q, k, v = (x[0] for x in cached_qkv(batch, n, n, d, seed, dtype, device))
    return tuple(decode(q, k, v))


@st.fragment
def generate(k: Tensor, steps: tuple[AttentionSteps, ...], full: Tensor, tolerance: float) -> None:
    """Step through the positions with a cache; `full` (n, d_v) is the masked output of all rows."""
    st.markdown(f"{TASK} Grey cells stand for what does not exist at that step.")
    t = _choose_step(len(steps), key="mask_t")
    keep_section(generation_section(TASK, t))
    charts = {
        "Keys in the cache": _cache(k, t),
        "Weights so far": _weights(steps, t),
        "Output": _output(steps[t].output[0], full[t], t),
    }
    for column, (name, chart) in zip(st.columns(3), charts.items(), strict=True):
        with column:
            show(chart, key=f"mask_step_{name}")
    _show_differences(steps, full, t, tolerance)
    show_tables(charts, key="mask_step_tables")
    show_source(KVCache.append, decode, key="mask_step_source")


def _choose_step(n: int, *, key: str) -> int:
    """The position to generate, from 0 to n - 1: a slider between Previous and Next."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container():
            t = controls.slider("Position t", 0, n - 1, 2, key=key)
        for name, by, icon in (("Previous", -1, "arrow_back"), ("Next", 1, "arrow_forward")):
            st.button(
                name,
                icon=f":material/{icon}:",
                key=f"{key}_{name.lower()}",
                disabled=not 0 <= t + by < n,
                on_click=_go_to,
                args=(key, t + by),
            )
    return t


def _go_to(key: str, t: int) -> None:
    st.session_state[key] = t


def _show_differences(
    steps: tuple[AttentionSteps, ...], full: Tensor, t: int, tolerance: float
) -> None:
    """How far step t, and all steps, are from their rows of the full result (n, d_v)."""
    n = len(steps)
    distances = (torch.cat([step.output for step in steps]) - full).abs().amax(-1)  # (n,)
    largest = float(distances.max())
    exist, here, everywhere = st.columns(3)
    exist.metric("Keys in the cache", f"{t + 1} of {n}")
    here.metric(f"Max abs diff of step {t} to row {t}", f"{distances[t]:.2e}")
    everywhere.metric("The same, over all steps", f"{largest:.2e}")
    verdict = (
        ":green[:material/check_circle:] Every step equals its row of the full result"
        if largest <= tolerance
        else ":red[:material/error:] Some steps do **not** equal their row of the full result"
    )
    st.markdown(f"{verdict}, where rounding explains differences up to {tolerance:.1e}.")


def _cache(k: Tensor, t: int) -> Chart:
    """The keys (n, d) that are in the cache at step t; the later ones do not exist yet."""
    n = len(k)
    exists = (torch.arange(n) <= t).unsqueeze(1).expand(k.shape)
    return heatmap(
        k,
        title="Keys in the cache",
        alt_text=f"Step {t}: {t + 1} of {n} keys are in the cache; {n - t - 1} do not exist yet.",
        scale="signed",
        limit=3.0,
        rows="key j",
        columns="dimension",
        mask=exists,
    )


def _weights(steps: tuple[AttentionSteps, ...], t: int) -> Chart:
    """The weights of steps 0..t, each as long as the cache was then, in a square of all steps."""
    n = len(steps)
    rows = torch.zeros(n, n)
    for i, step in enumerate(steps[: t + 1]):
        rows[i, : i + 1] = step.weights[0]
    largest, at = steps[t].weights[0].max(dim=0)
    return heatmap(
        rows,
        title="Weights so far, one row per step",
        alt_text=f"The weights of {t + 1} of {n} steps, up to step {t}. Step {t} puts the "
        f"most, {float(largest):.2f}, on key {int(at)}.",
        rows="step = query i",
        mask=(torch.arange(n) <= t).unsqueeze(1) & torch.ones(n, n).tril().bool(),
    )


def _output(step: Tensor, full: Tensor, t: int) -> Chart:
    """The output of step t, (d,), above row t of the full causal result, and their difference."""
    three = torch.stack([step, full, step - full])
    return heatmap(
        three,
        title=f"Step {t} beside the full result",
        alt_text=f"Output of step {t} and row {t} of the full causal result: they differ by "
        f"{float(three[2].abs().max()):.2e} at most.",
        scale="signed",
        limit=3.0,
        rows="",
        columns="dimension",
        row_labels=[f"step {t}", f"row {t}", "difference"],
    )
