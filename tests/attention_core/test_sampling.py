"""sample_qkv() draws the tensors of the lesson, and touches nothing else."""

import pytest
import torch
from torch.testing import assert_close

from attention_core.sampling import sample_qkv


def test_seed_0_gives_the_lesson(lesson):
    sampled = sample_qkv(2, 5, 8)
    assert all(torch.equal(*pair) for pair in zip(sampled, lesson, strict=True))
    assert_close(sampled[0][0, 0, 0].item(), -1.1258, rtol=0, atol=5e-5)


def test_sizes_go_where_they_belong():
    q, k, v = sample_qkv(2, 3, 5, n_k=7, d_v=11)
    assert (q.shape, k.shape, v.shape) == ((2, 3, 5), (2, 7, 5), (2, 7, 11))


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_other_dtypes_are_the_same_numbers_rounded(dtype):
    for tensor, reference in zip(
        sample_qkv(2, 5, 8, dtype=dtype), sample_qkv(2, 5, 8), strict=True
    ):
        assert torch.equal(tensor, reference.to(dtype))


def test_the_global_generator_is_neither_used_nor_changed():
    before = torch.get_rng_state()
    first = sample_qkv(2, 5, 8, seed=3)
    assert torch.equal(torch.get_rng_state(), before)
    torch.rand(1)
    assert torch.equal(sample_qkv(2, 5, 8, seed=3)[0], first[0])
    assert not torch.equal(sample_qkv(2, 5, 8, seed=4)[0], first[0])


@pytest.mark.parametrize(
    ("sizes", "options", "words"),
    [
        ((0, 5, 8), {}, "batch=0"),
        ((2, 0, 8), {}, "n_q=0"),
        ((2, 5, -1), {}, "d_k=-1"),
        ((2, 5, 8), {"n_k": 0}, "n_k=0"),
        ((2, 5, 8), {"d_v": 0}, "d_v=0"),
        ((2, 5, 8), {"seed": -1}, "seed .*: -1"),
        ((2, 5, 8), {"seed": 2**64}, "seed .*: 18446744073709551616"),
    ],
)
def test_refused(sizes, options, words):
    with pytest.raises(ValueError, match=words):
        sample_qkv(*sizes, **options)


def test_the_largest_seed_is_legal():
    assert sample_qkv(1, 1, 1, seed=2**64 - 1)[0].isfinite()


def test_whole_numbers_are_refused():
    with pytest.raises(ValueError, match="floating point"):
        sample_qkv(1, 2, 3, dtype=torch.int64)
