"""The causal mask in its two forms, what it does to the weights, and why its zeros are exact."""

import math

import streamlit as st
import torch
from torch import Tensor

from attention_core.dashboard.charts.chart import Chart
from attention_core.dashboard.charts.heatmap import heatmap
from attention_core.dashboard.controls.url_state import hides_solutions
from attention_core.measures import future_weight
from attention_core.trace import CellTrace

_SHOWN_TERMS = 3  # as many exponentials are spelled out in the formula


def mask_charts(mask: Tensor) -> dict[str, Chart]:
    """The mask (n, n) as what a query may attend to, and as what is added to the scores."""
    hidden = int((~mask).sum())
    pairs = f"{int(mask.sum())} of {mask.numel()} pairs"
    added = torch.zeros(mask.shape).masked_fill(~mask.cpu(), -math.inf)
    return {
        "May attend": heatmap(
            mask,
            title="May query i attend to key j? 1 or 0",
            alt_text=f"The causal mask: {pairs} are 1, on and below the diagonal; "
            f"the {hidden} above it are 0.",
            colour_bar=False,
        ),
        "Added": heatmap(
            added,
            title="What is added to the score: 0 or −∞",
            alt_text=f"The same mask as numbers to add: {pairs} are 0, "
            f"the {hidden} above the diagonal are minus infinity.",
            scale="signed",
            limit=1.0,
            colour_bar=False,
        ),
    }


def weights_heatmaps(unmasked: Tensor, masked: Tensor, mask: Tensor) -> dict[str, Chart]:
    """The weights (n, n) of one sequence without and with the mask (n, n)."""
    free, bound = future_weight(unmasked), future_weight(masked)
    return {
        "Weights without the mask": heatmap(
            unmasked,
            title="Weights without the mask",
            alt_text=f"Weights without the mask: the largest on a future key is {free:.3f}.",
        ),
        "Weights with the mask": heatmap(
            masked,
            title="Weights with the mask",
            alt_text=f"Weights with the mask: the largest on a future key is {bound:g}; "
            "the cells above the diagonal are hidden.",
            mask=mask,
        ),
    }


def softmax_with_numbers(trace: CellTrace) -> str:
    """The softmax of one masked row in LaTeX: its exponentials, and the weight of one key."""
    terms = ["0" if term == 0 else f"{term:.3f}" for term in trace.exponentials.tolist()]
    if len(terms) > _SHOWN_TERMS:
        terms = [*terms[:_SHOWN_TERMS], r"\cdots"]
    exponential = float(trace.exponentials[trace.j])
    score = r"-\infty" if trace.j > trace.i else rf"s_{{{trace.i},{trace.j}}}"
    total = rf"\sum_j e^{{s_{{{trace.i},j}} - m}}"
    return (
        r"\begin{aligned}"
        rf"w_{{{trace.i},{trace.j}}} &= \frac{{e^{{{score} - m}}}}{{{total}}} \\ "
        rf"&= \frac{{{exponential:g}}}{{{' + '.join(terms)}}} = {trace.weight:g}"
        r"\end{aligned}"
    )


def why_before_the_softmax() -> None:
    """A question with its answer folded away, if the link shows answers."""
    if hides_solutions():
        return
    with st.expander("A question: why not set the weights to 0 after the softmax?"):
        st.markdown(
            "Because the hidden scores would already be in the sum that divides the row. The rows "
            "would no longer sum to 1, and each weight would still change with the future: what "
            "was hidden would leak through the denominator. Masking *before* the softmax leaves "
            "no trace."
        )
