"""Masks as one-line answers to: may the query at q_idx attend to the key at k_idx?

A mask is a function of two tensors of positions that broadcast against each other, and answers
with booleans, True = may attend. Factories carry parameters, combinators put masks together, and
`mask_tensor` draws one as a matrix, rows are queries and columns are keys.

>>> mask_tensor(all_of(causal, local(3)), 4, 4).int()
tensor([[1, 0, 0, 0],
        [1, 1, 0, 0],
        [0, 1, 1, 0],
        [0, 0, 1, 1]], dtype=torch.int32)
"""

from collections.abc import Callable, Iterable, Sequence
from functools import reduce

import torch
from torch import Tensor

from attention_core.checks import as_boolean, broadcast, require

Mask = Callable[[Tensor, Tensor], Tensor]


def bidirectional(q_idx: Tensor, k_idx: Tensor) -> Tensor:
    """Every query may attend to every key (Devlin et al. 2018, BERT)."""
    return torch.ones_like(q_idx + k_idx, dtype=torch.bool)


def causal(q_idx: Tensor, k_idx: Tensor) -> Tensor:
    """k <= q: a query sees itself and the past (Vaswani et al. 2017, section 3.2.3).

    For n_q != n_k the two sequences start together: top-left, as PyTorch's `is_causal`.
    """
    return k_idx <= q_idx


def causal_bottom_right(n_q: int, n_k: int) -> Mask:
    """k <= q + n_k - n_q: the two sequences end together, as with a cache of n_k - n_q keys
    (PyTorch's `causal_lower_right`)."""
    require(min(n_q, n_k) >= 0, f"n_q and n_k must not be negative: n_q={n_q}, n_k={n_k}")
    return lambda q_idx, k_idx: k_idx <= q_idx + (n_k - n_q)


def local(width: int) -> Mask:
    """|q - k| <= (width - 1)/2: a centred window of `width` keys, an odd number
    (Beltagy et al. 2020, Longformer, section 3.1)."""
    _require_odd(width)
    return lambda q_idx, k_idx: (q_idx - k_idx).abs() <= width // 2


def sliding_window(width: int) -> Mask:
    """0 <= q - k < width: the last `width` keys, the query's own position included
    (Jiang et al. 2023, Mistral 7B, section 2)."""
    require(width >= 1, f"width must be 1 or more: {width}")
    return lambda q_idx, k_idx: (k_idx <= q_idx) & (q_idx - k_idx < width)


def prefix_lm(prefix: int) -> Mask:
    """k < prefix or k <= q: all see the first `prefix` keys, the rest is causal
    (Raffel et al. 2020, T5, section 3.2.1)."""
    require(prefix >= 0, f"prefix must not be negative: {prefix}")
    return lambda q_idx, k_idx: (k_idx < prefix) | (k_idx <= q_idx)


def document(lengths: Sequence[int]) -> Mask:
    """Documents packed one after the other: a query sees the keys of its own document only
    (Krell et al. 2021, sequence packing).

    Positions past the last document are padding and attend to nothing.
    """
    whole = len(lengths) > 0 and all(type(n) is int and n >= 1 for n in lengths)
    require(whole, f"lengths must be whole numbers, 1 or more: {lengths}")
    ends = torch.tensor(lengths).cumsum(0)

    def number(idx: Tensor) -> Tensor:  # of the document: how many have ended before idx
        return (idx.unsqueeze(-1) >= ends.to(idx.device)).sum(-1)

    return lambda q_idx, k_idx: (number(q_idx) == number(k_idx)) & (number(q_idx) < len(ends))


def dilated(width: int, step: int) -> Mask:
    """A centred window of `width` keys, an odd number, that stand `step` apart
    (Beltagy et al. 2020, Longformer, section 3.1). dilated(width, 1) is local(width)."""
    _require_odd(width)
    require(step >= 1, f"step must be 1 or more: {step}")
    return lambda q_idx, k_idx: (
        ((q_idx - k_idx).abs() <= width // 2 * step) & ((q_idx - k_idx) % step == 0)
    )


def grid_neighbourhood(columns: int, width: int) -> Mask:
    """Positions are the cells of a grid, row by row: a query sees the `width` x `width` square
    round its own cell (Parmar et al. 2018, Image Transformer; Hassani et al. 2023, NAT)."""
    near = local(width)
    require(columns >= 1, f"columns must be 1 or more: {columns}")
    return lambda q_idx, k_idx: (
        near(q_idx // columns, k_idx // columns) & near(q_idx % columns, k_idx % columns)
    )


def all_of(*masks: Mask) -> Mask:
    """Allowed where every mask allows; of no masks at all, everywhere."""
    return lambda q, k: reduce(torch.logical_and, (m(q, k) for m in masks), bidirectional(q, k))


def any_of(*masks: Mask) -> Mask:
    """Allowed where at least one mask allows; of no masks at all, nowhere."""
    return negate(all_of(*map(negate, masks)))


def negate(mask: Mask) -> Mask:
    """Allowed where the mask forbids."""
    return lambda q_idx, k_idx: ~mask(q_idx, k_idx)


def mask_tensor(mask: Mask, n_q: int, n_k: int, device: torch.device | str = "cpu") -> Tensor:
    """The mask as a boolean (n_q, n_k) matrix: [i, j] = may query i attend to key j?"""
    require(min(n_q, n_k) >= 0, f"n_q and n_k must not be negative: n_q={n_q}, n_k={n_k}")
    q_idx = torch.arange(n_q, device=device).unsqueeze(1)  # (n_q, 1)
    k_idx = torch.arange(n_k, device=device).unsqueeze(0)  # (1, n_k)
    answer = mask(q_idx, k_idx)
    dtype = getattr(answer, "dtype", type(answer))
    require(dtype == torch.bool, f"a mask must answer with a boolean tensor: it answers {dtype}")
    wanted = torch.Size([n_q, n_k])
    fits = broadcast(answer.shape, wanted) == wanted
    require(fits, f"a mask must answer with (n_q, n_k): {tuple(answer.shape)}, {tuple(wanted)}")
    return answer.expand(n_q, n_k).clone()


def flip_cells(mask: Tensor, cells: Iterable[tuple[int, int]]) -> Tensor:
    """A copy of the mask (n_q, n_k) with the answer turned round at the cells (i, j)."""
    n_q, n_k = mask.shape
    result = mask.clone()
    for i, j in set(cells):
        inside = 0 <= i < n_q and 0 <= j < n_k
        require(inside, f"cells must be (i, j) of the mask ({n_q}, {n_k}): {(i, j)}")
        result[i, j] = ~result[i, j]
    return result


def reachable(mask: Tensor, layers: int) -> Tensor:
    """Which inputs (columns) can reach which positions (rows) through `layers` layers of a mask?

    The boolean power mask^layers, (n, n). Zero layers: each position holds its own input only.
    Residual connections are left out; they change nothing where each position attends to itself.
    """
    square = mask.ndim == 2 and mask.shape[0] == mask.shape[1]
    require(square, f"mask must be square, (n, n): {tuple(mask.shape)}")
    require(layers >= 0, f"layers must not be negative: {layers}")
    step = as_boolean(mask).float()
    seen = torch.eye(len(mask), device=mask.device)
    for _ in range(layers):
        seen = (step @ seen > 0).float()
    return seen.bool()


def _require_odd(width: int) -> None:
    require(width >= 1 and width % 2 == 1, f"width must be odd, to have a centre: {width}")
