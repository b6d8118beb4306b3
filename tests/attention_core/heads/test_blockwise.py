"""Heads in blocks of queries: the same numbers as all at once."""

import math
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from attention_core import compare_with_torch
from attention_core.attention import attention_steps
from attention_core.heads import blockwise
from attention_core.heads.blockwise import (
    ROWS,
    compare_blockwise,
    pool_largest,
    weights_blockwise,
)

N_Q, N_K, D_K, D_V = 2 * ROWS + 11, 37, 5, 3


@pytest.fixture
def head() -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(0)
    sizes = ((N_Q, D_K), (N_K, D_K), (N_K, D_V))
    return tuple(torch.randn(size, generator=generator, dtype=torch.float64) for size in sizes)


def some_mask() -> torch.Tensor:
    mask = torch.rand(N_Q, N_K, generator=torch.Generator().manual_seed(1)) < 0.6
    mask[ROWS + 1] = False
    return mask


@pytest.mark.parametrize("masked", [False, True])
def test_weights_in_blocks_are_those_of_torch(head, masked) -> None:
    q, k, v = head
    mask = some_mask() if masked else None
    identity = torch.eye(N_K, dtype=q.dtype)  # with these values the output is the weights
    right = F.scaled_dot_product_attention(q, k, identity, attn_mask=mask)
    found = weights_blockwise(q, k, v, mask)
    assert found.shape == (N_Q, N_K)
    assert torch.allclose(found, right, rtol=0, atol=1e-12)
    assert not masked or not found[ROWS + 1].any()


def test_agreement_in_blocks_is_the_agreement(head) -> None:
    q, k, v = (tensor.float() for tensor in head)
    whole, blocks = (
        compare_with_torch(q, k, v, some_mask()),
        compare_blockwise(q, k, v, some_mask())[0],
    )
    assert blocks.torch_difference == whole.torch_difference
    assert blocks.row_sum_deviation == whole.row_sum_deviation
    assert blocks.float64_difference == pytest.approx(whole.float64_difference, rel=1e-3)
    assert 0.5 * whole.tolerance < blocks.tolerance <= whole.tolerance  # never more lenient
    assert blocks.agrees


def test_a_fault_in_a_later_block_is_found(head, monkeypatch) -> None:
    q, k, v = (tensor.float() for tensor in head)

    def wrong(q, *rest, **options):
        steps = attention_steps(q, *rest, **options)
        return replace(steps, output=steps.output + 0.1) if len(q) < ROWS else steps

    monkeypatch.setattr(blockwise, "attention_steps", wrong)
    assert not compare_blockwise(q, k, v)[0].agrees


def test_nan_in_a_later_block_is_no_agreement() -> None:
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(n, 4, generator=generator).half() for n in (ROWS + 20, 9, 9))
    q[ROWS + 3], k[2] = 200.0, 200.0  # 4 * 200 * 200 is beyond float16
    found, overflow = compare_blockwise(q, k, v)
    assert overflow == "dots"
    assert math.isnan(found.torch_difference) and not found.agrees
    assert compare_blockwise(q[:0], k, v)[0].agrees


def test_overflow_is_found_in_any_block(head) -> None:
    q, k, v = (tensor.half() for tensor in head)
    assert compare_blockwise(q, k, v)[1] is None
    q[-1] = 60000.0
    assert compare_blockwise(q, k, v)[1] == "dots"
    with pytest.raises(ValueError, match="q must hold finite"):
        compare_blockwise(q * 2, k, v)


def test_pooling_takes_the_largest_of_each_block() -> None:
    matrix = torch.rand(7, 11, generator=torch.Generator().manual_seed(2))
    pooled = pool_largest(matrix, 3, 4)
    assert pooled.shape == (3, 3)
    for i in range(3):
        for j in range(3):
            assert pooled[i, j] == matrix[3 * i : 3 * i + 3, 4 * j : 4 * j + 4].max()
    assert torch.equal(pool_largest(matrix, 1, 1), matrix)


def test_pooling_keeps_masks_and_what_is_not_a_number() -> None:
    assert pool_largest(torch.eye(5).bool(), 2, 2).tolist() == torch.eye(3).tolist()
    assert pool_largest(torch.tensor([[0.1, math.nan]]), 1, 2).isnan().all()
    with pytest.raises(ValueError, match="1 or more: 0, 2"):
        pool_largest(torch.eye(5), 0, 2)


def test_more_than_one_head_is_refused(head) -> None:
    q, k, v = head
    for function in (weights_blockwise, compare_blockwise):
        with pytest.raises(ValueError, match="one head"):
            function(q[None], k[None], v[None])
