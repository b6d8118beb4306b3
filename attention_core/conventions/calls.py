"""One mask, told to PyTorch in the five ways in which it wants to be told.

>>> from attention_core.masks import causal, mask_tensor
>>> mask = mask_tensor(causal, 2, 2)
>>> additive(mask)
tensor([[0., -inf],
        [0., 0.]])
>>> blocked(mask)
tensor([[False,  True],
        [False, False]])
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_core.checks import as_boolean
from attention_core.masks import Mask, causal, causal_bottom_right, mask_tensor


def additive(mask: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """The mask as numbers to add to the scores: 0 where True or 1, -inf where False or 0."""
    return torch.zeros_like(mask, dtype=dtype).masked_fill(blocked(mask), -math.inf)


def blocked(mask: Tensor) -> Tensor:
    """The mask as booleans in the opposite polarity, True = may not attend."""
    return ~as_boolean(mask)


def top_left_causal(mask: Tensor) -> bool:
    """Is this the mask that `is_causal=True` makes?"""
    return _is(mask, causal)


def bottom_right_causal(mask: Tensor) -> bool:
    """Is this the mask of `torch.nn.attention.bias.causal_lower_right`?"""
    return _is(mask, causal_bottom_right(mask.shape[0], mask.shape[1]))


def with_booleans(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    """`F.scaled_dot_product_attention` and a boolean mask: True = may attend, as for us."""
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def with_added_numbers(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    """`F.scaled_dot_product_attention` and a float mask, which it adds to the scores."""
    return F.scaled_dot_product_attention(q, k, v, attn_mask=additive(mask, q.dtype))


def multihead(
    q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor, *, need_weights: bool = False
) -> Tensor:
    """`nn.MultiheadAttention` of one head, with identity projections and no biases.

    attn_mask is in its own polarity, True = may not attend. A query that may attend to nothing
    has the output 0, or NaN with need_weights, which is PyTorch's default (2.13).
    """
    d = q.shape[-1]
    # Made without its random weights: they would draw from the generator that all learners share.
    attend: nn.MultiheadAttention = nn.utils.skip_init(  # type: ignore[no-untyped-call]
        nn.MultiheadAttention, d, num_heads=1, bias=False, device=q.device, dtype=q.dtype
    )
    with torch.no_grad():
        attend.in_proj_weight.copy_(torch.eye(d).repeat(3, 1))
        attend.out_proj.weight.copy_(torch.eye(d))
        output: Tensor = attend(q, k, v, attn_mask=attn_mask, need_weights=need_weights)[0]
    return output


def with_multihead(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    """`nn.MultiheadAttention`, which is told where a query may not attend."""
    return multihead(q, k, v, blocked(mask))


def with_is_causal(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    """No mask at all: a word for the one triangle, or the helper for the other."""
    if top_left_causal(mask):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    from torch.nn.attention.bias import causal_lower_right

    lower_right: Tensor = causal_lower_right(*mask.shape)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=lower_right)


def with_flex(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    """`flex_attention` and a `mask_mod` that looks the mask up. Not compiled: slow, but the same.

    Its first call in a process imports PyTorch's compiler: 2 seconds, and about 110 MB.
    """
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    def mask_mod(batch: Tensor, head: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        return mask[q_idx, kv_idx]

    n_q, n_k = mask.shape
    block_mask = create_block_mask(mask_mod, None, None, n_q, n_k, device=q.device)
    q, k, v = q[None, None], k[None, None], v[None, None]  # (1, 1, n, d): it wants batch and head
    return flex_attention(q, k, v, block_mask=block_mask)[0, 0]


def _is(mask: Tensor, rule: Mask) -> bool:
    n_q, n_k = mask.shape
    return torch.equal(mask, mask_tensor(rule, n_q, n_k, mask.device))
