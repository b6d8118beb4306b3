"""Tensors that several learners share: cached on the selected device, bounded, never written to."""

import streamlit as st
from torch import Tensor

from attention_core.devices import DTYPES
from attention_core.sampling import sample_qkv

MAX_BATCH, MAX_N, MAX_D = 4, 128, 128  # one entry takes at most 0.8 MB in float32


@st.cache_resource(max_entries=32, show_spinner=False)
def cached_qkv(
    batch: int, n_q: int, n_k: int, d_k: int, seed: int, dtype: str, device: str
) -> tuple[Tensor, Tensor, Tensor]:
    """The lesson's random Q, K, V; d_v = d_k. Keyed by plain values, as every cache here.

    Shapes: Q (batch, n_q, d_k), K and V (batch, n_k, d_k). Do not write to them: every learner
    who chose the same sizes holds the same three tensors.
    """
    return sample_qkv(batch, n_q, d_k, n_k=n_k, seed=seed, device=device, dtype=DTYPES[dtype])
