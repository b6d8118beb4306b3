"""Bias instead of mask: the difference between adding minus infinity and adding a slope."""

from collections.abc import Callable
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from attention_core.agreement import compare_with_torch
from attention_core.attention import attention, attention_steps
from attention_core.biases import (
    alibi,
    bias_tensor,
    relative_bias,
    relative_bucket,
    soft_cap_bias,
)
from attention_core.dashboard import controls, take_away
from attention_core.dashboard.agreement_panel import show_agreement, show_overflow
from attention_core.dashboard.chapter import displayed
from attention_core.dashboard.formula import formula
from attention_core.dashboard.frame import Setting
from attention_core.dashboard.gate import predict_first
from attention_core.dashboard.heatmap import heatmap
from attention_core.dashboard.notebooks.workshop_bias import bias_chapter, finite_chapter
from attention_core.dashboard.picture import Picture, show, show_tables
from attention_core.dashboard.source import show_source
from attention_core.dashboard.weight_files import Matrix
from attention_core.dashboard.workshop import bias_kinds
from attention_core.dashboard.workshop.bias_kinds import ChosenBias
from attention_core.dashboard.workshop.in_hand import MaskInHand
from attention_core.dashboard.workshop.minus_infinity import (
    compare_with_minus_infinity,
    extremes_in_words,
    forbid_beyond,
)

CAP, FAR = "Soft cap", 2
Choose = Callable[[MaskInHand, Tensor, int], ChosenBias]
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


@st.fragment
def show_bias(hand: MaskInHand, setting: Setting) -> None:
    """One of three biases on the tensors in hand, and what it does that −∞ would not."""
    st.markdown(TASK)
    formula(TEX)
    task = f"{TASK}\n\n{ASKED}"
    take_away.keep(finite_chapter(task))
    guess = predict_first(ASKED, ("Yes", "No"), key="work_bias_guess")
    if guess is None:
        return
    verdict = (
        f"{'**Right.**' if guess == 'No' else '**Not quite.**'} A finite bias multiplies the "
        "exponential of a score by a number above 0, so in the formula its weight can get small, "
        "but not 0. Only the exponential of −∞ is 0."
    )
    st.markdown(verdict)
    take_away.keep(finite_chapter(task, guess, verdict))
    name = controls.segments("Bias", list(KINDS), key="work_bias_kind")
    furthest = max(hand.mask.shape) - 1
    distance = min(FAR, furthest)
    if name != CAP:  # which knows nothing of distances
        st.markdown("**How much weight goes far away?** Say what is far:")
        distance = controls.slider(
            "Call a key far from a distance above", 0, furthest, FAR, key="work_bias_d"
        )
    keep = controls.toggle("Apply the mask of my rule too", key="work_bias_masked")
    mask = hand.mask if keep else torch.ones_like(hand.mask)
    choose, sources = KINDS[name]
    chosen = choose(hand, mask, distance)
    plain = attention(hand.q, hand.k, hand.v, mask)[1]
    steps = attention_steps(hand.q, hand.k, hand.v, mask, bias=chosen.bias)
    pictures = {
        "Bias": _bias_picture(chosen.bias, mask),
        "Without": _weights_picture("Weights without the bias", plain, mask),
        "With": _weights_picture("Weights with the bias", steps.weights, mask),
    }
    for place, (key, picture) in zip(st.columns(3), pictures.items(), strict=True):
        with place:
            show(picture, key=f"work_bias_{key}")
    for key, picture in chosen.pictures.items():
        show(picture, key=f"work_bias_{key}")
    take_away.keep(
        bias_chapter(
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
        compare_with_minus_infinity(hand, mask, plain, steps.weights, distance)
    st.markdown(extremes_in_words(plain, steps.weights, mask, setting.dtype))
    show_overflow(steps.overflow, setting.dtype)
    agreement = compare_with_torch(hand.q, hand.k, hand.v, mask, bias=chosen.bias)
    show_agreement(steps.output, agreement, setting.dtype)
    show_tables({**pictures, **chosen.pictures}, key="work_bias_tables")
    show_source(*sources, attention_steps, key="work_bias_source")


def _bias_picture(bias: Tensor, mask: Tensor) -> Picture:
    seen = bias[mask] if mask.any() else bias
    return heatmap(
        bias,
        title="What is added to each score",
        alt_text=f"The bias of each pair, from {float(seen.min()):.2f} to {float(seen.max()):.2f}.",
        scale="signed",
        mask=mask,
    )


def _weights_picture(title: str, weights: Tensor, mask: Tensor) -> Picture:
    return heatmap(
        weights,
        title=title,
        alt_text=f"{title}: the largest is {float(weights.max()):.3f}.",
        mask=mask,
    )
