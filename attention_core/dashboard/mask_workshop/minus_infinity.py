"""−∞ beside a finite bias: how much weight each of them leaves far away, and how small it gets."""

import math

import streamlit as st
import torch
from torch import Tensor

from attention_core.attention import attention
from attention_core.biases import Bias, bias_tensor
from attention_core.dashboard.mask_workshop.current_mask import CurrentMask
from attention_core.measures import far_weight, largest_weight


def forbid_beyond(distance: int) -> Bias:
    """−∞ for keys more than `distance` away, 0 for the others: a mask, said as a bias."""
    return lambda q_idx, k_idx: torch.where((q_idx - k_idx).abs() > distance, -math.inf, 0.0)


def compare_with_minus_infinity(
    current: CurrentMask, mask: Tensor, plain: Tensor, biased: Tensor, distance: int
) -> None:
    """Share of weight beyond the distance: without, with the bias, and with −∞ out there."""
    n_q, n_k = mask.shape
    forbid = bias_tensor(forbid_beyond(distance), n_q, n_k, current.q.device, current.q.dtype)
    forbidden = attention(current.q, current.k, current.v, mask, bias=forbid)[1]
    shares = [far_weight(weights, distance) for weights in (plain, biased, forbidden)]
    names = ("without a bias", "with this bias", "with −∞ instead")
    for column, name, share in zip(st.columns(3), names, shares, strict=True):
        column.metric(f"Weight beyond {distance}, {name}", f"{100 * share:.3g} %")
    st.markdown(
        "Adding −∞ makes every weight out there exactly 0, whatever the scores. Under this bias, a "
        "score that is large enough can still win."
    )


def extremes_in_words(plain: Tensor, biased: Tensor, mask: Tensor, dtype: str) -> str:
    """The smallest weight (n_q, n_k) with the bias, and the largest without and with it."""
    before, after = (float(largest_weight(weights).max()) for weights in (plain, biased))
    largest = f"The largest weight goes from {before:.3f} to {after:.3f}."
    return f"{_smallest(biased[mask], dtype)} {largest}".strip()


def _smallest(weights: Tensor, dtype: str) -> str:
    """How small the weights (n,) get under a finite bias, and what the dtype makes of that."""
    if not weights.numel():
        return ""
    if gone := int((weights == 0).sum()):
        small = "1 weight is" if gone == 1 else f"{gone} weights are"
        return f"(Here {small} so small that {dtype} rounds to 0, which the formula does not.)"
    return f"The smallest weight here is {float(weights.min()):.2g}."
