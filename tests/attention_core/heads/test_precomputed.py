"""Weights from elsewhere: what is none is refused, and rows that do not add up are named."""

import math

import pytest
import torch

from attention_core.heads.precomputed import require_weights, row_sums

SHAPE = (2, 3, 5, 7)


@pytest.fixture
def weights() -> torch.Tensor:
    return torch.randn(SHAPE, generator=torch.Generator().manual_seed(0)).softmax(-1)


@pytest.mark.parametrize("value", [math.nan, math.inf, -0.25, 1.5, 3.0])
def test_a_value_that_is_no_weight_is_named(weights, value) -> None:
    require_weights(weights)
    weights[1, 2, 3, 4] = value
    with pytest.raises(ValueError, match=r"weights\[1, 2, 3, 4\] is " + f"{value:.5g}"):
        require_weights(weights)


def test_scores_and_vectors_are_no_weights(weights) -> None:
    with pytest.raises(ValueError, match="may be scores"):
        require_weights(torch.randn(SHAPE))
    with pytest.raises(ValueError, match="two or more dimensions"):
        require_weights(weights[0, 0, 0])
    with pytest.raises(ValueError, match=r"floating numbers: torch\.int64"):
        require_weights(torch.ones(3, 3, dtype=torch.int64))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_rounding_is_no_fault(weights, dtype) -> None:
    found = row_sums(weights.to(dtype))
    assert (found.wrong, found.fully_masked, found.rows) == (0, 0, 30)
    assert abs(found.worst_sum - 1) < 0.01 and not found.columns


def test_the_row_farthest_from_one_is_named(weights) -> None:
    weights[0, 1, 2] *= 0.9
    weights[1, 2, 4] *= 0.5
    weights[1, 0, 0] = 0.0
    found = row_sums(weights)
    assert (found.wrong, found.fully_masked, found.worst) == (2, 1, (1, 2, 4))
    assert found.worst_sum == pytest.approx(0.5)
    assert not found.columns


def test_transposed_weights_are_recognised(weights) -> None:
    assert row_sums(weights.mT).columns
    assert not row_sums(weights).columns


def test_rows_of_nothing() -> None:
    found = row_sums(torch.zeros(3, 5))
    assert (found.wrong, found.fully_masked, found.rows, found.worst_sum) == (0, 3, 3, 1.0)
