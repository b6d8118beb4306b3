"""The retrieval demo of exercise 1: its tokens, what a blend of two of them finds, as a picture."""

import streamlit as st
from torch import Tensor

from attention_core.dashboard.charts.bars import bars
from attention_core.dashboard.charts.chart import show
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.exercises.digits import percent
from attention_core.devices import DTYPES
from attention_core.retrieval import Retrieval, blend, retrieve, vocabulary

VOCABULARY, SHARPNESS = 6, 5.0
SEQUENCE = tuple(range(5))
FIRST, SECOND = 2, 4
OTHERS = [j for j in SEQUENCE if j not in (FIRST, SECOND)]
LABELS = [f"{j} · token {token}" for j, token in enumerate(SEQUENCE)]


def tokens(settings: ComputeSettings, sharpness: float = SHARPNESS) -> Tensor:
    """All six one-hot tokens, (6, 6)."""
    return vocabulary(VOCABULARY, sharpness, device=settings.device, dtype=DTYPES[settings.dtype])


def ask(
    settings: ComputeSettings, first: float, second: float, sharpness: float = SHARPNESS
) -> Retrieval:
    """What the query first * token 2 + second * token 4 finds in the sequence."""
    vocab = tokens(settings, sharpness)
    return retrieve(blend(vocab, {FIRST: first, SECOND: second}), vocab, SEQUENCE)


def show_weights(found: Retrieval, *, key: str) -> None:
    """The weights as bars, and what was retrieved."""
    shares = [percent(weight, found.weights.dtype) for weight in found.weights.tolist()]
    says = ", ".join(f"{share} on key {j}" for j, share in enumerate(shares))
    show(bars(found.weights, LABELS, title="Weights", alt_text=f"Weights: {says}."), key=key)
    token = "nothing, several tokens share the largest entry of the output"
    st.markdown(f"Retrieved: **{token if found.token is None else f'token {found.token}'}**.")
