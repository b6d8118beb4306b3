"""What every implementation of attention has to keep, whoever wrote it: one function to call.

The twelve faults of `attention_core.faults` are mutants of it, and each must break something here.
"""

import math

import torch
import torch.nn.functional as F
from torch.testing import assert_close

TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 5e-3, torch.bfloat16: 4e-2}
# batch, heads, n_q, n_k, d_k, d_v. In the first everything fits, so a mix-up is silent; in the
# second all differ, so it cannot be.
SIZES = ((5, 3, 5, 5, 7, 7), (2, 3, 5, 7, 11, 13))


def assert_is_attention(implementation):
    """Raise an AssertionError unless (q, k, v, mask, padding) -> (output, weights) is attention.

    q, k, v are (batch, heads, n, d); mask (n_q, n_k) and padding (batch, n_k) are booleans,
    True = may attend, or None.
    """
    for sizes in SIZES:
        q, k, v = inputs(sizes)
        for mask, padding in masks(sizes):
            _agrees_with_the_fused_kernel(implementation, q, k, v, mask, padding)
            _weights_are_shares_of_what_is_allowed(implementation, q, k, v, mask, padding)
        _the_past_does_not_see_the_future(implementation, q, k, v)
        _padding_is_never_seen(implementation, q, k, v)
        _a_dead_row_is_zero_and_has_finite_gradients(implementation, q, k, v)


def inputs(sizes, dtype=torch.float64):
    """q, k, v for these sizes, standard normal."""
    batch, heads, n_q, n_k, d_k, d_v = sizes
    generator = torch.Generator().manual_seed(0)
    shapes = ((batch, heads, n_q, d_k), (batch, heads, n_k, d_k), (batch, heads, n_k, d_v))
    return tuple(torch.randn(s, generator=generator, dtype=torch.float64).to(dtype) for s in shapes)


def masks(sizes):
    """Pairs of mask and padding: none, causal, padded, both, and with dead rows."""
    batch, _, n_q, n_k, _, _ = sizes
    causal = torch.ones(n_q, n_k).tril().bool()
    padding = torch.arange(n_k) < torch.arange(1, batch + 1)[:, None]  # no two sequences alike
    masked_row, nothing_real = torch.ones(n_q, n_k).bool(), padding.clone()
    masked_row[2], nothing_real[1] = False, False
    every = torch.ones(n_q, n_k).bool()
    return [
        (None, None),
        (every, None),
        (causal, None),
        (None, padding),
        (causal, padding),
        (masked_row, None),
        (None, nothing_real),
    ]


def _allowed(q, k, mask, padding):
    every = torch.ones(*q.shape[:-1], k.shape[-2]).bool()
    every = every if mask is None else every & mask
    return every if padding is None else every & padding[:, None, None, :]


def _agrees_with_the_fused_kernel(implementation, q, k, v, mask, padding):
    allowed = _allowed(q, k, mask, padding)
    identity = torch.eye(k.shape[-2], dtype=q.dtype).expand(*k.shape[:-1], k.shape[-2])
    exact = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    shares = F.scaled_dot_product_attention(q, k, identity, attn_mask=allowed)
    for dtype, tolerance in TOLERANCE.items():
        low = [tensor.to(dtype) for tensor in (q, k, v)]
        try:
            output, weights = implementation(*low, mask, padding)
        except RuntimeError as error:
            raise AssertionError(f"stops with an error in {dtype}: {error}") from error
        assert output.dtype == weights.dtype == dtype
        assert output.shape == exact.shape and weights.shape == shares.shape
        if dtype in (torch.float16, torch.bfloat16):  # against what these rounded inputs are
            q_, k_, v_ = (tensor.double() for tensor in low)
            exact = F.scaled_dot_product_attention(q_, k_, v_, attn_mask=allowed)
            shares = F.scaled_dot_product_attention(q_, k_, identity, attn_mask=allowed)
        assert_close(output.double(), exact, rtol=0, atol=tolerance)
        assert_close(weights.double(), shares, rtol=0, atol=tolerance)


def _weights_are_shares_of_what_is_allowed(implementation, q, k, v, mask, padding):
    _, weights = implementation(q, k, v, mask, padding)
    allowed = _allowed(q, k, mask, padding)
    assert (weights >= 0).all()
    assert (weights[~allowed] == 0).all()  # not small: 0
    assert_close(weights.sum(-1), allowed.any(-1).to(weights))


def _the_past_does_not_see_the_future(implementation, q, k, v):
    n_q, n_k = q.shape[-2], k.shape[-2]
    causal = torch.ones(n_q, n_k).tril().bool()
    before, _ = implementation(q, k, v, causal, None)
    for position in range(1, n_q):
        new_k, new_v = k.clone(), v.clone()
        new_k[..., position, :] += 100
        new_v[..., position, :] -= 100
        after, _ = implementation(q, new_k, new_v, causal, None)
        assert torch.equal(before[..., :position, :], after[..., :position, :])
        assert not torch.equal(before[..., position, :], after[..., position, :])


def _padding_is_never_seen(implementation, q, k, v):
    padding = torch.arange(k.shape[-2]) < torch.arange(1, len(q) + 1)[:, None]
    before, _ = implementation(q, k, v, None, padding)
    changed = padding[:, None, :, None]
    after, _ = implementation(q, k.where(changed, 9.0), v.where(changed, -9.0), None, padding)
    assert torch.equal(before, after)


def _a_dead_row_is_zero_and_has_finite_gradients(implementation, q, k, v):
    mask = torch.ones(q.shape[-2], k.shape[-2]).tril(-1).bool()  # query 0 may attend to nothing
    leaves = [tensor.clone().requires_grad_() for tensor in (q, k, v)]
    output, weights = implementation(*leaves, mask, None)
    assert (output[..., 0, :] == 0).all() and (weights[..., 0, :] == 0).all()
    try:
        with torch.autograd.set_detect_anomaly(True):  # nor may there be a NaN on the way
            gradients = torch.autograd.grad(output.sum(), leaves)
    except RuntimeError as error:
        raise AssertionError(f"the gradients are not finite: {error}") from error
    assert all(math.isfinite(gradient.sum()) for gradient in gradients)
    assert (gradients[0][..., 0, :] == 0).all()
