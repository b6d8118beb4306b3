"""Bias instead of mask: the difference between adding minus infinity and adding a slope."""

import math
from collections.abc import Callable
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from attention_core.agreement import compare_with_torch
from attention_core.attention import attention, attention_steps
from attention_core.biases import (
    Bias,
    alibi,
    bias_tensor,
    far_weight,
    relative_bias,
    relative_bucket,
    soft_cap_bias,
)
from attention_core.dashboard import controls
from attention_core.dashboard.agreement_panel import show_agreement, show_overflow
from attention_core.dashboard.formula import formula
from attention_core.dashboard.frame import Setting
from attention_core.dashboard.heatmap import heatmap
from attention_core.dashboard.picture import Picture, show, show_tables
from attention_core.dashboard.source import show_source
from attention_core.dashboard.workshop import bias_kinds
from attention_core.dashboard.workshop.bias_kinds import ChosenBias
from attention_core.dashboard.workshop.in_hand import MaskInHand
from attention_core.measures import largest_weight

Choose = Callable[[MaskInHand, Tensor, int], ChosenBias]
KINDS: dict[str, tuple[Choose, tuple[Callable[..., Any], ...]]] = {
    "ALiBi slope": (bias_kinds.slope, (alibi, bias_tensor)),
    "T5 buckets": (bias_kinds.buckets, (relative_bucket, relative_bias)),
    "Soft cap": (bias_kinds.cap, (soft_cap_bias,)),
}


@st.fragment
def show_bias(hand: MaskInHand, setting: Setting) -> None:
    """One of three biases on the tensors in hand, beside −∞ for all that is further than d."""
    st.markdown(
        "A mask says yes or no. A **bias** is a number added to each score, so it can also say "
        "*less*. The mask is the special case with two numbers, 0 and −∞. *Predict first:* can a "
        "weight become exactly 0 by a bias that is not −∞?"
    )
    formula(r"\text{weights} = \text{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}} + B\right)")
    name = controls.segments("Bias", list(KINDS), key="work_bias_kind")
    far, kept = st.columns(2, vertical_alignment="bottom")
    with far:
        furthest = max(hand.mask.shape) - 1
        distance = controls.slider("Far is further than", 0, furthest, 2, key="work_bias_d")
    with kept:
        keep = controls.toggle("Keep the mask in hand as well", key="work_bias_masked")
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
    st.markdown(chosen.idea)
    _compare_with_minus_infinity(hand, mask, plain, steps.weights, distance, setting)
    show_overflow(steps.overflow, setting.dtype)
    agreement = compare_with_torch(hand.q, hand.k, hand.v, mask, bias=chosen.bias)
    show_agreement(steps.output, agreement, setting.dtype)
    show_tables({**pictures, **chosen.pictures}, key="work_bias_tables")
    show_source(*sources, attention_steps, key="work_bias_source")


def _compare_with_minus_infinity(
    hand: MaskInHand, mask: Tensor, plain: Tensor, biased: Tensor, distance: int, setting: Setting
) -> None:
    """Share of weight beyond the distance: without, with the bias, and with −∞ out there."""
    n_q, n_k = mask.shape
    device, dtype = hand.q.device, hand.q.dtype
    forbid = bias_tensor(forbid_beyond(distance), n_q, n_k, device, dtype)
    forbidden = attention(hand.q, hand.k, hand.v, mask, bias=forbid)[1]
    shares = [far_weight(weights, distance) for weights in (plain, biased, forbidden)]
    names = ("without a bias", "with this bias", "with −∞ instead")
    for column, name, share in zip(st.columns(3), names, shares, strict=True):
        column.metric(f"Weight beyond {distance}, {name}", f"{100 * share:.3g} %")
    largest = [float(largest_weight(weights).max()) for weights in (plain, biased)]
    st.markdown(
        "Adding −∞ makes every weight out there exactly 0, whatever the scores: the exponential of "
        "−∞ is 0. A finite bias never does: it multiplies the exponential by a number above 0, and "
        f"a score that is large enough can still win. {_smallest(biased[mask], setting.dtype)} The "
        f"largest weight goes from {largest[0]:.3f} to {largest[1]:.3f}."
    )


def forbid_beyond(distance: int) -> Bias:
    """−∞ for keys more than `distance` away, 0 for the others: a mask, said as a bias."""
    return lambda q_idx, k_idx: torch.where((q_idx - k_idx).abs() > distance, -math.inf, 0.0)


def _smallest(weights: Tensor, dtype: str) -> str:
    """How small the weights (n,) get under a finite bias, and what the dtype makes of that."""
    if not weights.numel():
        return ""
    if gone := int((weights == 0).sum()):
        small = "1 weight is" if gone == 1 else f"{gone} weights are"
        return f"(Here {small} so small that {dtype} rounds to 0, which the formula does not.)"
    return f"The smallest weight here is {float(weights.min()):.1e}."


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
