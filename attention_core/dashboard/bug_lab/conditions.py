"""The conditions that a specimen is looked at under: sizes, mask, seed, dtype."""

from dataclasses import dataclass

import streamlit as st
import torch
from torch import Tensor

from attention_core.dashboard import controls
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.tensors import cached_qkv
from attention_core.masks import causal, mask_tensor

NO_MASK, CAUSAL, PADDING, BOTH, MASKED_ROW = MASKS = (
    "No mask",
    "Causal",
    "Padding",
    "Causal and padding",
    "One dead row",
)
MOST_TOKENS = MOST_SEQUENCES = 8  # as many sequences as tokens must be possible


@dataclass(frozen=True)
class Conditions:
    """Plain values; `inputs` makes the tensors from them."""

    batch: int
    heads: int
    n: int
    d_k: int
    mask: str
    seed: int
    dtype: str
    device: str

    def inputs(self) -> tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None]:
        """q, k, v (batch, heads, n, d_k), mask (n, n) or None, padding (batch, n) or None."""
        drawn = cached_qkv(
            *(self.batch * self.heads, self.n, self.n, self.d_k),
            *(self.seed, self.dtype, self.device),
        )
        q, k, v = (t.view(self.batch, self.heads, self.n, self.d_k) for t in drawn)
        return q, k, v, self._mask(), self._padding()

    def _mask(self) -> Tensor | None:
        if self.mask in (CAUSAL, BOTH):
            return mask_tensor(causal, self.n, self.n, self.device)
        if self.mask == MASKED_ROW:
            return mask_tensor(
                lambda q_idx, k_idx: (q_idx != self.masked_row).expand(-1, self.n),
                *(self.n, self.n, self.device),
            )
        return None

    def _padding(self) -> Tensor | None:
        """Sequence b ends 1 + b tokens early, but has one token at least."""
        if self.mask not in (PADDING, BOTH):
            return None
        lengths = (self.n - 1 - torch.arange(self.batch)).clamp(min=1)
        return (torch.arange(self.n) < lengths.unsqueeze(-1)).to(self.device)

    @property
    def masked_row(self) -> int:
        """The query that may attend to nothing under the mask of that name."""
        return self.n // 2


def choose_conditions(settings: ComputeSettings) -> Conditions:
    """The controls; each with what it is the answer to."""
    st.markdown(
        "A *head* is one of several attentions that run side by side, each with its own q, k and "
        "v; *d_model* is the width of all heads together. A *batch* is several sequences computed "
        "at once; *padding* fills up the shorter ones."
    )
    st.markdown(
        "Does the specimen work with several heads, with several sequences, with wide and narrow "
        "heads? And does it obey the mask? *Causal* forbids the future; *Padding* forbids the "
        "padding tokens: sequences 0, 1, 2, … end 1, 2, 3, … tokens early; *One dead row* lets one "
        "query attend to nothing at all, and the others to everything."
    )
    mask = controls.segments(
        "Mask",
        MASKS,
        key="lab_mask",
        default=MASKS.index(CAUSAL),
        help="Which pairs of query and key are forbidden?",
    )
    places = [*st.columns(3), *st.columns(3)]
    with places[0]:
        batch = controls.slider(
            "Sequences in the batch",
            *(1, MOST_SEQUENCES, 2),
            key="lab_batch",
            help="Does it work with one sequence, with several, with as many as tokens?",
        )
    with places[1]:
        heads = controls.slider(
            "Heads",
            *(1, 4, 1),
            key="lab_heads",
            help="Does it know the width of one head, d_k, from that of all, d_model = heads × "
            "d_k?",
        )
    with places[2]:
        n = controls.slider(
            "Tokens in a sequence", *(2, MOST_TOKENS, 5), key="lab_n", help="How long are they?"
        )
    with places[3]:
        d_k = controls.slider(
            "Width of a head, d_k",
            *(1, 64, 8),
            key="lab_d",
            help="How does it behave when dot products become large, or are of one term only?",
        )
    with places[4]:
        seed = controls.slider(
            "Seed", 0, 99, 0, key="lab_seed", help="Is it the same with other random q, k and v?"
        )
    with places[5]:
        st.markdown(
            f"Number format (dtype): **{settings.dtype}**. To change it, open *Computation* in the "
            "menu on the left."
        )
    return Conditions(batch, heads, n, d_k, mask, seed, settings.dtype, settings.device)
