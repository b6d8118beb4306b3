"""Biases: numbers added to the scores, where a mask only allows or forbids.

A bias is a function of two tensors of positions that broadcast against each other, as a mask is,
and answers with numbers. `bias_tensor` draws one as a matrix, for `attention(..., bias=)`.

>>> bias_tensor(alibi(0.5), 2, 4)
tensor([[ 0.0000, -0.5000, -1.0000, -1.5000],
        [-0.5000,  0.0000, -0.5000, -1.0000]])
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from attention_core.checks import broadcast, require

Bias = Callable[[Tensor, Tensor], Tensor]


def alibi(slope: float) -> Bias:
    """-slope * |q - k|: the further a key is, the lower its score
    (Press et al. 2022, ALiBi, section 3).

    For the keys up to the query this is the paper's bias. The paper's models are causal, so it says
    nothing about later keys; here they are as far as earlier ones. A bias hides nothing: a model
    that must not see the future needs the causal mask as well.
    """
    require(0 <= slope < math.inf, f"slope must be a finite number, 0 or more: {slope}")
    return lambda q_idx, k_idx: (q_idx - k_idx).abs().neg().double() * slope


def alibi_slopes(heads: int) -> tuple[float, ...]:
    """One slope per head: 2^(-8/n), 2^(-16/n), ... for n heads, n a power of 2
    (Press et al. 2022, section 3).

    Else, as in the paper's code: the slopes for the next lower power of 2, then every other one
    of those for twice as many heads, from the first, until there are enough.
    """
    require(heads >= 1, f"heads must be 1 or more: {heads}")
    n = 1 << (heads.bit_length() - 1)  # the largest power of 2 up to heads
    return _geometric(n) + _geometric(2 * n)[::2][: heads - n]


def relative_bucket(
    distance: Tensor, buckets: int = 32, max_distance: int = 128, bidirectional: bool = True
) -> Tensor:
    """The bucket, 0 to buckets - 1, of each distance k - q (Raffel et al. 2020, T5, section 2.1).

    The scheme of T5's code. Bidirectional: the first half of the buckets is for keys up to the
    query, the second for later ones; else all are for keys up to the query, and later ones share
    bucket 0. Of n buckets, the first n/2 hold one distance each; the others grow like powers, up to
    max_distance; the last holds all beyond. A distance on the edge of two belongs to the upper one.
    """
    sides = 2 if bidirectional else 1
    n, exact = buckets // sides, buckets // sides // 2
    rule = f"buckets must be a multiple of {sides}, {2 * sides} or more: {buckets}"
    require(buckets % sides == 0 and exact >= 1, rule)
    far = f"max_distance must be more than {exact}, the distances with buckets of their own"
    require(max_distance > exact, f"{far}: {max_distance}")

    later = distance > 0
    size = distance.abs() if bidirectional else distance.clamp(max=0).neg()
    # On the CPU, as not every device has float64: in float32 edges could fall to either side.
    ratio = (size.clamp(min=exact).cpu().double() / exact).log() / math.log(max_distance / exact)
    grown = exact + (ratio * (n - exact) + 1e-9).long().to(distance.device)
    bucket = torch.where(size < exact, size, grown.clamp(max=n - 1))
    return bucket + later * n if bidirectional else bucket


def relative_bias(table: Tensor, max_distance: int = 128, bidirectional: bool = True) -> Bias:
    """table[bucket of k - q]: a learned number for each distance (Raffel et al. 2020, section 2.1).

    table (buckets,): the numbers of one head, see `relative_bucket`. T5 itself uses scale 1.
    """
    require(table.ndim == 1, f"table must be (buckets,), of one head: {tuple(table.shape)}")
    relative_bucket(torch.zeros(1), len(table), max_distance, bidirectional)  # refuse bad sizes now
    return lambda q_idx, k_idx: table.to(q_idx.device)[
        relative_bucket(k_idx - q_idx, len(table), max_distance, bidirectional)
    ]


def soft_cap(scores: Tensor, cap: float) -> Tensor:
    """cap * tanh(scores / cap): nearly the score while it is small, and never beyond cap
    (Gemma 2, 2024, section 2)."""
    require(0 < cap < math.inf, f"cap must be a finite number above 0: {cap}")
    return cap * (scores / cap).tanh()


def soft_cap_bias(scores: Tensor, cap: float) -> Tensor:
    """soft_cap(scores) - scores: any change of the scores is a bias, if it may look at them."""
    return soft_cap(scores, cap) - scores


def bias_tensor(
    bias: Bias,
    n_q: int,
    n_k: int,
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """The bias as an (n_q, n_k) matrix: [i, j] is added to the score of query i and key j.

    The positions are on the CPU: not every device has float64, in which a bias may compute.

    Raises ValueError if the bias answers with booleans, as a mask does, or with another shape, or
    with a finite number that the dtype would turn into infinity: -inf forbids.
    """
    require(min(n_q, n_k) >= 0, f"n_q and n_k must not be negative: n_q={n_q}, n_k={n_k}")
    q_idx = torch.arange(n_q).unsqueeze(1)  # (n_q, 1)
    k_idx = torch.arange(n_k).unsqueeze(0)  # (1, n_k)
    answer = bias(q_idx, k_idx)
    kind = type(answer).__name__
    require(isinstance(answer, Tensor), f"a bias must answer with a tensor: it is a {kind}")
    require(answer.dtype != torch.bool, "a bias must answer with numbers; booleans are a mask")
    wanted = torch.Size([n_q, n_k])
    fits = broadcast(answer.shape, wanted) == wanted
    require(fits, f"a bias must answer with (n_q, n_k): {tuple(answer.shape)}, {tuple(wanted)}")
    numbers = answer.to(dtype)
    if not torch.equal(numbers.isfinite(), answer.isfinite()):
        extent = f"from {answer.min()} to {answer.max()}"
        raise ValueError(f"a bias must fit its dtype, {dtype}: {extent}")
    return numbers.expand(n_q, n_k).clone().to(device)


def _geometric(n: int) -> tuple[float, ...]:
    return tuple(2 ** (-8 * head / n) for head in range(1, n + 1))
