"""One look-up: what the query finds among the keys, as charts, in words, and why."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st
from torch import Tensor

from attention_core.agreement import compare
from attention_core.dashboard.charts.bars import bars
from attention_core.dashboard.charts.chart import Chart, show, show_tables
from attention_core.dashboard.charts.heatmap import heatmap
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.panels.agreement import show_agreement, show_overflow
from attention_core.dashboard.retrieval.choices import SHARPEST
from attention_core.dashboard.retrieval.findings import as_code, headline, reasons, verdict
from attention_core.dashboard.words import Tokens
from attention_core.devices import DTYPES
from attention_core.retrieval import Retrieval, blend, retrieve, vocabulary


@dataclass(frozen=True, eq=False)
class LookUp:
    """vocab  (n_tokens, n_tokens), one-hot times the sharpness
    query     (n_tokens,), the sum of the tokens asked for, each times its coefficient
    found     what it finds in the sequence
    """

    tokens: Tokens
    asked: Mapping[int, float]
    sharpness: float
    vocab: Tensor
    query: Tensor
    found: Retrieval

    @property
    def keys(self) -> Tensor:
        """Keys, and values too: the tokens of the sequence, (n_k, n_tokens)."""
        return self.vocab[list(self.tokens.sequence)]


def look_up(
    tokens: Tokens, asked: Mapping[int, float], sharpness: float, settings: ComputeSettings
) -> LookUp:
    """Ask for a blend of tokens. Raises ValueError where the numbers cannot be computed."""
    dtype = DTYPES[settings.dtype]
    vocab = vocabulary(len(tokens.names), sharpness, device=settings.device, dtype=dtype)
    query = blend(vocab, asked)
    return LookUp(tokens, asked, sharpness, vocab, query, retrieve(query, vocab, tokens.sequence))


def show_answer(asked: LookUp) -> dict[str, Chart]:
    """The weights in one row, weights and output as bars, and the token that comes back."""
    found, tokens = asked.found, asked.tokens
    seen = headline(found, tokens)
    says = verdict(found, tokens, asked.asked)
    positions = [tokens.position(j) for j in range(len(tokens.sequence))]
    row = heatmap(
        found.weights[None],
        title="Weights: one query, one row",
        alt_text=seen,
        rows="query",
        row_labels=["q"],
        column_labels=positions,
        height=150,
        colour_bar=False,
    )
    weights = bars(found.weights, positions, title="Weights", alt_text=seen)
    output = bars(
        found.output,
        [tokens.token(token) for token in range(len(asked.vocab))],
        title="Output = weights · V",
        alt_text=f"Output, one entry for each token. {says}",
        y="entry",
        x="token",
        limit=SHARPEST,
    )
    show(row, key="ret_row")
    for place, chart, key in zip(
        st.columns(2, gap="large"), (weights, output), ("w", "o"), strict=True
    ):
        with place:
            show(chart, key=f"ret_{key}_bars")
    with st.container(border=True):
        st.markdown("**What comes back?** The token with the largest entry in the output.")
        st.text(says)
        if not asked.query.any():
            st.caption("The query is the zero vector: it asks for nothing in particular.")
    return {"Weights": weights, "Output": output}


def show_reasons(asked: LookUp, charts: dict[str, Chart], settings: ComputeSettings) -> None:
    """Dot, score and weight of every key; the proof; the code."""
    steps = asked.found.steps
    st.markdown(
        f"Equal dots give equal weights, and the softmax turns a lead of a few points in the score "
        f"into almost everything. Here scale = 1/√{len(asked.vocab)} = {steps.scale:.4f}."
    )
    st.dataframe(
        reasons(asked.found, asked.tokens),
        hide_index=True,
        column_config={"weight": st.column_config.TextColumn(alignment="right")},
        alt="How each key came to its weight",
    )
    show_overflow(steps.overflow, settings.dtype)
    agreement = compare(steps, asked.query, asked.keys, asked.keys)
    show_agreement(steps.output.shape, agreement, settings.dtype)
    show_tables(charts, key="ret_tables")
    with st.expander("The code that ran", icon=":material/code:"):
        code = as_code(asked.sharpness, asked.tokens, asked.asked)
        st.code(code, language="python", wrap_lines=True)
        for function in (vocabulary, blend, retrieve):
            st.code(inspect.getsource(function), language="python", wrap_lines=True)
