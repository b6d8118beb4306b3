"""Measures of weights, at values known beforehand and against automatic differentiation."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from attention_core.attention import attention_steps
from attention_core.measures import (
    asymmetry,
    entropy,
    entropy_ceiling,
    far_weight,
    future_weight,
    largest_weight,
    softmax_jacobian_norm,
)
from attention_core.sampling import sample_qkv

rows = st.lists(st.floats(-9, 9), min_size=1, max_size=7).map(
    lambda scores: torch.tensor(scores, dtype=torch.float64)
)


@pytest.mark.parametrize(
    ("weights", "nats"),
    [
        ([1.0, 0.0, 0.0], 0.0),
        ([0.5, 0.5, 0.0], math.log(2)),
        ([0.2] * 5, math.log(5)),
        ([0.0, 0.0], 0.0),
    ],
)
def test_entropy_in_nats(weights, nats):
    assert entropy(torch.tensor(weights)).item() == pytest.approx(nats)


@given(rows)
def test_entropy_lies_between_one_key_and_all_keys(scores):
    assert -1e-12 <= entropy(scores.softmax(-1)).item() <= math.log(len(scores)) + 1e-12


@given(rows)
def test_the_jacobian_norm_is_that_of_autograd(scores):
    jacobian = torch.autograd.functional.jacobian(lambda s: s.softmax(-1), scores)
    norm = math.sqrt(sum(entry**2 for entry in jacobian.flatten().tolist()))
    assert softmax_jacobian_norm(scores.softmax(-1)).item() == pytest.approx(norm, abs=1e-12)


def test_a_saturated_row_lets_no_gradient_through():
    assert softmax_jacobian_norm(torch.tensor([1.0, 0.0, 0.0])) == 0
    assert softmax_jacobian_norm(torch.tensor([0.5, 0.5])) == 0.5
    nearly_one = torch.tensor([200.0, 183.0, 0.0]).softmax(-1)
    assert 0 <= softmax_jacobian_norm(nearly_one) < 1e-6  # and not NaN


def test_future_weight_looks_right_of_the_diagonal_only():
    weights = torch.tensor([[[0.6, 0.4, 0.0], [0.3, 0.6, 0.1]], [[1.0, 0.0, 0.0], [0.2, 0.1, 0.7]]])
    assert future_weight(weights) == pytest.approx(0.7)
    assert future_weight(weights[0]) == pytest.approx(0.4)
    assert future_weight(weights[0].tril()) == 0.0
    assert future_weight(torch.ones(1, 1)) == 0.0
    assert future_weight(torch.ones(3, 0)) == 0.0


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_one_number_a_row_in_every_dtype(dtype):
    weights = torch.rand(2, 3, 5, generator=torch.Generator().manual_seed(0)).softmax(-1)
    for measure in (entropy, largest_weight, softmax_jacobian_norm):
        measured = measure(weights.to(dtype))
        assert measured.shape == (2, 3) and measured.dtype == dtype
        assert_close(measured.float(), measure(weights), rtol=0.03, atol=0.01)


def test_largest_weight():
    assert largest_weight(torch.tensor([[0.1, 0.9], [0.5, 0.5]])).tolist() == pytest.approx(
        [0.9, 0.5]
    )


def test_asymmetry_is_the_largest_difference_across_the_diagonal():
    assert asymmetry(torch.tensor([[1.0, 2.0, 0.0], [2.0, 5.0, -1.0], [0.5, -1.0, 3.0]])) == 0.5
    assert asymmetry(torch.ones(2, 3, 3)) == 0.0
    with pytest.raises(ValueError, match=r"square.*\(3, 5\)"):
        asymmetry(torch.ones(3, 5))


def test_equal_queries_and_keys_have_symmetric_scores_but_not_weights():
    q, _, v = sample_qkv(1, 7, 5)
    steps = attention_steps(q, q, v)
    assert asymmetry(steps.scores) < 1e-6
    assert asymmetry(steps.weights) > 0.1


def test_far_weight_counts_what_is_further_than_the_distance():
    weights = torch.tensor([[0.5, 0.25, 0.25], [0.0, 0.5, 0.5], [0.0, 0.0, 0.0]])
    assert far_weight(weights, 0) == pytest.approx(1.0 / 2)  # 0.25 + 0.25 and 0.5, of 2
    assert far_weight(weights, 1) == pytest.approx(0.25 / 2)
    assert far_weight(weights, 2) == 0
    assert far_weight(weights[2:], 0) == 0  # no weight at all
    wide = torch.full((2, 5), 0.2)  # distances 0..4 and 1, 0, 1, 2, 3
    assert far_weight(wide.expand(3, 2, 5), 2) == pytest.approx(3 / 10)


def test_what_entropy_a_mask_leaves_room_for():
    n = 11
    causal = torch.ones(n, n).tril()
    assert entropy_ceiling(causal) == pytest.approx(math.log(math.factorial(n)) / n)  # 1.59
    assert entropy_ceiling(torch.ones(3, n)) == pytest.approx(math.log(n))  # 2.40
    assert entropy_ceiling(torch.tensor([[True, False], [False, False]])) == 0  # one row sees one
    assert entropy_ceiling(torch.zeros(2, 3)) == 0


@given(st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=1, max_size=5))
def test_the_ceiling_is_reached_by_even_weights(mask):
    allowed = torch.tensor(mask)
    q, k = torch.zeros(len(mask), 2).double(), torch.zeros(4, 2).double()
    rows = attention_steps(q, k, k, allowed).weights[allowed.any(-1)]
    mean = entropy(rows).mean().item() if len(rows) else 0.0
    assert entropy_ceiling(allowed) == pytest.approx(mean, abs=1e-12)
