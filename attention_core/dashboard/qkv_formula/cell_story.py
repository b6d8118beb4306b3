"""The story of one weight: from the products of q and k to its share of the output."""

import streamlit as st
import torch

from attention_core.dashboard.charts.chart import show, show_tables
from attention_core.dashboard.charts.heatmap import heatmap
from attention_core.dashboard.panels.formula import formula
from attention_core.trace import CellTrace


def show_cell_story(trace: CellTrace, q: torch.Tensor, k: torch.Tensor, *, key: str) -> None:
    """Three steps, each a formula with its real numbers and a picture. q and k are one head."""
    i, j, d_k, n_k = trace.i, trace.j, len(trace.products), len(trace.exponentials)

    st.markdown(
        f"**1. Compare.** Multiply query {i} and key {j} entry by entry, and add up. Divided by "
        f"√{d_k}, this is the score."
    )
    formula(rf"q_{{{i}}} \cdot k_{{{j}}} \approx {_number(trace.dot)}")
    formula(
        rf"\text{{score}} = \frac{{{_number(trace.dot)}}}{{\sqrt{{{d_k}}}}}"
        rf" \approx {_number(trace.score)}"
    )
    products = heatmap(
        torch.stack([q[i], k[j], trace.products]),
        title=f"Query {i}, key {j} and their products",
        alt_text=f"Query {i}, key {j} and the products of their entries, which add up to "
        f"{trace.dot:.4g}.",
        scale="signed",
        rows="",
        columns="dimension",
        row_labels=["query", "key", "product"],
        height=190,
        colour_bar=False,
    )
    show(products, key=f"{key}_products")

    st.markdown(
        f"**2. Share out.** Query {i} has {n_k} such {'scores' if n_k > 1 else 'score'}. "
        "Take the exponential of each, and divide by their sum. (The largest score, "
        f"m = {trace.largest:.4g}, is taken away first: the shares stay the same, and nothing "
        "overflows.)"
    )
    formula(
        rf"\text{{weight}} = \frac{{e^{{{_number(trace.score)} - m}}}}"
        r"{\sum_j e^{s_j - m}} \approx "
        rf"\frac{{{_number(float(trace.exponentials[j]))}}}{{{_number(trace.total)}}} \approx "
        rf"{_number(trace.weight)}"
    )
    shares = heatmap(
        torch.stack([trace.exponentials, trace.weights]),
        title=f"Exponentials and weights of query {i}",
        alt_text=f"The exponentials of all {n_k} scores of query {i} and the weights they become; "
        f"key {j} gets {trace.weight:.4g}.",
        rows="",
        row_labels=["exponential", "weight"],
        chosen=(1, j),
        height=160,
        colour_bar=False,
    )
    show(shares, key=f"{key}_shares")

    st.markdown(
        f"**3. Mix.** The weight scales value {j}; the scaled values of all keys add up to "
        f"output {i}."
    )
    others = (r"\dots + ", r" + \dots") if n_k > 1 else ("", "")
    term = rf"{_number(trace.weight)} \cdot v_{{{j}}}"
    formula(rf"\text{{output}}_{{{i}}} \approx {term.join(others)}")
    mixed = heatmap(
        torch.stack([trace.contribution, trace.output]),
        title=f"What key {j} contributes to output {i}",
        alt_text=f"Value {j} times {trace.weight:.4g}, above the whole output of query {i}.",
        scale="signed",
        rows="",
        columns="dimension",
        row_labels=[f"from key {j}", f"output {i}"],
        height=160,
        colour_bar=False,
    )
    show(mixed, key=f"{key}_mixed")
    show_tables(
        {"Products": products, "Shares": shares, "Contribution": mixed}, key=f"{key}_story_tables"
    )


def _number(x: float) -> str:
    """The number as LaTeX, four significant digits."""
    mantissa, _, exponent = f"{x:.4g}".partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa
