"""What a tensor file held: q, k, v of several heads, or their finished weights."""

from dataclasses import dataclass

import torch
from torch import Tensor

from attention_core.checks import broadcast
from attention_core.dashboard.your_tensors.tensor_files.limits import (
    MAX_HEADS,
    MAX_POSITIONS,
    MAX_WEIGHTS,
    refuse_unless,
)

Shape = tuple[int, int, int, int]  # batch, heads, n_q, n_k


@dataclass(frozen=True, eq=False)
class Projections:
    """q (batch, heads, n_q, d_k), k (batch, heads, n_k, d_k), v (batch, heads, n_k, d_v), and
    which pairs the file's own mask allows, (batch, heads, n_q, n_k), None for all."""

    q: Tensor
    k: Tensor
    v: Tensor
    allowed: Tensor | None

    @classmethod
    def of(cls, q: Tensor, k: Tensor, v: Tensor, allowed: Tensor | None) -> "Projections":
        """With two to four dimensions each, leading ones that broadcast; nothing is copied."""
        leading = broadcast(*(t.shape[:-2] for t in (q, k, v))) or torch.Size()
        heads = (1, 1, *leading)[-2:]
        q, k, v = (t.expand(*heads, *t.shape[-2:]) for t in (q, k, v))
        if allowed is not None:
            allowed = allowed.expand(*heads, q.shape[-2], k.shape[-2])
        return cls(q, k, v, allowed)

    @property
    def shape(self) -> Shape:
        """(batch, heads, n_q, n_k)"""
        batch, heads, n_q, _ = self.q.shape
        return batch, heads, n_q, self.k.shape[-2]


@dataclass(frozen=True, eq=False)
class Weights:
    """weights (batch, heads, n_q, n_k), computed elsewhere."""

    weights: Tensor

    @classmethod
    def of(cls, weights: Tensor) -> "Weights":
        """With two to four dimensions; nothing is copied."""
        return cls(weights[(None,) * (4 - weights.ndim)])

    @property
    def shape(self) -> Shape:
        """(batch, heads, n_q, n_k)"""
        batch, heads, n_q, n_k = self.weights.shape
        return batch, heads, n_q, n_k


Loaded = Projections | Weights


def require_sizes(shape: Shape) -> None:
    """Refuse more positions, heads or weights than can be shown. Raises TensorFileError."""
    batch, heads, n_q, n_k = shape
    refuse_unless(
        max(n_q, n_k) <= MAX_POSITIONS,
        f"There are {n_q:,} queries and {n_k:,} keys: the limit here is {MAX_POSITIONS:,} each. "
        "Please save a part of the sequence.",
    )
    refuse_unless(
        batch * heads <= MAX_HEADS,
        f"There are {batch:,} × {heads:,} heads: the limit here is {MAX_HEADS} in all.",
    )
    refuse_unless(
        batch * heads * n_q * n_k <= MAX_WEIGHTS,
        f"{batch} × {heads} heads of {n_q:,} × {n_k:,} weights are more than "
        f"{MAX_WEIGHTS // 10**6} million in all, the limit here: please save fewer heads.",
    )
