"""attention() against PyTorch's own kernel, numbers written by hand, and laws of the formula."""

import dataclasses
import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from attention_core.attention import attention, attention_steps
from tests.support.attention_contract import assert_is_attention

QKV = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
I3 = torch.eye(3)
CAUSAL3 = torch.ones(3, 3).tril().bool()
TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 5e-3, torch.bfloat16: 4e-2}


def normal(*shape, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def assert_weights(weights, rows, atol=5e-5):
    assert_close(weights, torch.tensor(rows, dtype=weights.dtype), rtol=0, atol=atol)


@st.composite
def problems(draw, dtypes=(torch.float64, torch.float32)):
    """q, k, v, a mask (with dead rows now and then) or None, a scale or None."""
    n_q, n_k, d_k, d_v = (draw(st.integers(1, 7)) for _ in range(4))
    lead = draw(st.sampled_from([(), (1,), (2,), (3, 2)]))
    k_lead = draw(st.sampled_from([lead, lead[1:], (1,) * len(lead)]))
    dtype, seed = draw(st.sampled_from(dtypes)), draw(st.integers(0, 99))
    q = normal(*lead, n_q, d_k, seed=seed, dtype=dtype)
    k = normal(*k_lead, n_k, d_k, seed=seed + 1, dtype=dtype)
    v = normal(*k_lead, n_k, d_v, seed=seed + 2, dtype=dtype)
    mask = normal(*lead, n_q, n_k, seed=seed + 3) > draw(st.sampled_from([-1.0, 0.0, 1.0]))
    scale = draw(st.none() | st.sampled_from([0.0, 1.0, -1.0]) | st.floats(-3, 3))
    return q, k, v, draw(st.sampled_from([None, mask])), scale


@given(problems())
def test_equals_the_fused_kernel(problem):
    q, k, v, mask, scale = problem
    output, weights = attention(q, k, v, mask, scale=scale)
    fused = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale)
    assert_close(output, fused, rtol=0, atol=TOLERANCE[q.dtype])
    live = torch.ones_like(weights, dtype=torch.bool) if mask is None else mask
    assert_close(weights.sum(-1), live.any(-1).to(weights), rtol=0, atol=1e-6)
    assert (weights[~live] == 0).all()


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_every_dtype_is_near_float64_and_stays_itself(dtype):
    q, k, v = normal(2, 7, 5), normal(2, 11, 5, seed=1), normal(2, 11, 13, seed=2)
    exact = F.scaled_dot_product_attention(*(t.to(dtype).double() for t in (q, k, v)))
    output, weights = attention(q.to(dtype), k.to(dtype), v.to(dtype))
    assert output.shape == (2, 7, 13) and weights.shape == (2, 7, 11)
    assert output.dtype == weights.dtype == dtype
    assert_close(output.double(), exact, rtol=0, atol=TOLERANCE[dtype])


def test_the_lesson(lesson):
    q, k, v = lesson
    output, weights = attention(q, k, v)
    assert output.shape == (2, 5, 8) and weights.shape == (2, 5, 5)
    assert_close(weights.sum(-1), torch.ones(2, 5))
    fused = F.scaled_dot_product_attention(q, k, v)
    assert (output - fused).abs().max() < 1e-6

    output, weights = attention(q, k, v, torch.tril(torch.ones(5, 5)))
    assert (weights[:, 0, 1:] == 0).all()
    fused = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert (output - fused).abs().max() < 1e-6


def test_every_step_is_returned_and_follows_from_the_one_before(lesson):
    q, k, v = lesson
    mask = torch.ones(5, 5).tril().bool()
    steps = attention_steps(q, k, v, mask)
    assert_close(steps.dots, torch.einsum("bid,bjd->bij", q, k))
    assert steps.scale == 1 / math.sqrt(8)
    assert torch.equal(steps.scores, steps.dots / math.sqrt(8))
    assert_close(steps.scores, steps.dots * steps.scale)
    assert torch.equal(steps.masked_scores.isneginf(), (~mask).expand(2, 5, 5))
    assert torch.equal(steps.masked_scores[:, mask], steps.scores[:, mask])
    assert_close(steps.weights, steps.masked_scores.softmax(-1))
    assert torch.equal(steps.output, steps.weights @ v)
    output, weights = attention(q, k, v, mask)
    assert torch.equal(output, steps.output) and torch.equal(weights, steps.weights)
    with pytest.raises(dataclasses.FrozenInstanceError):
        steps.scale = 1.0  # type: ignore[misc]


def test_a_mask_of_ones_is_no_mask_and_inputs_are_not_written(lesson: QKV):
    before = [t.clone() for t in lesson]
    masked, plain = attention(*lesson, torch.ones(5, 5)), attention(*lesson)
    assert torch.equal(masked[0], plain[0]) and torch.equal(masked[1], plain[1])
    assert all(torch.equal(*pair) for pair in zip(before, lesson, strict=True))


@pytest.mark.parametrize("position", range(1, 5))
def test_changing_the_future_leaves_the_past_bit_identical(lesson, position):
    q, k, v = lesson
    mask = torch.ones(5, 5).tril().bool()
    changed_k, changed_v = k.clone(), v.clone()
    changed_k[:, position] += 100
    changed_v[:, position] -= 100
    before, after = attention_steps(q, k, v, mask), attention_steps(q, changed_k, changed_v, mask)
    assert torch.equal(before.output[:, :position], after.output[:, :position])
    assert torch.equal(before.weights[:, :position], after.weights[:, :position])
    assert not torch.isclose(before.output[:, position:], after.output[:, position:]).any()
    leaky = attention(q, changed_k, changed_v)[0], attention(q, k, v)[0]
    assert not torch.equal(leaky[0][:, :position], leaky[1][:, :position])


@given(problems(dtypes=[torch.float64]), st.randoms())
def test_keys_are_a_set(problem, random):
    q, k, v, _, scale = problem
    order = random.sample(range(k.shape[-2]), k.shape[-2])
    shuffled = attention(q, k[..., order, :], v[..., order, :], scale=scale)[0]
    assert_close(attention(q, k, v, scale=scale)[0], shuffled)


def test_a_query_with_no_key_is_zero_and_has_finite_gradients():
    q, k = (torch.eye(2, requires_grad=True) for _ in range(2))
    v = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    output, weights = attention(q, k, v, torch.tensor([[True, False], [False, False]]))
    assert output.tolist() == [[1, 2], [0, 0]] and weights.tolist() == [[1, 0], [0, 0]]
    gradients = torch.autograd.grad(output[0].sum(), (q, k, v), retain_graph=True)
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert gradients[2].tolist() == [[1, 1], [0, 0]]
    with torch.autograd.set_detect_anomaly(True):  # nor is there a NaN on the way
        gradients = torch.autograd.grad(output.sum(), (q, k, v), retain_graph=True)
    assert all((gradient[1] == 0).all() for gradient in gradients)


@pytest.mark.parametrize("diagonal", [0, -1, -2, -7])
def test_gradients_are_those_of_finite_differences(diagonal):
    mask = torch.ones(5, 7).tril(diagonal).bool()  # -1 and below: dead rows
    inputs = [t.requires_grad_() for t in (normal(5, 3), normal(7, 3, seed=1), normal(7, 2))]
    assert torch.autograd.gradcheck(lambda q, k, v: attention(q, k, v, mask), inputs)


def test_no_keys_at_all_is_a_query_with_no_key():
    output, weights = attention(torch.ones(3, 2), torch.ones(0, 2), torch.ones(0, 5))
    assert output.tolist() == [[0.0] * 5] * 3 and weights.shape == (3, 0)


@pytest.mark.parametrize(
    ("diagonal", "rows"),
    [
        (0, [[1, 0, 0, 0, 0], [0.5, 0.5, 0, 0, 0]]),
        (3, [[0.25, 0.25, 0.25, 0.25, 0], [0.2] * 5]),
    ],
    ids=["top-left", "bottom-right"],
)
def test_both_alignments_of_a_causal_mask(diagonal, rows):
    mask = torch.ones(2, 5).tril(diagonal)
    output, _ = attention(torch.zeros(2, 4), torch.zeros(5, 4), torch.eye(5), mask)
    assert_weights(output, rows, atol=1e-7)


@pytest.mark.parametrize("lead", [(), (1,), (1, 1)])
@pytest.mark.parametrize(
    ("scale", "rows"),
    [
        (-1, [[1, 0, 0], [0.7311, 0.2689, 0], [0.4223, 0.4223, 0.1554]]),
        (0, [[1, 0, 0], [1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]]),
    ],
)
def test_zero_and_negative_scales_mean_themselves(scale, rows, lead):
    x = I3.expand(*lead, 3, 3)
    output, weights = attention(x, x, x, CAUSAL3, scale=scale)
    assert_weights(weights.view(3, 3), rows)
    assert torch.equal(output, weights)


def test_a_whole_number_of_any_size_is_a_scale():
    x = normal(3, 5)
    assert torch.equal(attention(x, x, x, scale=10**30)[0], attention(x, x, x, scale=1e30)[0])


def test_the_default_scale_is_by_d_k_and_by_nothing_else():
    q, k, v = normal(2, 3, 5), normal(2, 7, 5), normal(2, 7, 11)
    assert attention_steps(q, k, v).scale == 5**-0.5
    assert_close(attention(q, k, v)[0], attention(q, k, v, scale=5**-0.5)[0])
    assert not torch.isclose(attention(q, k, v)[0], attention(q, k, v, scale=1)[0]).all()


@pytest.mark.parametrize(
    ("value", "dtype", "scale", "step"),
    [
        (100.0, torch.float16, None, "dots"),  # 64 * 100 * 100 > 65504
        (1e20, torch.float32, None, "dots"),
        (10.0, torch.float16, 100, "scores"),
        (100.0, torch.float32, None, None),
        (100.0, torch.bfloat16, None, None),
    ],
)
def test_overflow_names_the_first_step(value, dtype, scale, step):
    x = torch.full((3, 64), value, dtype=dtype)
    steps = attention_steps(x, x, torch.ones_like(x), CAUSAL3, scale=scale)
    assert steps.overflow == step
    assert steps.weights.isfinite().all() == (step is None)  # and the -inf of the mask is no cause


@pytest.mark.parametrize(
    "dtype", [torch.bool, torch.int64, torch.uint8, torch.float32, torch.float16]
)
def test_zeros_and_ones_mean_forbidden_and_allowed(dtype):
    _, weights = attention(I3, I3, I3, CAUSAL3.to(dtype))
    assert weights[0].tolist() == [1, 0, 0]
    added = F.scaled_dot_product_attention(I3, I3, I3, attn_mask=CAUSAL3.float())
    assert_weights(added[0], [0.708, 0.146, 0.146], atol=5e-4)  # what it must not mean


def test_true_means_may_attend():
    output, _ = attention(I3, I3, I3, torch.ones(3, 3).triu(1).bool())
    assert_weights(output, [[0, 0.5, 0.5], [0, 0, 1], [0, 0, 0]])


def test_softmax_is_over_the_keys():
    _, weights = attention(torch.tensor([[2.0, 0], [0, 0]]), torch.eye(2), torch.eye(2), scale=1)
    assert_weights(weights, [[0.881, 0.119], [0.5, 0.5]], atol=5e-4)


def test_masking_comes_before_the_softmax_and_excludes():
    _, weights = attention(torch.zeros(3, 2), torch.zeros(3, 2), I3, CAUSAL3)
    assert_weights(weights, [[1, 0, 0], [1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]], atol=1e-7)


def test_a_single_token_answers_itself_exactly():
    q, k, v = normal(3, 1, 5), normal(3, 1, 5, seed=1), normal(3, 1, 7, seed=2)
    assert torch.equal(attention(q, k, v)[0], v)


def test_one_dimension():
    x = torch.tensor([[1.0], [2.0]])
    assert_weights(attention(x, x, x)[1], [[0.2689, 0.7311], [0.1192, 0.8808]])


def test_q_equal_to_k_gives_symmetric_scores_but_not_weights():
    x = normal(5, 3)
    steps = attention_steps(x, x, x)
    assert_close(steps.scores, steps.scores.mT)
    assert not torch.isclose(steps.weights, steps.weights.mT).all()


@pytest.mark.parametrize("shape", [(7, 11), (1, 11), (7, 1), (3, 1, 11), (1, 7, 11), (3, 7, 11)])
def test_masks_that_broadcast(shape):
    q, k, v = normal(3, 7, 5), normal(3, 11, 5, seed=1), normal(3, 11, 2, seed=2)
    mask = normal(*shape, seed=3) > 0
    fused = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    assert_close(attention(q, k, v, mask)[0], fused, rtol=0, atol=1e-12)


@given(problems(), st.integers(0, 99), st.sampled_from([0.0, 1.0, 30.0]), st.floats(0, 1))
def test_a_bias_is_added_as_the_fused_kernel_adds_a_float_mask(problem, seed, size, forbidden):
    q, k, v, mask, scale = problem
    n_q, n_k = q.shape[-2], k.shape[-2]
    bias = normal(*q.shape[:-2], n_q, n_k, seed=seed, dtype=q.dtype) * size
    chance = torch.rand(bias.shape, generator=torch.Generator().manual_seed(seed))
    bias = bias.masked_fill(chance < forbidden, -math.inf)
    allowed = bias.isfinite() if mask is None else bias.isfinite() & mask
    output, weights = attention(q, k, v, mask, bias=bias, scale=scale)
    added = bias.masked_fill(~allowed, -math.inf)
    fused = F.scaled_dot_product_attention(q, k, v, attn_mask=added, scale=scale)
    assert_close(output, fused, rtol=0, atol=TOLERANCE[q.dtype])
    assert (weights[~allowed] == 0).all()
    assert_close(weights.sum(-1), allowed.any(-1).to(weights), rtol=0, atol=1e-6)


def test_a_bias_by_hand():
    bias = torch.tensor([[0.0, math.log(3)], [-math.inf, -7.0]])
    steps = attention_steps(torch.zeros(2, 3), torch.zeros(2, 3), torch.eye(2), bias=bias)
    assert_weights(steps.output, [[0.25, 0.75], [0, 1]], atol=1e-7)
    assert torch.equal(steps.biased_scores, bias) and torch.equal(steps.masked_scores, bias)
    assert steps.scores.tolist() == [[0, 0], [0, 0]] and steps.overflow is None


def test_the_bias_comes_after_the_scale_and_before_the_mask(lesson):
    q, k, v = lesson
    mask, bias = torch.ones(5, 5).tril().bool(), normal(2, 5, 5, dtype=torch.float32)
    steps = attention_steps(q, k, v, mask, bias=bias, scale=0.1)
    assert torch.equal(steps.scores, attention_steps(q, k, v, scale=0.1).scores)
    assert torch.equal(steps.biased_scores, steps.scores + bias)
    assert torch.equal(steps.masked_scores[:, mask], steps.biased_scores[:, mask])
    assert steps.masked_scores[:, ~mask].isneginf().all()
    plain = attention_steps(q, k, v, mask)
    assert plain.biased_scores is plain.scores
    zero = attention_steps(q, k, v, mask, bias=torch.zeros(5, 5))
    assert torch.equal(zero.weights, plain.weights) and torch.equal(zero.output, plain.output)


def test_a_number_added_to_a_whole_row_changes_nothing(lesson):
    shift = torch.tensor([[3.0], [-5.0], [0.0], [11.0], [-0.5]])
    assert_close(attention(*lesson, bias=shift)[1], attention(*lesson)[1])
    assert not torch.isclose(attention(*lesson, bias=shift.mT)[1], attention(*lesson)[1]).any()


@pytest.mark.parametrize("diagonal", [0, -1, -3])  # -1 and below: dead rows
def test_minus_infinity_forbids_exactly_as_false_does(lesson: QKV, diagonal):
    mask = torch.ones(5, 5).tril(diagonal).bool()
    bias = torch.zeros(5, 5).masked_fill(~mask, -math.inf)
    by_bias, by_mask = attention(*lesson, bias=bias), attention(*lesson, mask)
    assert torch.equal(by_bias[0], by_mask[0]) and torch.equal(by_bias[1], by_mask[1])
    slope = torch.linspace(-1, 0, 5).expand(5, 5)
    both = attention(*lesson, bias=slope + bias)
    assert torch.equal(both[1], attention(*lesson, mask, bias=slope)[1])


def test_a_row_of_nothing_but_minus_infinity_is_dead_with_finite_gradients():
    q, k = (torch.eye(2, requires_grad=True) for _ in range(2))
    v = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    bias = torch.tensor([[0.5, 0.0], [-math.inf, -math.inf]], requires_grad=True)
    mask = torch.tensor([[True, False], [True, True]])
    with torch.autograd.set_detect_anomaly(True):  # nor is there a NaN on the way
        output, weights = attention(q, k, v, mask, bias=bias)
        gradients = torch.autograd.grad(output.sum(), (q, k, v, bias))
    assert output.tolist() == [[1, 2], [0, 0]] and weights.tolist() == [[1, 0], [0, 0]]
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert gradients[2].tolist() == [[1, 1], [0, 0]] and (gradients[3][1] == 0).all()


@pytest.mark.parametrize("diagonal", [0, -2, -7])
def test_gradients_of_a_bias_are_those_of_finite_differences(diagonal):
    mask = torch.ones(5, 7).tril(diagonal).bool()
    inputs = [normal(5, 3), normal(7, 3, seed=1), normal(7, 2), normal(5, 7), normal(1, 7, seed=3)]
    forbidden = torch.zeros(5, 7, dtype=torch.float64).masked_fill(~mask, -math.inf)

    def output(q, k, v, full, row):
        return (
            attention(q, k, v, mask, bias=full + row)[0]
            + attention(q, k, v, bias=full + forbidden)[0]
        )

    assert torch.autograd.gradcheck(output, [x.requires_grad_() for x in inputs])


@pytest.mark.parametrize("shape", [(7, 11), (1, 11), (7, 1), (3, 1, 11), (1, 7, 11), (3, 7, 11)])
def test_biases_that_broadcast(shape):
    q, k, v = normal(3, 7, 5), normal(3, 11, 5, seed=1), normal(3, 11, 2, seed=2)
    bias = normal(*shape, seed=3)
    fused = F.scaled_dot_product_attention(q, k, v, attn_mask=bias.expand(3, 7, 11))
    assert_close(attention(q, k, v, bias=bias)[0], fused, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("bias", "step", "finite"),
    [
        ([[60000.0, 0.0], [0.0, 0.0]], "biased_scores", False),  # 60000 + 6400 > 65504
        ([[-math.inf, 0.0], [0.0, 0.0]], None, True),
        ([[-math.inf, -math.inf], [0.0, 0.0]], None, True),
        ([[0.0, 0.0], [-60000.0, 0.0]], None, True),
    ],
)
def test_overflow_of_the_sum_is_told_from_a_bias_that_forbids(bias, step, finite):
    x = torch.full((2, 64), 10.0, dtype=torch.float16)
    steps = attention_steps(x, x, x, bias=torch.tensor(bias, dtype=torch.float16), scale=1.0)
    assert steps.overflow == step and steps.weights.isfinite().all() == finite


def test_overflow_to_minus_infinity_is_not_taken_for_a_dead_row():
    x = torch.full((2, 64), 10.0, dtype=torch.float16)
    bias = torch.full((2, 2), -60000.0, dtype=torch.float16)
    steps = attention_steps(x, x, x, bias=bias, scale=-1.0)  # -6400 - 60000
    assert steps.overflow == "biased_scores" and steps.weights.isnan().all()
    bias[:, 0] = 0  # beside a score that is not so small, its weight is right: 0
    assert attention_steps(x, x, x, bias=bias, scale=-1.0).overflow is None
    hidden = attention_steps(x, x, x, torch.eye(2), bias=-bias.flip(1), scale=1.0)
    assert hidden.overflow == "biased_scores"  # behind the mask too, as for the scores


def test_attention_keeps_what_its_faulty_copies_break():
    def with_padding(q, k, v, mask, padding):
        allowed = q.new_ones(1, 1, q.shape[-2], k.shape[-2]).bool()
        allowed = allowed if mask is None else allowed & mask
        allowed = allowed if padding is None else allowed & padding[:, None, None, :]
        return attention(q, k, v, allowed)

    assert_is_attention(with_padding)
