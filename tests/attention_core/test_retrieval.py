import math
from collections.abc import Callable, Mapping, Sequence

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from attention_core.retrieval import Retrieval, blend, coefficient_for_share, retrieve, vocabulary

DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
LESSON = vocabulary(6)  # torch.eye(6) * 5
SEQUENCE = range(5)  # token 5 is in the vocabulary, but not in the sequence


def ask(
    coefficients: Mapping[int, float],
    vocab: Tensor = LESSON,
    sequence: Sequence[int] = SEQUENCE,
    scale: float | None = None,
) -> Retrieval:
    return retrieve(blend(vocab, coefficients), vocab, sequence, scale=scale)


def test_a_token_retrieves_itself() -> None:
    found = ask({2: 1.0})
    expected = torch.tensor([3.69e-05, 3.69e-05, 0.99985218, 3.69e-05, 3.69e-05])
    torch.testing.assert_close(found.weights, expected, atol=5e-8, rtol=0)
    torch.testing.assert_close(found.output, torch.cat((5 * found.weights, torch.zeros(1))))
    assert (found.token, found.tied) == (2, (2,))


def test_two_tokens_share_the_weight_and_neither_is_retrieved() -> None:
    found = ask({2: 1.0, 4: 1.0})
    expected = torch.tensor([1.85e-05, 1.85e-05, 0.49997228, 1.85e-05, 0.49997228])
    torch.testing.assert_close(found.weights, expected, atol=5e-8, rtol=0)
    assert (found.token, found.tied) == (None, (2, 4))


@pytest.mark.parametrize("coefficients", [{5: 1.0}, {}], ids=["absent token", "zero query"])
def test_a_query_like_no_key_retrieves_nothing(coefficients: dict[int, float]) -> None:
    found = ask(coefficients)
    torch.testing.assert_close(found.weights, torch.full((5,), 0.2))
    assert (found.token, found.tied) == (None, (0, 1, 2, 3, 4))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_ties_are_told_from_near_ties(dtype: torch.dtype) -> None:
    vocab = vocabulary(7, sharpness=1.0, dtype=dtype)  # the score of a token on itself: 1/sqrt(7)
    for strength in (0.1, 0.7, 1.0, 1.3):
        # Once with twice the weight is as much as twice, but for the rounding.
        twice_the_weight = strength + math.log(2) * math.sqrt(7)
        assert ask({1: strength, 3: twice_the_weight}, vocab, (1, 3, 1)).tied == (1, 3)
        assert ask({1: strength, 3: 1.1 * twice_the_weight}, vocab, (1, 3, 1)).token == 3


def test_a_token_counts_as_often_as_it_stands_in_the_sequence() -> None:
    found = ask({}, sequence=(3, 1, 3, 0))
    torch.testing.assert_close(found.output, 5 * torch.tensor([0.25, 0.25, 0, 0.5, 0, 0]))
    assert found.token == 3


def test_the_scale_is_handed_on() -> None:
    assert ask({2: 1.0}, scale=0.0).tied == tuple(SEQUENCE)
    assert ask({2: 1.0}, scale=-1.0).tied == (0, 1, 3, 4)


def test_an_overflow_retrieves_nothing() -> None:
    vocab = vocabulary(5, sharpness=300, dtype=torch.float16)  # 300 ** 2 > 65504
    found = ask({1: 1.0}, vocab)
    assert (found.token, found.tied, found.steps.overflow) == (None, (), "dots")
    found = ask({1: -1.0}, vocab)  # -inf and a finite output: the other tokens would share it
    assert (found.token, found.tied, found.steps.overflow) == (None, (), "dots")


def test_a_blend_is_the_sum_of_its_tokens() -> None:
    tokens = torch.tensor([[1.0, 2.0], [3.0, 5.0], [7.0, 11.0]])
    assert blend(tokens, {2: 2.0, 0: -1.0}).tolist() == [[13.0, 20.0]]
    assert blend(tokens, {}).tolist() == [[0.0, 0.0]]


@given(
    share=st.floats(0.01, 0.99),
    sequence=st.permutations([0, 1, 1, 2, 3, 3, 3]),
    sharpness=st.floats(0.5, 7),
)
def test_coefficient_for_share_agrees_with_the_closed_form(
    share: float, sequence: list[int], sharpness: float
) -> None:
    coefficient = coefficient_for_share(vocabulary(5, sharpness).double(), sequence, 1, 3, share)
    # share = 2 exp(a c) / (2 exp(a c) + 3 exp(c) + 2), where c is the score of a token on itself
    c = float(torch.tensor(sharpness)) ** 2 / math.sqrt(5)
    others = 3 * math.exp(c) + 2
    assert coefficient == pytest.approx(math.log(share / (1 - share) * others / 2) / c, abs=1e-9)


def test_sharpness_0_makes_all_tokens_alike() -> None:
    dull = vocabulary(6, 0.0)
    found = retrieve(dull[2:3], dull, SEQUENCE)
    assert found.weights.tolist() == pytest.approx([0.2] * 5)
    assert found.token is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: vocabulary(0), "one token or more: size 0"),
        (lambda: vocabulary(5, -0.5), "0 or more: -0.5"),
        (lambda: vocabulary(5, math.inf), "0 or more: inf"),
        (lambda: vocabulary(5, math.nan), "0 or more: nan"),
        (lambda: blend(LESSON[0], {0: 1.0}), r"a matrix \(m, d\): \(6,\)"),
        (lambda: blend(LESSON, {6: 1.0}), r"in 0\.\.5: \[6\]"),
        (lambda: blend(LESSON, {-1: 1.0}), r"in 0\.\.5: \[-1\]"),
        (lambda: retrieve(LESSON[2], LESSON, SEQUENCE), r"\(1, 6\): \(6,\)"),
        (lambda: retrieve(LESSON[:1], LESSON[:5], SEQUENCE), r"square.*\(5, 6\)"),
        (lambda: retrieve(LESSON[:1], LESSON, ()), "it is empty"),
        (lambda: retrieve(LESSON[:1], LESSON, (0, -1, 7)), r"in 0\.\.5: \[-1, 7\]"),
        (lambda: coefficient_for_share(LESSON, SEQUENCE, 2, 4, 0.0), "between 0 and 1.*: 0.0"),
        (lambda: coefficient_for_share(LESSON, SEQUENCE, 2, 4, 1.0), "between 0 and 1.*: 1.0"),
        (lambda: coefficient_for_share(LESSON, SEQUENCE, 2, 2, 0.5), "different tokens: 2 and 2"),
        (lambda: coefficient_for_share(LESSON, SEQUENCE, 5, 2, 0.5), r"somewhere.*5 in \[0, 1"),
        (lambda: coefficient_for_share(LESSON, (2, 2), 2, 4, 0.5), r"everywhere: 2 in \[2, 2\]"),
        (
            lambda: coefficient_for_share(vocabulary(6, 1e-4), SEQUENCE, 2, 4, 0.9),
            "sharp enough.* share of 0.9",
        ),
    ],
)
def test_errors_say_what_was_wrong(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precisions_see_small_differences(dtype: torch.dtype) -> None:
    """One bfloat16 step apart is apart: 0.2021 beside four times 0.1992."""
    vocab = vocabulary(6, 0.2, dtype=dtype)
    found = retrieve(blend(vocab, {2: 1.0}), vocab, SEQUENCE)
    assert len(set(found.weights.tolist())) == 2
    assert found.token == 2


@pytest.mark.parametrize("ids", [[1.5, 0], [True, False]])
def test_token_ids_are_whole_numbers(ids: list[int]) -> None:
    with pytest.raises(ValueError, match=r"in 0\.\.5"):
        retrieve(LESSON[:1], LESSON, ids)


def test_tokens_of_whole_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="floating point"):
        blend(torch.eye(3, dtype=torch.int64), {0: 0.5})
