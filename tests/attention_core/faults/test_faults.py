"""The twelve faults are caught by the assertions that protect attention; the right one passes."""

import ast
import inspect

import pytest
import torch
from torch.testing import assert_close

from attention_core import FAULTS, IMPLEMENTATIONS, attention, faults
from attention_core.faults import right
from tests.support.attention_contract import SIZES, assert_is_attention, inputs, masks


def combined(mask, padding):
    """The two masks as the one that `attention` takes, (batch or 1, 1, n_q or 1, n_k)."""
    both = [None if mask is None else mask[None, None], padding]
    both[1] = None if padding is None else padding[:, None, None, :]
    given = [m for m in both if m is not None]
    return given[0] & given[-1] if given else None


def ours(q, k, v, mask, padding):
    return attention(q, k, v, combined(mask, padding))


def by_name(implementation):
    return implementation.__name__


@pytest.mark.parametrize("implementation", [right, ours], ids=by_name)
def test_the_right_one_keeps_the_contract(implementation):
    assert_is_attention(implementation)


@pytest.mark.parametrize("implementation", FAULTS, ids=by_name)
def test_every_fault_breaks_the_contract(implementation):
    with pytest.raises(AssertionError):
        assert_is_attention(implementation)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("sizes", SIZES)
def test_the_right_one_is_attention_bit_for_bit(sizes, dtype):
    q, k, v = inputs(sizes, dtype)
    for mask, padding in masks(sizes):
        for one, other in zip(
            right(q, k, v, mask, padding), ours(q, k, v, mask, padding), strict=True
        ):
            assert torch.equal(one, other)


def test_there_are_twelve_and_all_differ():
    assert len(FAULTS) == 12 and len({*map(by_name, IMPLEMENTATIONS)}) == 13
    assert right not in FAULTS and (*FAULTS, right) == IMPLEMENTATIONS
    assert {*map(by_name, IMPLEMENTATIONS)} <= set(faults.__all__)
    bodies = [ast.dump(body(f)) for f in IMPLEMENTATIONS]
    assert len({*bodies}) == 13


def body(function):
    """What a function does, without its name and its docstring."""
    tree = ast.parse(inspect.getsource(function)).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return ast.Module(tree.body[1:], [])


@pytest.mark.parametrize("implementation", FAULTS, ids=by_name)
def test_a_fault_changes_few_lines_and_says_what_it_is(implementation):
    lines = ast.unparse(body(implementation)).splitlines()
    rest = ast.unparse(body(right)).splitlines()
    assert 1 <= len([line for line in rest if line not in lines]) <= 3
    assert len(implementation.__doc__.splitlines()) == 1


def test_inputs_are_not_written():
    q, k, v = inputs(SIZES[0])
    mask, padding = masks(SIZES[0])[4]
    before = [t.clone() for t in (q, k, v, mask, padding)]
    for implementation in IMPLEMENTATIONS:
        implementation(q, k, v, mask, padding)
    assert all(map(torch.equal, before, (q, k, v, mask, padding)))


# What each fault does, on numbers small enough to do by hand: I3 for k and v, all scores equal.

Q = torch.zeros(1, 1, 3, 3)
I3 = torch.eye(3)[None, None]
CAUSAL = torch.ones(3, 3).tril().bool()
DEAD = torch.tensor([[True] * 3, [False] * 3, [True] * 3])
THIRD = [1 / 3] * 3


@pytest.mark.parametrize(
    ("implementation", "mask", "rows"),
    [
        (faults.right, CAUSAL, [[1, 0, 0], [1 / 2, 1 / 2, 0], THIRD]),
        (
            faults.softmax_over_queries,
            CAUSAL,
            [[1 / 3, 0, 0], [1 / 3, 1 / 2, 0], [1 / 3, 1 / 2, 1]],
        ),
        (faults.scale_after_softmax, None, [[3**-1.5] * 3] * 3),
        (faults.mask_after_softmax, CAUSAL, [[1 / 3, 0, 0], [1 / 3, 1 / 3, 0], THIRD]),
        (faults.masked_scores_zero, CAUSAL, [THIRD] * 3),
        (faults.mask_inverted, CAUSAL, [[0, 1 / 2, 1 / 2], [0, 0, 1], [0, 0, 0]]),
        (faults.mask_inverted, None, [THIRD] * 3),
        (faults.diagonal_masked, CAUSAL, [[0, 0, 0], [1, 0, 0], [1 / 2, 1 / 2, 0]]),
        (faults.finite_fill, DEAD, [THIRD] * 3),
        (faults.masked_scores_zero, DEAD, [THIRD, [0, 0, 0], THIRD]),
    ],
)
def test_weights_by_hand(implementation, mask, rows):
    output, weights = implementation(Q, I3, I3, mask, None)
    assert_close(weights[0, 0], torch.tensor(rows, dtype=torch.float32))
    assert torch.equal(output, weights)


def test_scales_by_hand():
    q = k = torch.tensor([[[[2.0, 0.0], [0.0, 0.0]]]]).expand(1, 2, 2, 2)  # two heads of d_k = 2
    rows = {
        faults.no_scale: torch.tensor([4.0, 0.0]).softmax(0),
        faults.right: torch.tensor([4 / 2**0.5, 0.0]).softmax(0),
        faults.scale_by_d_model: torch.tensor([4 / 4**0.5, 0.0]).softmax(0),
    }
    for implementation, row in rows.items():
        assert_close(implementation(q, k, k, None, None)[1][0, 1, 0], row)


def test_swaps_by_hand():
    q, k, v = inputs((2, 3, 5, 5, 7, 7))
    output, weights = faults.keys_and_values_swapped(q, k, v)
    swapped = right(q, v, k)
    assert torch.equal(output, swapped[0]) and torch.equal(weights, swapped[1])
    output, weights = faults.weights_transposed(q, k, v, CAUSAL.new_ones(5, 5).tril())
    good = right(q, k, v, CAUSAL.new_ones(5, 5).tril())
    assert torch.equal(weights, good[1])  # what is drawn looks right
    assert_close(output, torch.einsum("bhji,bhjd->bhid", good[1], v))


def test_a_padding_mask_per_query_is_silent_only_where_the_sizes_agree():
    padding = torch.tensor([[True, True, True], [True, False, True], [True, False, False]])
    _, weights = faults.padding_per_query(Q.expand(3, 1, 3, 3), I3, I3, None, padding)
    wrong = [THIRD, [1 / 2, 0, 1 / 2], [1, 0, 0]]
    assert_close(weights, torch.tensor([[wrong]]).expand(3, 1, 3, 3))
    with pytest.raises(RuntimeError):
        faults.padding_per_query(Q.expand(2, 1, 3, 3), I3, I3, None, padding[:2])
    one = faults.padding_per_query(Q, I3, I3, None, padding[1:2])
    assert torch.equal(one[0], right(Q, I3, I3, None, padding[1:2])[0])


def test_a_finite_fill_does_not_fit_into_float16():
    q, k, v = inputs(SIZES[0], torch.float16)
    with pytest.raises(RuntimeError, match="overflow"):
        faults.finite_fill(q, k, v, *masks(SIZES[0])[2])
