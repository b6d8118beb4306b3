"""Bias instead of mask: the difference between adding minus infinity and adding a slope."""

from collections.abc import Callable
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from attention_core.agreement import compare
from attention_core.attention import attention, attention_steps
from attention_core.biases import (
    alibi,
    bias_tensor,
    relative_bias,
    relative_bucket,
    soft_cap_bias,
)
from attention_core.dashboard import controls
from attention_core.dashboard.charts.chart import Chart, show, show_tables
from attention_core.dashboard.charts.heatmap import heatmap
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.export import page_export
from attention_core.dashboard.export.notebook_section import displayed
from attention_core.dashboard.export.weight_files import Matrix
from attention_core.dashboard.mask_workshop import bias_kinds
from attention_core.dashboard.mask_workshop.bias_kinds import ChosenBias
from attention_core.dashboard.mask_workshop.bias_notebook import bias_section, finite_section
from attention_core.dashboard.mask_workshop.current_mask import CurrentMask
from attention_core.dashboard.mask_workshop.minus_infinity import (
    compare_with_minus_infinity,
    extremes_in_words,
    forbid_beyond,
)
from attention_core.dashboard.panels.agreement import show_agreement, show_overflow
from attention_core.dashboard.panels.formula import formula
from attention_core.dashboard.panels.source import show_source
from attention_core.dashboard.questions.ask import check, choose
from attention_core.dashboard.questions.question import Question
from attention_core.dashboard.questions.verdict import judged

FINITE = Question("work_bias_guess", at_once=True)
WHY_NOT_ZERO = (
    "A finite bias multiplies the exponential of a score by a number above 0, so in the formula "
    "its weight can get small, but not 0. Only the exponential of −∞ is 0."
)
CAP, FAR = "Soft cap", 2
Choose = Callable[[CurrentMask, Tensor, int], ChosenBias]
KINDS: dict[str, tuple[Choose, tuple[Callable[..., Any], ...]]] = {
    "ALiBi slope": (bias_kinds.slope, (alibi, bias_tensor)),
    "T5 buckets": (bias_kinds.buckets, (relative_bucket, relative_bias)),
    CAP: (bias_kinds.cap, (soft_cap_bias,)),
}
TASK = (
    "A mask says yes or no. A **bias** is a number added to each score, so it can also say *less*. "
    "The mask is the special case with two numbers, 0 and −∞."
)
ASKED = (
    "Predict first: calculated exactly, without rounding, can a bias of finite numbers make a "
    "weight 0?"
)
TEX = r"\text{weights} = \text{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}} + B\right)"


def exact_zeros(current: CurrentMask) -> int:
    """How many weights a steep, finite bias makes 0 in the formula, whatever rounding does: those
    whose score is −∞."""
    n_q, n_k = current.mask.shape
    slope = bias_tensor(alibi(bias_kinds.STEEPEST), n_q, n_k).to(current.q)
    steps = attention_steps(current.q, current.k, current.v, bias=slope)
    return int(steps.masked_scores.isneginf().sum())


@st.fragment
def show_bias(current: CurrentMask, settings: ComputeSettings) -> None:
    """One of three biases on the tensors in hand, and what it does that −∞ would not."""
    st.markdown(TASK)
    formula(TEX)
    task = f"{TASK}\n\n{ASKED}"
    page_export.keep_section(finite_section(task))
    answer = choose(FINITE, ASKED, ("Yes", "No"))
    if answer is None:
        return
    guess = str(answer.guess)
    zeros = exact_zeros(current)
    right = "Yes" if zeros else "No"
    verdict = check(
        FINITE,
        answer,
        judged(guess == right, "" if zeros else WHY_NOT_ZERO),
        said=guess,
        result=f"under the steepest slope {zeros} of {current.mask.numel()} weights have a score "
        "of −∞, of which alone the exponential is 0",
    )
    page_export.keep_section(finite_section(task, guess, verdict))
    name = controls.segments("Bias", list(KINDS), key="work_bias_kind")
    furthest = max(current.mask.shape) - 1
    distance = min(FAR, furthest)
    if name != CAP:  # which knows nothing of distances
        st.markdown("**How much weight goes far away?** Say what is far:")
        distance = controls.slider(
            "Call a key far from a distance above", 0, furthest, FAR, key="work_bias_d"
        )
    keep = controls.toggle("Apply the mask of my rule too", key="work_bias_masked")
    mask = current.mask if keep else torch.ones_like(current.mask)
    draw, sources = KINDS[name]
    chosen = draw(current, mask, distance)
    plain = attention(current.q, current.k, current.v, mask)[1]
    steps = attention_steps(current.q, current.k, current.v, mask, bias=chosen.bias)
    charts = {
        "Bias": _bias_chart(chosen.bias, mask),
        "Without": _weights_chart("Weights without the bias", plain, mask),
        "With": _weights_chart("Weights with the bias", steps.weights, mask),
    }
    for place, (key, chart) in zip(st.columns(3), charts.items(), strict=True):
        with place:
            show(chart, key=f"work_bias_{key}")
    for key, chart in chosen.charts.items():
        show(chart, key=f"work_bias_{key}")
    page_export.keep_section(
        bias_section(
            (displayed(TEX), chosen.idea),
            chosen.recipe,
            far=None if name == CAP else distance,
            keep_mask=keep,
            uses=(forbid_beyond,),
        ),
        {"Weights with the bias": Matrix(steps.weights)},
    )
    st.markdown(chosen.idea)
    if name != CAP:
        compare_with_minus_infinity(current, mask, plain, steps.weights, distance)
    st.markdown(extremes_in_words(plain, steps.weights, mask, settings.dtype))
    show_overflow(steps.overflow, settings.dtype)
    agreement = compare(steps, current.q, current.k, current.v, mask, bias=chosen.bias)
    show_agreement(steps.output.shape, agreement, settings.dtype)
    show_tables({**charts, **chosen.charts}, key="work_bias_tables")
    show_source(*sources, attention_steps, key="work_bias_source")


def _bias_chart(bias: Tensor, mask: Tensor) -> Chart:
    seen = bias[mask] if mask.any() else bias
    return heatmap(
        bias,
        title="What is added to each score",
        alt_text=f"The bias of each pair, from {float(seen.min()):.2f} to {float(seen.max()):.2f}.",
        scale="signed",
        mask=mask,
    )


def _weights_chart(title: str, weights: Tensor, mask: Tensor) -> Chart:
    return heatmap(
        weights,
        title=title,
        alt_text=f"{title}: the largest is {float(weights.max()):.3f}.",
        mask=mask,
    )
