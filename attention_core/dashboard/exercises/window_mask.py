"""Exercise 3, first part: build the mask of a local window, and be told the first wrong cell."""

import inspect
from functools import partial

import streamlit as st
import torch
from torch import Tensor

from attention_core.agreement import compare
from attention_core.attention import attention_steps
from attention_core.dashboard.charts.chart import Chart, show
from attention_core.dashboard.charts.heatmap import heatmap
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.exercises.known_masks import TARGET, N, mistake
from attention_core.dashboard.exercises.local_window_notebook import window_mask_section
from attention_core.dashboard.exercises.paint_mask import build_mask, mask_chart
from attention_core.dashboard.export.page_export import keep_section
from attention_core.dashboard.panels.agreement import show_agreement
from attention_core.dashboard.panels.formula import formula
from attention_core.dashboard.panels.wrong_cells import first_wrong_cell, wrong_cells
from attention_core.dashboard.questions.ask import check, predict
from attention_core.dashboard.questions.question import Question
from attention_core.dashboard.questions.verdict import Verdict, judged
from attention_core.dashboard.tensors import cached_qkv
from attention_core.masks import local, mask_tensor

MASK = Question(
    "ex_window_mask",
    (
        "Which keys are at most one step away from query 2?",
        "The width counts the query's own position: itself and one neighbour on each side.",
        "Query 0 has no neighbour before it, so it sees keys 0 and 1. Query 1 sees 0, 1 and 2.",
    ),
)
TASK = (
    f"Image models and long-text models often let a query attend only to what is near. Build "
    f"the mask of a **local window of width 3** for {N} tokens, centred on the query, past and "
    "future alike. Rows are queries, columns are keys, and a cell that is on may be attended "
    "to. Grey cells with ✕ are hidden."
)


def show_window_mask(settings: ComputeSettings) -> bool:
    """Paint the mask or pick its rule, then compare it with the target cell by cell."""
    st.markdown(TASK)
    section = partial(window_mask_section, MASK.title, TASK)
    keep_section(section())
    answer = predict(MASK, lambda locked: build_mask(settings, locked))
    if answer is None:
        return False
    target = mask_tensor(TARGET, N, N, device=settings.device)
    mask = answer.guess
    verdict = check(
        MASK,
        answer,
        Verdict(None, "")
        if mask is None
        else judged(torch.equal(mask, target), feedback(mask, target)),
        said="" if mask is None else _said(mask),
        result=f"{int(target.sum())} of {N * N} cells are on, one band round the diagonal",
    )
    keep_section(section(mask, verdict))
    see, learn = st.columns(2, gap="large")
    with see:
        if mask is not None:
            show(_difference(mask, target), key="ex_window_difference")
        show(mask_chart(target, "The local window of width 3"), key="ex_window_target")
    with learn:
        st.markdown("**Why.** The rule is one line, a distance of at most half the width:")
        formula(r"|i - j| \le \tfrac{3 - 1}{2} = 1")
        st.code(inspect.getsource(local), language="python", wrap_lines=True)
        q, k, v = (
            tensor[0] for tensor in cached_qkv(1, N, N, 8, 0, settings.dtype, settings.device)
        )
        steps = attention_steps(q, k, v, target)
        outside = steps.weights[~target].max().item()
        st.markdown(f"In attention the largest weight outside the window is **{outside:g}**.")
    agreement = compare(steps, q, k, v, target)
    show_agreement(steps.output.shape, agreement, settings.dtype)
    return True


def feedback(mask: Tensor, target: Tensor) -> str:
    """The first wrong cell by name, how many there are, and the usual reason if it is known."""
    if torch.equal(mask, target):
        return "Every cell agrees. Inside, each query has three keys; at the ends two."
    return f"{wrong_cells(mask, target)} {mistake(mask)}".strip()


def _said(mask: Tensor) -> str:
    on = int(mask.sum())
    return f"a mask with {on} of {N * N} cells on"


def _difference(mask: Tensor, target: Tensor) -> Chart:
    cell = first_wrong_cell(mask, target)
    where = "nowhere" if cell is None else f"first at query {cell[0]}, key {cell[1]}"
    return heatmap(
        mask.float() - target.float(),
        title="Wrong cells: 1 too much, −1 missing",
        alt_text=f"Your mask and the target differ {where}.",
        scale="signed",
        limit=1.0,
        chosen=cell,
    )
