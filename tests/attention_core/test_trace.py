"""trace_cell() retells one cell: every number follows from the one before."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from attention_core.attention import attention
from attention_core.trace import trace_cell

CAUSAL = torch.ones(5, 7).tril()


def normal(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


Q, K, V = normal(5, 3), normal(7, 3, seed=1), normal(7, 2, seed=2)


@given(
    st.integers(0, 4),
    st.integers(0, 6),
    st.sampled_from([None, CAUSAL]),
    st.none() | st.floats(-2, 2),
)
def test_every_number_follows_from_the_one_before(i, j, mask, scale):
    cell = trace_cell(Q, K, V, i, j, mask, scale=scale)
    output, weights = attention(Q, K, V, mask, scale=scale)
    visible = range(7) if mask is None else range(i + 1)
    assert (cell.i, cell.j) == (i, j)
    assert cell.products.tolist() == [Q[i, d].item() * K[j, d].item() for d in range(3)]
    assert cell.dot == pytest.approx(math.fsum(cell.products.tolist()), abs=1e-14)
    assert cell.scale == (1 / math.sqrt(3) if scale is None else scale)
    assert cell.score == pytest.approx(cell.dot * cell.scale, abs=1e-14)

    scores = [cell.scale * (Q[i] * K[n]).sum().item() for n in range(7)]
    top = max(scores[n] for n in visible)
    expected = [math.exp(scores[n] - top) if n in visible else 0.0 for n in range(7)]
    assert cell.largest == pytest.approx(top, abs=1e-14)
    assert cell.exponentials.tolist() == pytest.approx(expected)
    assert cell.total == pytest.approx(math.fsum(expected))
    assert cell.weight == pytest.approx(expected[j] / cell.total)
    assert torch.equal(cell.weights, weights[i])
    assert cell.weight == weights[i, j].item()
    assert_close(cell.contribution, cell.weight * V[j])
    assert torch.equal(cell.output, output[i])


def test_the_contributions_of_all_keys_are_the_output():
    cells = [trace_cell(Q, K, V, 3, j, CAUSAL) for j in range(7)]
    assert_close(sum(cell.contribution for cell in cells), cells[0].output)
    assert sum(cell.weight for cell in cells) == pytest.approx(1)


def test_a_masked_cell_keeps_its_score_and_contributes_nothing():
    cell = trace_cell(Q, K, V, 1, 4, CAUSAL)
    assert math.isfinite(cell.score) and cell.score != 0
    assert cell.exponentials[4] == cell.weight == 0
    assert cell.exponentials.max() == 1  # of the largest score that is allowed
    assert cell.contribution.tolist() == [0, 0]


def test_a_query_with_no_key():
    cell = trace_cell(Q, K, V, 0, 2, torch.zeros(5, 7))
    assert cell.exponentials.tolist() == [0.0] * 7
    assert cell.largest == -math.inf
    assert cell.total == cell.weight == 0
    assert cell.output.tolist() == [0, 0]


@pytest.mark.parametrize(("i", "j"), [(5, 0), (0, 7), (-1, 0), (0, -1)])
def test_positions_outside(i, j):
    with pytest.raises(ValueError, match=rf"i={i}, j={j}, q \(5, 3\), k \(7, 3\)"):
        trace_cell(Q, K, V, i, j)


def test_a_batch_is_refused():
    with pytest.raises(ValueError, match=r"one head, \(n, d\): q \(1, 5, 3\)"):
        trace_cell(Q[None], K[None], V[None], 0, 0)


@pytest.mark.parametrize("mask", [None, CAUSAL])
def test_a_bias_is_added_to_the_score_and_moves_the_weights(mask):
    bias = normal(5, 7, seed=3)
    bias[3, 1] = -math.inf
    visible = range(7) if mask is None else range(4)
    scores = [(Q[3] * K[n]).sum().item() / math.sqrt(3) for n in range(7)]
    sums = [scores[n] + bias[3, n].item() for n in range(7)]
    top = max(sums[n] for n in visible)
    expected = [math.exp(sums[n] - top) if n in visible else 0.0 for n in range(7)]
    for j in range(7):
        cell = trace_cell(Q, K, V, 3, j, mask, bias=bias)
        assert cell.score == pytest.approx(scores[j])
        assert cell.biased_score == pytest.approx(sums[j])
        assert cell.largest == pytest.approx(top)
        assert cell.exponentials.tolist() == pytest.approx(expected)
        assert cell.weight == pytest.approx(expected[j] / math.fsum(expected))
    assert trace_cell(Q, K, V, 3, 1, mask, bias=bias).weight == 0
    plain = trace_cell(Q, K, V, 3, 1, mask)
    assert plain.biased_score == plain.score
