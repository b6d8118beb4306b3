"""What is refused, and that the message says the rule and the evidence."""

import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from attention_core.attention import attention
from attention_core.checks import as_boolean, broadcast, require, require_finite


def ones(*shape, **options):
    return torch.ones(shape, **options)


def refusal(*args, **options):
    with pytest.raises(ValueError) as caught:
        attention(*args, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("q", "k", "v", "words"),
    [
        (ones(2, 4), ones(5, 3), ones(5, 7), "agree in d_k.*q (2, 4), k (5, 3), v (5, 7)"),
        (ones(2, 3), ones(5, 3), ones(7, 3), "agree in n_k.*q (2, 3), k (5, 3), v (7, 3)"),
        (ones(2, 0), ones(5, 0), ones(5, 3), "d_k.*1 or more.*q (2, 0)"),
        (ones(3), ones(5, 3), ones(5, 3), "two or more dimensions.*q (3,)"),
        (ones(2, 5, 3), ones(7, 5, 3), ones(5, 3), "leading.*q (2, 5, 3), k (7, 5, 3)"),
        (
            ones(2, 3).double(),
            ones(5, 3),
            ones(5, 3),
            "one dtype.*q torch.float64, k torch.float32",
        ),
        (ones(2, 3).int(), ones(5, 3).int(), ones(5, 3).int(), "must be float64.*q torch.int32"),
        (ones(2, 3), ones(5, 3, device="meta"), ones(5, 3), "one device.*q on cpu, k on meta"),
        (ones(2, 3), ones(5, 3), [[1.0] * 3] * 5, "v must be a tensor: it is a list"),
    ],
)
def test_tensors_that_do_not_go_together(q, k, v, words):
    assert re.search(words.replace("(", r"\(").replace(")", r"\)"), refusal(q, k, v))


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("name", ["q", "k", "v"])
def test_values_that_are_not_finite_even_behind_a_mask(name, bad):
    tensors = {n: ones(5, 3) for n in "qkv"}
    tensors[name][4, 0] = bad
    assert f"{name}[4, 0] is {bad}" in refusal(**tensors, mask=ones(5, 5).tril())


def test_the_first_bad_position_of_a_batch():
    tensor = ones(2, 3, 5)
    tensor[1, 0, 2] = tensor[1, 2, 0] = float("nan")
    with pytest.raises(ValueError, match=re.escape("x must hold finite numbers only: x[1, 0, 2]")):
        require_finite("x", tensor)
    require_finite("x", ones(2, 3))
    require_finite("x", ones(0, 3))


@pytest.mark.parametrize("scale", [float("nan"), float("inf"), -float("inf")])
def test_a_scale_that_is_not_finite(scale):
    message = f"scale must be a finite number: {scale}"
    assert refusal(ones(2, 3), ones(2, 3), ones(2, 3), scale=scale) == message


@pytest.mark.parametrize(
    ("mask", "words"),
    [
        (ones(7), ["two or more dimensions", "mask (7,)"]),
        (ones(7, 5), ["must broadcast", "mask (7, 5)", "scores (3, 5, 7)"]),  # transposed
        (ones(3, 7), ["must broadcast", "write `mask[:, None, :]`", "mask (3, 7)"]),  # padding
        (ones(3, 1, 5, 7), ["must broadcast", "mask (3, 1, 5, 7)"]),  # would add a dimension
        (ones(2, 5, 7), ["must broadcast to (..., n_q, n_k): mask (2, 5, 7)"]),  # and no hint
        (ones(5, 7, device="meta"), ["one device", "mask on meta, q on cpu"]),
        (lambda q_idx, k_idx: k_idx <= q_idx, ["must be a tensor", "mask_tensor"]),
    ],
)
def test_masks_that_do_not_fit(mask, words):
    message = refusal(ones(3, 5, 2), ones(3, 7, 2), ones(3, 7, 2), mask)
    assert all(word in message for word in words), message


@pytest.mark.parametrize(
    ("lead", "shape", "spellings"),
    [
        ((5,), (5, 7), ["`mask[None]`", "`mask[:, None, :]`"]),
        ((5, 3), (5, 7), ["`mask[None]`", "`mask[:, None, None, :]`"]),
        ((3, 3), (3, 5, 7), ["`mask[None]`", "`mask[:, None, :, :]`"]),
    ],
)
def test_a_mask_with_two_readings_is_refused_with_both_spellings(lead, shape, spellings):
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(*lead, n, 2, generator=generator) for n in (5, 7, 7))
    mask = torch.rand(shape, generator=generator) > 0.5
    message = refusal(q, k, v, mask)
    assert all(spelling in message for spelling in spellings), message

    shared, per_batch = (eval(s.strip("`"), {"mask": mask}) for s in spellings)
    for entry in range(lead[0]):
        alone = attention(q[entry], k[entry], v[entry], mask)
        assert_close(attention(q, k, v, shared)[0][entry], alone[0])
        alone = attention(q[entry], k[entry], v[entry], mask[entry].expand(*lead[1:], 5, 7))
        assert_close(attention(q, k, v, per_batch)[0][entry], alone[0])


def test_a_mask_may_belong_to_any_leading_dimension():
    message = refusal(*(ones(2, 3, 3, n, 2) for n in (5, 7, 7)), ones(3, 5, 7))
    assert "`mask[None]`" in message and "`mask[:, None, :, :]`" in message


@pytest.mark.parametrize("batch", [1, 2])
def test_a_mask_with_one_reading_is_not_refused(batch):
    q = ones(batch, 5, 3)
    assert attention(q, q, q, ones(5, 5))[0].shape == (batch, 5, 3)
    assert attention(ones(1, 1, 3), q[:1], q[:1], ones(1, 5))[0].shape == (1, 1, 3)


@pytest.mark.parametrize("bad", [2, -1, 0.5, -1e9, float("-inf"), float("nan")])
def test_numbers_other_than_0_and_1_are_a_bias(bad):
    mask = ones(5, 7)
    mask[2, 3] = bad
    message = refusal(ones(5, 3), ones(7, 3), ones(7, 3), mask)
    assert "bias" in message and f"mask[2, 3] is {float(bad)}" in message


def test_booleans_pass_unchanged_and_require_is_silent():
    mask = ones(2, 3).bool()
    assert as_boolean(mask) is mask
    assert as_boolean(ones(2, 3).tril()).tolist() == [[True, False, False], [True, True, False]]
    require(True, "never seen")


shapes = st.lists(st.sampled_from([0, 1, 2, 3]), max_size=4).map(torch.Size)


@given(st.lists(shapes, min_size=1, max_size=3))
def test_broadcasting_is_pytorchs(shapes):
    try:
        expected = torch.broadcast_shapes(*shapes)
    except RuntimeError:
        expected = None
    assert broadcast(*shapes) == expected


def test_a_padding_mask_is_never_guessed_at_below_a_head_dimension():
    q = torch.randn(3, 5, 5, 8)  # heads, batch, n, d
    assert "read in two ways" in refusal(q, q, q, torch.ones(5, 5))
    padding = torch.ones(5, 5)
    padding[0, 3:] = 0
    assert attention(q, q, q, padding[:, None, :])[1][:, 0, :, 3:].max() == 0


@pytest.mark.parametrize("scale", ["x", 10**400, -(10**400), float("nan"), [1.0]])
def test_a_scale_that_is_no_number(scale):
    assert "scale must be a finite number" in refusal(
        ones(2, 3), ones(5, 3), ones(5, 3), scale=scale
    )


@pytest.mark.parametrize(
    ("bias", "words"),
    [
        (ones(7), ["two or more dimensions", "bias (7,)"]),
        (ones(7, 5), ["must broadcast", "bias (7, 5)", "scores (3, 5, 7)"]),
        (ones(3, 7), ["must broadcast", "write `bias[:, None, :]`", "bias (3, 7)"]),
        (ones(3, 1, 5, 7), ["must broadcast", "bias (3, 1, 5, 7)"]),
        (ones(5, 7, device="meta"), ["one device", "bias on meta, q on cpu"]),
        (ones(5, 7).double(), ["one dtype: bias torch.float64, q torch.float32"]),
        (ones(5, 7).bool(), ["one dtype; booleans are a mask, not a bias: bias torch.bool"]),
        (ones(5, 7).int(), ["one dtype: bias torch.int32"]),
        (lambda q_idx, k_idx: k_idx - q_idx, ["must be a tensor, see bias_tensor()", "function"]),
        (-0.5, ["must be a tensor", "float"]),
    ],
)
def test_biases_that_do_not_fit(bias, words):
    message = refusal(ones(3, 5, 2), ones(3, 7, 2), ones(3, 7, 2), bias=bias)
    assert all(word in message for word in words), message


def test_a_bias_with_two_readings_is_refused_with_both_spellings():
    q, bias = ones(5, 5, 3), ones(5, 5)
    message = refusal(q, q, q, bias=bias)
    assert all(words in message for words in ["two ways", "`bias[None]`", "`bias[:, None, :]`"])
    assert attention(q, q, q, bias=bias[None])[0].shape == (5, 5, 3)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_bias_that_would_spoil_a_row_even_behind_a_mask(bad):
    bias = torch.zeros(2, 5, 7)
    bias[0, 0, 1] = -float("inf")
    bias[1, 2, 3] = bias[1, 4, 0] = bad
    message = refusal(ones(2, 5, 3), ones(2, 7, 3), ones(2, 7, 3), torch.zeros(5, 7), bias=bias)
    assert message == f"bias must hold finite numbers or -inf: bias[1, 2, 3] is {bad}"
