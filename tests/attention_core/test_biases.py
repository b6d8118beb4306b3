"""Biases against tables written by hand, a derivation per cell, and PyTorch's float mask."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from attention_core.attention import attention, attention_steps
from attention_core.biases import (
    alibi,
    alibi_slopes,
    bias_tensor,
    relative_bias,
    relative_bucket,
    soft_cap,
    soft_cap_bias,
)
from attention_core.masks import causal, mask_tensor

INF = math.inf


def normal(*shape, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def fused(q, k, v, added):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=added)


def test_alibi_by_hand():
    assert bias_tensor(alibi(0.5), 3, 5).tolist() == [
        [0, -0.5, -1, -1.5, -2],
        [-0.5, 0, -0.5, -1, -1.5],
        [-1, -0.5, 0, -0.5, -1],
    ]
    assert not bias_tensor(alibi(0.0), 3, 5).any()


@pytest.mark.parametrize("slope", [0.1, 2**-0.75])
def test_alibi_in_float64_has_all_its_digits(slope):
    found = bias_tensor(alibi(slope), 1, 64, dtype=torch.float64)
    assert found[0].tolist() == [-slope * distance for distance in range(64)]


def test_alibi_under_the_causal_mask_is_the_papers():
    """Press et al. (2022), section 3: row i gets m * [-i, ..., -2, -1, 0]."""
    m, (q, k, v) = 0.25, (normal(7, 3), normal(7, 3, seed=1), normal(7, 2, seed=2))
    bias = bias_tensor(alibi(m), 7, 7, dtype=torch.float64)
    output, _ = attention(q, k, v, mask_tensor(causal, 7, 7), bias=bias)
    for i in range(7):
        penalty = m * torch.arange(-i, 1).double()
        weights = (k[: i + 1] @ q[i] / math.sqrt(3) + penalty).softmax(-1)
        assert_close(output[i], weights @ v[: i + 1])


@given(st.integers(1, 7), st.integers(1, 11), st.floats(0, 50), st.integers(0, 99))
def test_a_slope_equals_pytorchs_float_mask_and_never_hides(n_q, n_k, slope, seed):
    q, k, v = normal(n_q, 3, seed=seed), normal(n_k, 3, seed=seed + 1), normal(n_k, 2, seed=seed)
    bias = bias_tensor(alibi(slope), n_q, n_k, dtype=torch.float64)
    output, weights = attention(q, k, v, bias=bias)
    assert_close(output, fused(q, k, v, bias), rtol=0, atol=1e-12)
    assert (weights > 0).all()


@pytest.mark.parametrize(
    ("heads", "exponents"),
    [
        (1, [8]),
        (2, [4, 8]),
        (8, [1, 2, 3, 4, 5, 6, 7, 8]),
        (16, [0.5 * head for head in range(1, 17)]),
        (3, [4, 8, 2]),  # those of 2, then the first of 4 heads: 2, 4, 6, 8
        (6, [2, 4, 6, 8, 1, 3]),
        (12, [1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5]),
    ],
)
def test_the_slopes_of_the_heads(heads, exponents):
    assert alibi_slopes(heads) == pytest.approx([2**-exponent for exponent in exponents])


@pytest.mark.parametrize("slope", [-0.1, INF, -INF, math.nan])
def test_slopes_that_are_refused(slope):
    with pytest.raises(ValueError, match=f"slope must be a finite number, 0 or more: {slope}"):
        alibi(slope)


def test_no_heads_are_refused():
    with pytest.raises(ValueError, match="heads must be 1 or more: 0"):
        alibi_slopes(0)


def test_buckets_by_hand():
    """8 buckets to distance 16, 4 for each side: 0, 1, then 2..5 and 6 and more (2 * 8^(1/2))."""
    one_side = [0, 1, 2, 2, 2, 2, 3, 3, 3, 3]
    found = relative_bucket(torch.arange(-9, 10), 8, 16)
    assert found.tolist() == one_side[::-1] + [bucket + 4 for bucket in one_side[1:]]


def test_causal_buckets_by_hand():
    """4 buckets to distance 8: 0, 1, then 2 and 3, then 4 and more (2 * 4^(1/2))."""
    found = relative_bucket(torch.arange(-9, 4), 4, 8, bidirectional=False)
    assert found.tolist() == [3, 3, 3, 3, 3, 3, 2, 2, 1, 0, 0, 0, 0]


def test_the_edges_of_t5s_own_32_buckets():
    """From 8 on, bucket 8 + t begins at 8 * 2^(t/2): 8, 12, 16, 23, 32, 46, 64, 91."""
    starts = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91]
    per_distance = [sum(start <= d for start in starts) - 1 for d in range(500)]
    assert relative_bucket(-torch.arange(500)).tolist() == per_distance
    assert relative_bucket(torch.arange(1, 500)).tolist() == [b + 16 for b in per_distance[1:]]


@given(
    st.sampled_from([2, 3, 4, 5, 8, 13, 32]),
    st.integers(1, 200),
    st.booleans(),
    st.lists(st.integers(-400, 400), min_size=1, max_size=20),
)
def test_buckets_in_whole_numbers_only(n, further, bidirectional, distances):
    """Bucket exact + t begins where (d/exact)^L >= (max/exact)^t, L = n - exact: no logarithm."""
    exact = n // 2
    furthest = exact + further
    expected = []
    for distance in distances:
        d = abs(distance) if bidirectional else max(0, -distance)
        steps = [
            t
            for t in range(1, n - exact)
            if d >= exact and d ** (n - exact) * exact**t >= furthest**t * exact ** (n - exact)
        ]
        bucket = exact + len(steps) if d >= exact else d
        expected.append(bucket + (n if bidirectional and distance > 0 else 0))
    buckets = 2 * n if bidirectional else n
    found = relative_bucket(torch.tensor(distances), buckets, furthest, bidirectional)
    assert found.tolist() == expected and max(expected) < buckets


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((7, 16), "buckets must be a multiple of 2, 4 or more: 7"),
        ((2, 16), "buckets must be a multiple of 2, 4 or more: 2"),
        ((1, 16, False), "buckets must be a multiple of 1, 2 or more: 1"),
        ((8, 2), "max_distance must be more than 2, the distances.*: 2"),
        ((8, 4, False), "max_distance must be more than 4, the distances.*: 4"),
    ],
)
def test_buckets_that_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        relative_bucket(torch.arange(5), *options)
    with pytest.raises(ValueError, match=words):
        relative_bias(torch.zeros(options[0]), *options[1:])


def test_a_relative_bias_reads_its_table():
    table = torch.tensor([0.5, -1.0, -2.0, -3.0, 0.0, 10.0, 20.0, 30.0])
    bias = bias_tensor(relative_bias(table, max_distance=16), 3, 7)
    # k - q of row 0: 0, 1, 2, ..., 6, so buckets 0, 5, 6, 6, 6, 6, 7
    assert bias.tolist() == [
        [0.5, 10, 20, 20, 20, 20, 30],
        [-1, 0.5, 10, 20, 20, 20, 20],
        [-2, -1, 0.5, 10, 20, 20, 20],
    ]
    causal_bias = bias_tensor(relative_bias(table[:4], 8, bidirectional=False), 3, 5)
    assert causal_bias[:, :3].tolist() == [[0.5, 0.5, 0.5], [-1, 0.5, 0.5], [-2, -1, 0.5]]
    q, k, v = normal(3, 2), normal(7, 2, seed=1), normal(7, 5, seed=2)
    output, _ = attention(q, k, v, bias=bias.double())
    assert_close(output, fused(q, k, v, bias.double()), rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match=r"table must be \(buckets,\), of one head: \(8, 2\)"):
        relative_bias(torch.zeros(8, 2))


def test_a_table_learns():
    table = normal(8).requires_grad_()
    bias = bias_tensor(relative_bias(table, 16), 3, 7, dtype=torch.float64)
    output, _ = attention(normal(3, 2), normal(7, 2, seed=1), normal(7, 5, seed=2), bias=bias)
    (gradient,) = torch.autograd.grad(output.square().sum(), table)
    assert gradient.isfinite().all() and (gradient[[0, 1, 2, 5, 6, 7]] != 0).all()
    assert (gradient[[3, 4]] == 0).all()  # no distance here falls into these


@given(st.floats(0.1, 100), st.integers(0, 99))
def test_the_soft_cap_as_a_bias_is_the_softmax_of_capped_scores(cap, seed):
    q, k, v = (normal(n, 3, seed=seed + n) * 3 for n in (5, 7, 7))
    scores = attention_steps(q, k, v).scores
    output, weights = attention(q, k, v, bias=soft_cap_bias(scores, cap))
    rows = [[cap * math.tanh(float(s) / cap) for s in row] for row in scores]
    for i, row in enumerate(rows):
        exponentials = [math.exp(s - max(row)) for s in row]
        expected = [e / math.fsum(exponentials) for e in exponentials]
        assert weights[i].tolist() == pytest.approx(expected, abs=1e-12)
    assert_close(output, fused(q, k, v, soft_cap_bias(scores, cap)), rtol=0, atol=1e-12)
    assert weights.max() <= attention(q, k, v)[1].max() + 1e-12  # capping only levels


def test_the_soft_cap_leaves_small_scores_and_bounds_large_ones():
    scores = torch.tensor([0.0, 0.1, -0.1, 1e6, -1e6], dtype=torch.float64)
    capped = soft_cap(scores, 5.0)
    assert capped[0] == 0 and capped[3:].tolist() == [5, -5]
    assert capped[1].item() == pytest.approx(0.1, abs=2e-5) and capped[2] == -capped[1]
    for cap in (0.0, -1.0, INF, math.nan):
        with pytest.raises(ValueError, match=f"cap must be a finite number above 0: {cap}"):
            soft_cap(scores, cap)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_a_bias_tensor_has_the_dtype_asked_for_and_is_its_own(dtype):
    drawn = bias_tensor(lambda q_idx, k_idx: q_idx, 3, 5, dtype=dtype)
    assert drawn.dtype == dtype and drawn.tolist() == [[0] * 5, [1] * 5, [2] * 5]
    drawn[0, 0] = 7
    assert drawn[0, 1] == 0
    assert bias_tensor(alibi(1.0), 0, 5).shape == (0, 5)


@pytest.mark.parametrize(
    ("bias", "dtype", "words"),
    [
        (causal, torch.float32, "must answer with numbers; booleans are a mask"),
        (lambda q, k: 0.5, torch.float32, "must answer with a tensor: it is a float"),
        (lambda q, k: torch.zeros(5, 3), torch.float32, r"\(n_q, n_k\): \(5, 3\), \(3, 5\)"),
        (lambda q, k: torch.zeros(2, 3, 5), torch.float32, r"\(2, 3, 5\), \(3, 5\)"),
        (alibi(30000.0), torch.float16, "fit its dtype, torch.float16: from -120000.0 to 0.0"),
    ],
)
def test_answers_that_are_no_bias(bias, dtype, words):
    with pytest.raises(ValueError, match=words):
        bias_tensor(bias, 3, 5, dtype=dtype)


def test_sizes_that_are_refused():
    with pytest.raises(ValueError, match="must not be negative: n_q=-1, n_k=5"):
        bias_tensor(alibi(1.0), -1, 5)


def test_minus_infinity_in_a_bias_stays():
    bias = bias_tensor(lambda q, k: torch.where(k <= q, 0.0, -INF), 3, 5, dtype=torch.float16)
    assert torch.equal(bias.isneginf(), ~mask_tensor(causal, 3, 5))
