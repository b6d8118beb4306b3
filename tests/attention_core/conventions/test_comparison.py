"""Five ways to tell PyTorch about one mask, all held against `attention`."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_core.agreement import compare_with_torch
from attention_core.attention import attention
from attention_core.conventions.calls import additive, blocked, multihead
from attention_core.conventions.comparison import (
    ADDED,
    BOOLEAN,
    CONVENTIONS,
    FLEX,
    IS_CAUSAL,
    MULTIHEAD,
    cannot_say,
    difference_in,
    mix_up,
    output_in,
    outputs,
)
from attention_core.masks.gallery import GALLERY
from attention_core.sampling import sample_qkv

pytestmark = [
    pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile"),
    pytest.mark.filterwarnings("ignore:Lower right causal bias will produce NaNs"),
]
DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
SIZES = ((1, 1), (1, 7), (7, 1), (11, 5), (13, 13))
QKV = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
SQUARE = torch.ones(5, 5, dtype=torch.bool)


def one_head(n_q, n_k, d_k=3, d_v=3, dtype=torch.float64, seed=0) -> QKV:
    q, k, v = sample_qkv(1, n_q, d_k, n_k=n_k, d_v=d_v, dtype=dtype, seed=seed)
    return q[0], k[0], v[0]


def assert_all_agree(qkv: QKV, mask, able):
    ours, _ = attention(*qkv, mask)
    tolerance = compare_with_torch(*qkv, mask).tolerance
    found = outputs(*qkv, mask)
    assert set(found) == able
    for name, output in found.items():
        torch.testing.assert_close(output, ours, rtol=0, atol=tolerance, msg=name)
        assert not output.requires_grad


def able_to_say(mask, same_sizes=True):
    """Which conventions have words for it, by PyTorch's own triangles."""
    n_q, n_k = mask.shape
    triangles = [torch.ones_like(mask).tril(shift) for shift in (0, n_k - n_q)]
    able = set(CONVENTIONS)
    if not any(torch.equal(mask, triangle) for triangle in triangles):
        able -= {IS_CAUSAL}
    return able if same_sizes else able - {MULTIHEAD}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("n_q", "n_k"), SIZES)
def test_the_gallery_in_every_convention(n_q, n_k, dtype):
    qkv = one_head(n_q, n_k, dtype=dtype)
    for entry in GALLERY:
        mask = entry.tensor(n_q, n_k)
        assert_all_agree(qkv, mask, able_to_say(mask))


@given(st.data())
@settings(max_examples=40)
def test_any_mask_in_every_convention(data):
    n_q, n_k, d_k, d_v = (data.draw(st.integers(1, 7)) for _ in range(4))
    cells = st.lists(st.booleans(), min_size=n_q * n_k, max_size=n_q * n_k)
    mask = torch.tensor(data.draw(cells)).view(n_q, n_k)
    qkv = one_head(n_q, n_k, d_k, d_v, seed=data.draw(st.integers(0, 99)))
    assert_all_agree(qkv, mask, able_to_say(mask, d_k == d_v))


def test_the_difference_is_that_of_the_outputs():
    mask, qkv = SQUARE.tril(), one_head(5, 5, dtype=torch.bfloat16)
    ours = attention(*qkv, mask)[0]
    for name in (BOOLEAN, IS_CAUSAL):
        largest = (output_in(name, *qkv, mask).double() - ours.double()).abs().max()
        assert difference_in(name, *qkv, mask) == largest
    assert max(difference_in(name, *qkv, mask) for name in CONVENTIONS) > 0  # bfloat16 rounds


def test_dead_queries_get_zero_everywhere():
    mask = SQUARE.tril(-2)
    qkv = one_head(5, 5)
    for name in CONVENTIONS:
        if not cannot_say(name, mask, 3, 3):
            assert output_in(name, *qkv, mask)[:2].eq(0).all(), name


def test_multihead_attention_gives_nan_to_dead_queries_if_it_returns_its_weights():
    mask, qkv = SQUARE.tril(-2), one_head(5, 5)
    output = multihead(*qkv, blocked(mask), need_weights=True)
    assert output.isnan().all(-1).tolist() == [True, True, False, False, False]
    torch.testing.assert_close(output[2:], attention(*qkv, mask)[0][2:])


def test_the_polarity_matters():
    """The mask that the first convention wants, given to the third as it is."""
    mask, qkv = SQUARE.tril(), one_head(5, 5)
    wrong = multihead(*qkv, mask)
    assert (wrong - output_in(MULTIHEAD, *qkv, mask)).abs().amax(-1).min() > 0.1
    torch.testing.assert_close(wrong, attention(*qkv, SQUARE.triu(1))[0])  # it sees the future only


def test_the_mix_up_in_numbers():
    qkv = one_head(5, 7)
    mask = torch.ones(5, 7, dtype=torch.bool).tril(4)  # queries 2, 3 and 4 see every key
    wrong = torch.zeros(5, 3, dtype=torch.float64)
    q, k, v = qkv
    wrong[0], wrong[1] = ((q[i] @ k[i + 5 :].T / 3**0.5).softmax(-1) @ v[i + 5 :] for i in (0, 1))
    found = mix_up(*qkv, mask)
    assert found.fully_masked == 3
    assert found.from_opposite < 1e-12
    assert found.from_meant == pytest.approx((wrong - attention(*qkv, mask)[0]).abs().max().item())


def test_booleans_added_as_numbers_would_be_another_mask():
    mask, qkv = SQUARE.tril(), one_head(5, 5)
    wrong = torch.nn.functional.scaled_dot_product_attention(*qkv, attn_mask=mask.double())
    assert (wrong - output_in(ADDED, *qkv, mask)).abs().max() > 0.1


def test_conversions():
    mask = torch.tensor([[True, False], [False, False]])
    kept = mask.clone()
    assert additive(mask, torch.float16).tolist() == [[0, -torch.inf], [-torch.inf] * 2]
    assert additive(mask, torch.float16).dtype == torch.float16
    assert blocked(mask).tolist() == [[False, True], [True, True]]
    assert torch.equal(mask, kept)


@pytest.mark.parametrize("dtype", [torch.int64, torch.float64])
def test_zeros_and_ones_are_the_same_mask_in_every_convention(dtype):
    """Nothing adds the lesson's tril(ones) to the scores."""
    booleans, qkv = SQUARE.tril(), one_head(5, 5)
    numbers = booleans.to(dtype)
    assert_all_agree(qkv, numbers, set(CONVENTIONS))
    assert mix_up(*qkv, numbers) == mix_up(*qkv, booleans)
    assert torch.equal(blocked(numbers), ~booleans)
    assert torch.equal(additive(numbers), additive(booleans))
    with pytest.raises(ValueError, match="0 and 1 only"):
        output_in(BOOLEAN, *qkv, 2 * numbers)


@pytest.mark.parametrize(
    ("mask", "words"),
    [
        (SQUARE.triu(), "query 0 may attend to key 1"),
        (SQUARE.tril() & ~SQUARE.tril(-3), "query 3 may not attend to key 0"),
        (SQUARE[:3].tril(1), "query 0 may attend to key 1"),
    ],
)
def test_is_causal_says_where_a_mask_is_not(mask, words):
    refusal = cannot_say(IS_CAUSAL, mask, 3, 3)
    assert "two causal triangles only" in refusal and words in refusal
    with pytest.raises(ValueError, match=words):
        output_in(IS_CAUSAL, *one_head(mask.shape[0], mask.shape[1]), mask)


def test_multihead_attention_has_one_size():
    assert cannot_say(MULTIHEAD, SQUARE, 3, 3) == ""
    with pytest.raises(ValueError, match="d_k is 3 and d_v is 2"):
        output_in(MULTIHEAD, *one_head(5, 5, 3, 2), SQUARE)
    with pytest.raises(ValueError, match="d_k is 3 and d_v is 2"):
        mix_up(*one_head(5, 5, 3, 2), SQUARE)


def test_there_is_no_other_convention():
    with pytest.raises(ValueError, match=r"must be one of.*nope"):
        output_in("nope", *one_head(5, 5), SQUARE)
    assert (CONVENTIONS[0], CONVENTIONS[-1]) == (BOOLEAN, FLEX)
    assert not set("()[]{}") & set("".join(CONVENTIONS))  # they stand in the URL


def test_neither_the_inputs_nor_the_global_generator_change():
    mask, qkv = SQUARE.tril(), one_head(5, 5)
    kept, state = [x.clone() for x in (*qkv, mask)], torch.get_rng_state()
    outputs(*qkv, mask)
    assert all(map(torch.equal, kept, (*qkv, mask)))
    assert torch.equal(torch.get_rng_state(), state)
