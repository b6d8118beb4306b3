"""compare_with_torch() says yes to right results of every dtype and size, and no to mistakes."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core import agreement
from attention_core.agreement import (
    Agreement,
    compare,
    compare_with_is_causal,
    compare_with_torch,
    is_causal_difference,
    tolerance_for,
)
from attention_core.attention import attention, attention_steps

HALF = [torch.bfloat16, torch.float16]
DTYPES = [torch.float64, torch.float32, *HALF]
QKV = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def normal(*shape, seed=0, dtype=torch.float32):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def worst(found):
    return max(found.torch_difference, found.float64_difference, found.row_sum_deviation)


def test_the_lesson_agrees_to_the_last_bits(lesson: QKV):
    for mask in (None, torch.tril(torch.ones(5, 5))):
        found = compare_with_torch(*lesson, mask)
        assert found.agrees
        assert worst(found) < 1e-6 and found.tolerance < 5e-6


@given(
    st.sampled_from(DTYPES),
    st.sampled_from([(), (2,), (2, 3)]),
    st.tuples(*[st.integers(1, 11)] * 4),
    st.none() | st.sampled_from([0.0, 1.0, -1.0, -0.3]),
    st.sampled_from([None, 0, -1, -11]),
    st.integers(0, 999),
)
def test_right_results_agree(dtype, lead, sizes, scale, diagonal, seed):
    n_q, n_k, d_k, d_v = sizes
    q, k = normal(*lead, n_q, d_k, seed=seed), normal(*lead, n_k, d_k, seed=seed + 1)
    v = normal(*lead, n_k, d_v, seed=seed + 2)
    mask = None if diagonal is None else torch.ones(*lead, n_q, n_k).tril(diagonal)
    found = compare_with_torch(q.to(dtype), k.to(dtype), v.to(dtype), mask, scale=scale)
    assert found.agrees, found


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("scale", [None, 1.0])
@pytest.mark.parametrize(("n", "d"), [(128, 1024), (2, 1024), (128, 1)])
def test_right_results_agree_with_room_to_spare_at_the_largest_sizes(dtype, scale, n, d):
    q, k, v = (normal(2, n, d, seed=seed, dtype=dtype) for seed in range(3))
    found = compare_with_torch(q, k, v, torch.ones(1, n, n).tril(), scale=scale)
    assert worst(found) < found.tolerance / 1.5, found


def test_terms_that_cancel_are_allowed_for():
    q = normal(5, 64, dtype=torch.float64)
    q = torch.cat([q, q], -1).float() * 100  # dots of nearly 0, from terms of 10,000
    k = torch.cat([normal(7, 64, seed=1), -normal(7, 64, seed=1) + 1e-4], -1) * 100
    found = compare_with_torch(q, k, normal(7, 3))
    assert found.agrees and found.tolerance < 0.1, found


@pytest.mark.parametrize(
    ("dtype", "typical"),
    list(zip(DTYPES, [3.6e-15, 1.7e-6, 2.3e-2, 2e-3], strict=True)),
)
def test_each_dtype_has_a_tolerance_of_its_own_size(dtype, typical):
    q, k, v = (normal(2, 31, 64, seed=seed, dtype=dtype) for seed in range(3))
    found = compare_with_torch(q, k, v)
    assert found.torch_difference < 3 * typical
    assert typical < found.tolerance < 30 * typical


@pytest.mark.parametrize("scale", [0.0, -1.0])
def test_four_dimensions_where_is_causal_would_give_nan(scale):
    x = torch.eye(3).view(1, 1, 3, 3)
    assert compare_with_torch(x, x, x, torch.ones(3, 3).tril(), scale=scale).agrees


def unscaled(q, k, v, mask=None, *, bias=None, scale=None):
    return attention(q, k, v, mask, scale=1.0)


def transposed_softmax(q, k, v, mask=None, *, bias=None, scale=None):
    weights = (q @ k.mT * q.shape[-1] ** -0.5).masked_fill(~mask, -math.inf).softmax(-2)
    return weights @ v, weights


def inverted(q, k, v, mask=None, *, bias=None, scale=None):
    return attention(q, k, v, ~mask, scale=scale)


def unmasked(q, k, v, mask=None, *, bias=None, scale=None):
    return attention(q, k, v, scale=scale)


def masked_late(q, k, v, mask=None, *, bias=None, scale=None):
    weights = attention(q, k, v, scale=scale)[1] * mask
    return weights @ v, weights


def mistaken(mistake, q, k, v, mask=None, **options):
    """All steps, with the weights and the output of the mistake."""
    output, weights = mistake(q, k, v, mask, **options)
    return replace(attention_steps(q, k, v, mask, **options), weights=weights, output=output)


MISTAKES = [unscaled, transposed_softmax, inverted, unmasked, masked_late]


@pytest.mark.parametrize("size_of_v", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_do_not_agree(mistake, dtype, size_of_v):
    q, k, v = (normal(2, 7, 11, seed=seed, dtype=dtype) for seed in range(3))
    mask = torch.ones(7, 7).tril().bool()
    assert compare_with_torch(q, k, v * size_of_v, mask).agrees
    assert not compare(
        mistaken(mistake, q, k, v * size_of_v, mask), q, k, v * size_of_v, mask
    ).agrees


def test_wrong_weights_do_not_agree_even_if_v_hides_them(lesson):
    q, k, _ = lesson
    v = torch.ones(2, 5, 3)
    found = compare(mistaken(unscaled, q, k, v), q, k, v)
    assert found.torch_difference < found.tolerance and not found.agrees


@pytest.mark.parametrize("position", range(3))
def test_nan_never_agrees(position):
    found = [0.0, 0.0, 0.0, 1e-6]  # the last one is the tolerance
    assert Agreement(*found).agrees
    found[position] = math.nan
    assert not Agreement(*found).agrees
    found[position] = 2e-6
    assert not Agreement(*found).agrees


def test_overflow_does_not_agree():
    x = torch.full((3, 64), 100.0, dtype=torch.float16)
    found = compare_with_torch(x, x, torch.ones_like(x))
    assert math.isnan(found.torch_difference) and not found.agrees


def test_dead_rows_do_not_count_as_rows_that_miss_1():
    x = normal(2, 3, 5)
    assert compare_with_torch(x, x, x, torch.zeros(3, 3)) == Agreement(
        0.0, 0.0, 0.0, tolerance_for(torch.float32, largest_value=x.abs().max().item())
    )


def test_the_tolerance_follows_dtype_scores_terms_and_values():
    order = [tolerance_for(dtype) for dtype in (*DTYPES[:2], torch.float16, torch.bfloat16)]
    assert order == sorted(order) and len(set(order)) == 4
    least = tolerance_for(torch.float16)
    assert tolerance_for(torch.float16, largest_score=10) > least
    assert tolerance_for(torch.float16, largest_terms=10) > least
    assert tolerance_for(torch.float16, largest_value=10) == pytest.approx(10 * least)
    assert tolerance_for(torch.float16, largest_value=0.1) == least


def test_gradients_and_inputs_are_left_alone(lesson):
    q, k, v = (t.clone().requires_grad_() for t in lesson)
    assert compare_with_torch(q, k, v).agrees
    assert q.requires_grad and q.grad is None and torch.equal(q, lesson[0])


def test_is_causal_of_pytorch_agrees_on_the_lesson(lesson):
    q, k, v = lesson
    # about 1.19e-07: another CPU may differ in the last bits
    assert compare_with_is_causal(q, k, v) < 5e-7
    assert compare_with_is_causal(*(t.double() for t in lesson)) < 1e-14


@pytest.mark.parametrize("lead", [(), (2,), (5,), (2, 3), (5, 5)])  # 5: as many as positions
@pytest.mark.parametrize("n_k", [3, 5, 7])
@pytest.mark.parametrize("dtype", DTYPES)
def test_is_causal_of_pytorch_agrees_at_every_shape(lead, n_k, dtype):
    q, v = normal(*lead, 5, 11, dtype=dtype), normal(*lead, n_k, 2, seed=2, dtype=dtype)
    k = normal(*lead, n_k, 11, seed=1, dtype=dtype)
    mask = torch.ones(*lead, 5, n_k).tril()
    assert compare_with_is_causal(q, k, v) <= compare_with_torch(q, k, v, mask).tolerance


@pytest.mark.parametrize("mistake", [unmasked, inverted])
def test_is_causal_of_pytorch_tells_a_wrong_mask(lesson, mistake):
    output, _ = mistake(*lesson, torch.ones(1, 5, 5).tril().bool())
    assert is_causal_difference(output, *lesson) > 0.1


@given(
    st.sampled_from(DTYPES),
    st.sampled_from([(), (2,), (2, 3)]),
    st.tuples(*[st.integers(1, 11)] * 4),
    st.sampled_from([0.1, 1.0, 30.0, 1e3, 1e4]),
    st.sampled_from([None, 0, -1, -11]),
    st.integers(0, 999),
)
def test_right_results_agree_with_a_bias_small_or_large(dtype, lead, sizes, size, diagonal, seed):
    n_q, n_k, d_k, d_v = sizes
    q, k = normal(*lead, n_q, d_k, seed=seed), normal(*lead, n_k, d_k, seed=seed + 1)
    v = normal(*lead, n_k, d_v, seed=seed + 2)
    bias = normal(*lead, n_q, n_k, seed=seed + 3) * size
    bias[..., ::3, 0] = -math.inf  # for n_k = 1 a dead row
    mask = None if diagonal is None else torch.ones(*lead, n_q, n_k).tril(diagonal)
    q, k, v, bias = (tensor.to(dtype) for tensor in (q, k, v, bias))
    found = compare_with_torch(q, k, v, mask, bias=bias)
    assert found.agrees, found


def test_the_tolerance_counts_the_bias_and_what_is_hidden_not(lesson: QKV):
    plain = compare_with_torch(*lesson).tolerance
    bias = torch.zeros(1, 5, 5)
    bias[0, 1, 3] = -1000.0
    seen = compare_with_torch(*lesson, bias=bias).tolerance
    assert 50 * plain < seen < 1e-3
    hidden = compare_with_torch(*lesson, torch.ones(1, 5, 5).tril(), bias=bias).tolerance
    assert hidden < 3 * plain
    assert compare_with_torch(*lesson, bias=torch.full((1, 5, 5), -math.inf)).agrees


def bias_forgotten(q, k, v, mask=None, *, bias=None, scale=None):
    return attention(q, k, v, mask, scale=scale)


def bias_subtracted(q, k, v, mask=None, *, bias=None, scale=None):
    return attention(q, k, v, mask, bias=-bias, scale=scale)


def bias_scaled_too(q, k, v, mask=None, *, bias=None, scale=None):
    return attention(q, k, v, mask, bias=bias * scale_of(q), scale=scale)


def bias_transposed(q, k, v, mask=None, *, bias=None, scale=None):
    return attention(q, k, v, mask, bias=bias.mT, scale=scale)


def bias_instead_of_mask(q, k, v, mask=None, *, bias=None, scale=None):
    return attention(q, k, v, bias=bias, scale=scale)


def scale_of(q):
    return q.shape[-1] ** -0.5


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "mistake",
    [bias_forgotten, bias_subtracted, bias_scaled_too, bias_transposed, bias_instead_of_mask],
)
def test_mistakes_with_a_bias_do_not_agree(mistake, dtype):
    q, k, v = (normal(2, 7, 11, seed=seed, dtype=dtype) for seed in range(3))
    mask, bias = torch.ones(7, 7).tril().bool(), normal(7, 7, seed=3, dtype=dtype)
    assert compare_with_torch(q, k, v, mask, bias=bias).agrees
    assert not compare(mistaken(mistake, q, k, v, mask, bias=bias), q, k, v, mask, bias=bias).agrees


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("step", ["biased_scores", "weights", "output"])
def test_a_single_number_that_was_tampered_with_is_found(step, dtype):
    q, k, v = (normal(2, 7, 11, seed=seed, dtype=dtype) for seed in range(3))
    mask, bias = torch.ones(7, 7).tril().bool(), normal(7, 7, seed=3, dtype=dtype)
    for seed, added in ((None, None), (3, bias)):
        steps = attention_steps(q, k, v, mask, bias=added)
        assert compare(steps, q, k, v, mask, bias=added).agrees, seed
        shown = getattr(steps, step).clone()
        shown[1, 5, 2] += 0.5
        tampered = replace(steps, **{step: shown})
        assert not compare(tampered, q, k, v, mask, bias=added).agrees


def test_steps_of_another_scale_are_found(lesson):
    assert not compare(attention_steps(*lesson, scale=0.3), *lesson).agrees
    assert compare(attention_steps(*lesson, scale=0.3), *lesson, scale=0.3).agrees


def test_steps_are_judged_and_not_computed_again(lesson, monkeypatch):
    steps = attention_steps(*lesson)
    monkeypatch.setattr(agreement, "attention_steps", None)
    assert compare(steps, *lesson).agrees


def test_one_element_of_a_batch(lesson):
    q, k, v = lesson
    whole, one = attention_steps(q, k, v), attention_steps(q[1], k[1], v[1])
    for name, value in vars(one).items():
        torch.testing.assert_close(getattr(whole[1], name), value)
