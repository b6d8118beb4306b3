import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from attention_core.decoding import KVCache, decode, replace_token

# Twice to five times what such small random inputs measure; a wrong row is off by about 1.
TOLERANCES = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 1e-2, torch.bfloat16: 1e-1}


def random(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


@given(
    lead=st.sampled_from([(), (3,), (2, 3)]),
    n=st.integers(1, 11),
    d_k=st.sampled_from([1, 5, 7]),
    d_v=st.sampled_from([1, 2, 13]),
    dtype=st.sampled_from(list(TOLERANCES)),
    scale=st.sampled_from([None, 0.0, -1.0, 0.25]),
    seed=st.integers(0, 99),
)
def test_decoding_gives_the_rows_of_causal_attention(
    lead: tuple[int, ...],
    n: int,
    d_k: int,
    d_v: int,
    dtype: torch.dtype,
    scale: float | None,
    seed: int,
) -> None:
    q, k, v = (
        random(*lead, n, d, seed=seed + i, dtype=dtype) for i, d in enumerate((d_k, d_k, d_v))
    )
    mask = torch.ones(n, n, dtype=torch.bool).tril()
    expected = F.scaled_dot_product_attention(q.double(), k.double(), v.double(), mask, scale=scale)
    steps = list(decode(q, k, v, scale=scale))
    output = torch.cat([s.output for s in steps], dim=-2)
    assert output.dtype == dtype
    torch.testing.assert_close(output.double(), expected, atol=TOLERANCES[dtype], rtol=0)
    assert [s.weights.shape for s in steps] == [(*lead, 1, t + 1) for t in range(n)]


def test_the_future_does_not_change_the_past() -> None:
    q, k, v = random(7, 3), random(7, 3, seed=1), random(7, 5, seed=2)
    before = [s.output for s in decode(q, k, v)]
    after = [s.output for s in decode(q, replace_token(k, 4, seed=3), replace_token(v, 4, seed=4))]
    unchanged = [torch.equal(a, b) for a, b in zip(before, after, strict=True)]
    assert unchanged == [True] * 4 + [False] * 3


def test_decoding_reads_one_position_at_a_time() -> None:
    v = random(5, 2)
    v[3] = math.nan
    steps = decode(random(5, 2), random(5, 2), v)
    assert [next(steps).output.isfinite().all().item() for _ in range(3)] == [True] * 3
    with pytest.raises(ValueError, match="v must hold finite numbers"):
        next(steps)


def test_the_cache_holds_what_was_appended() -> None:
    k, v = random(2, 5, 3), random(2, 5, 7, seed=1)
    cache = KVCache()
    for t in range(5):
        assert len(cache) == t
        k_t, v_t = k[:, t : t + 1].clone(), v[:, t : t + 1].clone()
        cache.append(k_t, v_t)
        k_t.zero_(), v_t.zero_()  # the cache keeps copies
    assert torch.equal(cache.keys, k)
    assert torch.equal(cache.values, v)


def test_a_refused_append_leaves_the_cache_alone() -> None:
    cache = KVCache()
    with pytest.raises(ValueError, match="an empty cache has no keys"):
        _ = cache.keys
    cache.append(torch.ones(1, 3), torch.ones(1, 5))
    for k, v, message in [
        (torch.ones(1, 3), torch.ones(1, 7), r"v must be one position.*\(1, 5\).*: \(1, 7\)"),
        (torch.ones(1, 3), torch.ones(2, 5), r"v must be one position.*\(1, 5\).*: \(2, 5\)"),
        (torch.ones(1, 3).double(), torch.ones(1, 5), "k must be .*float32 on cpu: .*float64"),
        (torch.ones(2, 1, 3), torch.ones(1, 5), r"k must be one position.*: \(2, 1, 3\)"),
        (torch.ones(3), torch.ones(5), r"two or more dimensions: k \(3,\), v \(5,\)"),
    ]:
        with pytest.raises(ValueError, match=message):
            cache.append(k, v)
    assert (len(cache), cache.keys.shape, cache.values.shape) == (1, (1, 3), (1, 5))


@pytest.mark.parametrize("sizes", [(5, 5, 3), (5, 3, 5), (3, 5, 5), (0, 0, 0)])
def test_decode_refuses_different_lengths_at_the_call(sizes: tuple[int, int, int]) -> None:
    q, k, v = (torch.ones(2, n, 7) for n in sizes)
    with pytest.raises(ValueError, match=rf"agree in n.*v \(2, {sizes[2]}, 7\)"):
        decode(q, k, v)
    with pytest.raises(ValueError, match=r"two or more dimensions: q \(7,\)"):
        decode(torch.ones(7), k, v)


@pytest.mark.parametrize("shape", [(5, 3), (2, 5, 3)])
def test_replace_token_changes_one_row_of_a_copy(shape: tuple[int, ...]) -> None:
    tensor = random(*shape, dtype=torch.float64)
    original = tensor.clone()
    changed = replace_token(tensor, 3, [1.0, 2.0, 4.0])
    assert torch.equal(tensor, original)
    assert torch.equal(changed[..., 3, :], torch.tensor([1.0, 2.0, 4.0]).expand(*shape[:-2], 3))
    kept = [0, 1, 2, 4]
    assert torch.equal(changed[..., kept, :], original[..., kept, :])
    assert changed.dtype == tensor.dtype


def test_replace_token_draws_from_the_seed_alone() -> None:
    before = torch.get_rng_state()
    row = replace_token(torch.zeros(5, 3), 0, seed=7)[0]
    assert torch.equal(row, random(3, seed=7))
    assert not torch.equal(row, replace_token(torch.zeros(5, 3), 0, seed=8)[0])
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"position": 5, "seed": 0}, r"from 0: 5 in \(5, 3\)"),
        ({"position": -1, "seed": 0}, r"from 0: -1 in \(5, 3\)"),
        ({"position": 0}, "either values or a seed: values=None, seed=None"),
        ({"position": 0, "values": [1.0], "seed": 0}, r"values=\[1.0\], seed=0"),
        ({"position": 0, "values": [1.0]}, r"\(1,\) for \(3,\)"),
    ],
)
def test_replace_token_errors_say_what_was_wrong(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace_token(torch.zeros(5, 3), **arguments)
