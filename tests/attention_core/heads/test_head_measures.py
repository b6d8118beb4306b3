"""Three measures of a head, against matrices whose answers are known and loops in plain Python."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core.heads.measures import distance, keys_for_share, measure_head

N_Q, N_K = 5, 7


def by_hand(weights: torch.Tensor) -> tuple[float, float, float]:
    """The means of entropy, distance and keys over the rows that hold anything, in plain Python."""
    found = []
    for i, row in enumerate(weights.tolist()):
        total = math.fsum(row)
        if total == 0:
            continue
        shares = [weight / total for weight in row]
        spread = -math.fsum(share * math.log(share) for share in shares if share > 0)
        far = math.fsum(share * abs(i - j) for j, share in enumerate(shares))
        largest, keys = sorted(shares, reverse=True), 1
        while math.fsum(largest[:keys]) < 0.9 - 1e-6:
            keys += 1
        found.append((spread, far, keys))
    spread, far, kept = (math.fsum(column) / len(found) for column in zip(*found, strict=True))
    return spread, far, kept


def as_tuple(weights: torch.Tensor) -> tuple[float, float, float]:
    measures = measure_head(weights)
    return measures.entropy, measures.distance, measures.keys


@given(st.integers(0, 2**20), st.sampled_from([0.1, 1.0, 10.0]))
def test_measures_are_those_counted_by_hand(seed: int, sharpness: float) -> None:
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(N_Q, N_K, generator=generator, dtype=torch.float64) * sharpness
    weights = scores.softmax(-1)
    assert as_tuple(weights) == pytest.approx(by_hand(weights))


def test_a_head_that_looks_back_one_token() -> None:
    weights = torch.diag(torch.ones(N_Q - 1), -1)
    weights[0, 0] = 1.0
    assert as_tuple(weights) == (0.0, (N_Q - 1) / N_Q, 1.0)


def test_a_head_that_looks_at_all_keys_alike() -> None:
    entropy, far, keys = as_tuple(torch.full((N_Q, 10), 0.1))
    assert entropy == pytest.approx(math.log(10))
    assert far == pytest.approx(sum(abs(i - j) for i in range(N_Q) for j in range(10)) / 50)
    assert keys == 9  # nine tenths are 0.9: rounding must not ask for a tenth


def test_a_sink_is_as_far_as_the_query() -> None:
    weights = torch.zeros(N_Q, N_K)
    weights[:, 0] = 1.0
    assert as_tuple(weights) == (0.0, 2.0, 1.0)  # the mean of 0, 1, 2, 3, 4


def test_queries_that_attend_to_nothing_do_not_count() -> None:
    weights = torch.rand(N_Q, N_K).softmax(-1)
    fully_masked = weights.clone()
    fully_masked[2] = 0.0
    assert as_tuple(fully_masked) == pytest.approx(by_hand(fully_masked))
    assert as_tuple(torch.zeros(N_Q, N_K)) == (0.0, 0.0, 0.0)
    assert as_tuple(fully_masked) != pytest.approx(as_tuple(weights))


def test_rows_that_do_not_sum_to_one_count_as_much_as_others() -> None:
    weights = torch.rand(N_Q, N_K).softmax(-1)
    scaled = weights * torch.tensor([1.0, 0.5, 0.1, 1.0, 0.7])[:, None]
    assert as_tuple(scaled) == pytest.approx(as_tuple(weights), rel=1e-5)


def test_large_heads_are_measured_in_blocks_with_the_same_result() -> None:
    weights = torch.randn(523, 13, generator=torch.Generator().manual_seed(0)).softmax(-1).double()
    weights[300] = 0.0
    assert as_tuple(weights) == pytest.approx(by_hand(weights))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_half_precision_is_measured_in_double(dtype: torch.dtype) -> None:
    weights = torch.randn(N_Q, N_K).softmax(-1).to(dtype)
    assert as_tuple(weights) == pytest.approx(by_hand(weights.double()))


def test_distance_is_counted_from_the_given_positions() -> None:
    assert distance(torch.eye(3), [2, 1, 5]).tolist() == [2, 0, 3]


def test_keys_for_other_shares() -> None:
    weights = torch.tensor([0.1, 0.4, 0.3, 0.2])
    found = [int(keys_for_share(weights, share)) for share in (0.3, 0.4, 0.41, 0.7, 0.71, 1.0)]
    assert found == [1, 1, 2, 2, 3, 4]
    assert keys_for_share(torch.ones(2, 1)).tolist() == [1, 1]
    for share in (0.0, -0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match="share must be above 0"):
            keys_for_share(weights, share)


def test_one_head_at_a_time() -> None:
    with pytest.raises(ValueError, match=r"one head.*\(2, 5, 7\)"):
        measure_head(torch.ones(2, N_Q, N_K))
