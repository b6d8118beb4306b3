"""One mask in five conventions: which of them can say it, and do they all give one output?"""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from attention_core.attention import attention
from attention_core.checks import as_boolean, require
from attention_core.conventions.calls import (
    blocked,
    bottom_right_causal,
    multihead,
    top_left_causal,
    with_added_numbers,
    with_booleans,
    with_flex,
    with_is_causal,
    with_multihead,
)
from attention_core.masks import causal, mask_tensor

BOOLEAN = "Boolean mask"
ADDED = "Added numbers"
MULTIHEAD = "MultiheadAttention"
IS_CAUSAL = "is_causal"
FLEX = "FlexAttention"

CALLS: dict[str, Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]] = {
    BOOLEAN: with_booleans,
    ADDED: with_added_numbers,
    MULTIHEAD: with_multihead,
    IS_CAUSAL: with_is_causal,
    FLEX: with_flex,
}
CONVENTIONS = tuple(CALLS)


def cannot_say(convention: str, mask: Tensor, d_k: int, d_v: int) -> str:
    """Why this convention has no way to say the mask; "" if it has one."""
    mask = as_boolean(mask)
    if convention == MULTIHEAD and d_k != d_v:
        return f"MultiheadAttention has one size for all; here d_k is {d_k} and d_v is {d_v}."
    if convention == IS_CAUSAL and not (top_left_causal(mask) or bottom_right_causal(mask)):
        wrong = mask != mask_tensor(causal, mask.shape[0], mask.shape[1], mask.device)
        i, j = wrong.nonzero()[0].tolist()
        says = "may attend" if mask[i, j] else "may not attend"
        return (
            "This way can say the two causal triangles only. "
            f"Unlike is_causal=True, in your mask query {i} {says} to key {j}."
        )
    return ""


def output_in(convention: str, q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    """The output (n_q, d_v) of PyTorch's own function, told the mask in this convention.

    q (n_q, d_k), k (n_k, d_k), v (n_k, d_v), mask (n_q, n_k), True or 1 = may attend. Raises
    ValueError for a convention that is not one of CONVENTIONS, or cannot say this mask.
    """
    require(convention in CALLS, f"convention must be one of {CONVENTIONS}: {convention}")
    return CALLS[convention](q, k, v, _said(convention, q, v, mask))


def difference_in(convention: str, q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> float:
    """The largest |output_in(convention) - attention|; arguments and errors as in `output_in`."""
    ours, _ = attention(q, k, v, mask)
    return _largest_difference(output_in(convention, q, k, v, mask), ours)


def outputs(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> dict[str, Tensor]:
    """`output_in` for every convention that can say the mask."""
    d_k, d_v = q.shape[-1], v.shape[-1]
    able = [name for name in CONVENTIONS if not cannot_say(name, mask, d_k, d_v)]
    return {name: output_in(name, q, k, v, mask) for name in able}


@dataclass(frozen=True)
class MixUp:
    """What comes of a mask in the wrong polarity, True = may attend, in `nn.MultiheadAttention`.

    from_meant     largest |difference| of its output to `attention` with the mask
    from_opposite  the same to `attention` with the opposite mask
    dead           as many queries that saw every key see none now
    """

    from_meant: float
    from_opposite: float
    fully_masked: int


def mix_up(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> MixUp:
    """Give `nn.MultiheadAttention` the mask that all others want.

    Arguments and errors as in `output_in`.
    """
    mask = _said(MULTIHEAD, q, v, mask)
    wrong = multihead(q, k, v, mask)
    meant, opposite = (attention(q, k, v, m)[0] for m in (mask, blocked(mask)))
    fully_masked = int(mask.all(-1).sum())
    return MixUp(
        _largest_difference(wrong, meant), _largest_difference(wrong, opposite), fully_masked
    )


def _said(convention: str, q: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    """The mask as booleans, if the convention can say it."""
    refusal = cannot_say(convention, mask, q.shape[-1], v.shape[-1])
    require(not refusal, refusal)
    return as_boolean(mask)


def _largest_difference(a: Tensor, b: Tensor) -> float:
    return (a.cpu().double() - b.cpu().double()).abs().max().item()
