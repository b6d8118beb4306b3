import math
from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Tensor
from torch.autograd.functional import jacobian

from attention_core.attention import attention
from attention_core.measures import entropy
from attention_core.scaling import SCALE_RULES, scale_for, scaling_study


def softmax_jacobian_norms(scores: Tensor) -> list[float]:
    softmax = partial(torch.softmax, dim=-1)
    return [jacobian(softmax, row).norm().item() for row in scores]


def test_scale_rules() -> None:
    scales = {rule: scale_for(rule, d_k=16, heads=9) for rule in SCALE_RULES}
    expected = {"1/sqrt(d_k)": 1 / 4, "none": 1, "1/d_k": 1 / 16, "1/sqrt(d_model)": 1 / 12}
    assert scales == pytest.approx(expected)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [("1/sqrt(d_k)", (0.99942, 0.69496, 0.35319)), ("none", (1.0, 1.0, 1.0))],
)
def test_one_hot_tokens_do_not_need_the_scale(rule: str, expected: tuple[float, ...]) -> None:
    results = scaling_study([8, 128, 1024], rule=rule, tokens="one_hot")
    assert [r.mean_largest_weight for r in results] == pytest.approx(expected, abs=5e-6)
    # Four dots are 0 and one is 25, so their mean is 5 and their variance 100, at every d_k.
    assert [r.dots_variance for r in results] == pytest.approx([100] * 3)
    assert all(len(r.largest_weights) == 1 for r in results)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [("1/sqrt(d_k)", (0.45, 0.46, 0.46)), ("none", (0.72, 0.93, 0.97))],
)
def test_normal_tokens_saturate_without_the_scale(rule: str, expected: tuple[float, ...]) -> None:
    results = scaling_study([8, 128, 1024], rule=rule)
    # A largest weight has a standard deviation below 0.2: 0.03 is 3 standard errors of 500 draws.
    assert [r.mean_largest_weight for r in results] == pytest.approx(expected, abs=0.03)


def test_the_jacobian_vanishes_without_the_scale() -> None:
    unscaled = [r.mean_jacobian_norm for r in scaling_study([7, 127, 1021], rule="none")]
    scaled = [r.mean_jacobian_norm for r in scaling_study([7, 127, 1021])]
    assert unscaled[0] > 2 * unscaled[1] > 4 * unscaled[2]  # falls like 1/sqrt(d_k), factor 1/4
    assert max(scaled) < 1.1 * min(scaled)


def test_the_variance_of_dots_is_d_k() -> None:
    results = scaling_study([1, 4, 16, 64, 256, 1024])
    # The standard error is largest at d_k = 1, where it is 0.08 of 1: 0.25 is 3 of them.
    assert [r.dots_variance / r.d_k for r in results] == pytest.approx([1] * 6, abs=0.25)


def test_the_wrong_d_in_the_scale_flattens_the_weights() -> None:
    rules = ("none", "1/sqrt(d_k)", "1/sqrt(d_model)")
    generator = torch.Generator().manual_seed(0)
    q, k = torch.randn(64, 16, generator=generator), torch.randn(64, 16, generator=generator)
    weights = [attention(q, k, k, scale=scale_for(rule, 16))[1] for rule in rules]
    assert [entropy(w).mean() for w in weights] == pytest.approx([1.16, 3.64, 4.03], abs=0.005)
    # These 64 keys are sharper than most (2 standard deviations). The mean over many seeds is 1.39,
    # 3.69 and 4.04; 500 draws have a standard error of 0.024 in the first, and less in the others.
    results = [scaling_study([16], rule=rule, n_k=64)[0] for rule in rules]
    assert [r.mean_entropy for r in results] == pytest.approx([1.39, 3.69, 4.04], abs=0.08)


def test_every_measure_belongs_to_its_draw() -> None:
    (result,) = scaling_study([11], n_k=7, draws=3, seed=5, dtype=torch.float64)
    generator = torch.Generator().manual_seed(5)
    q = torch.randn(3, 11, generator=generator, dtype=torch.float32).double()
    k = torch.randn(3, 7, 11, generator=generator, dtype=torch.float32).double()
    dots = torch.einsum("nd,nkd->nk", q, k)
    weights = (dots / math.sqrt(11)).softmax(-1)
    torch.testing.assert_close(result.largest_weights, weights.max(-1).values)
    torch.testing.assert_close(result.entropies, -(weights * weights.log()).sum(-1))
    assert result.jacobian_norms.tolist() == pytest.approx(
        softmax_jacobian_norms(dots / math.sqrt(11))
    )
    means = (result.mean_largest_weight, result.mean_entropy, result.mean_jacobian_norm)
    draws = (result.largest_weights, result.entropies, result.jacobian_norms)
    assert means == pytest.approx([sum(d.tolist()) / 3 for d in draws])
    assert result.dots_variance == pytest.approx(((dots - dots.mean()) ** 2).mean().item())


def test_the_one_hot_jacobian() -> None:
    (result,) = scaling_study([7], tokens="one_hot", n_k=3, sharpness=2.0, dtype=torch.float64)
    scores = torch.tensor([[0, 4 / math.sqrt(7), 0]], dtype=torch.float64)
    assert result.jacobian_norms.tolist() == pytest.approx(softmax_jacobian_norms(scores))


def test_draws_depend_on_the_seed_alone() -> None:
    torch.manual_seed(0)
    before = torch.get_rng_state()
    alone, among = scaling_study([13]), scaling_study([5, 13])
    assert torch.equal(alone[0].entropies, among[1].entropies)
    assert not torch.equal(alone[0].entropies, scaling_study([13], seed=1)[0].entropies)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_other_dtypes_give_the_same_picture(dtype: torch.dtype) -> None:
    (result,), (expected,) = scaling_study([17], dtype=dtype), scaling_study([17])
    assert result.entropies.dtype == torch.float64
    assert result.mean_entropy == pytest.approx(expected.mean_entropy, abs=0.01)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: scale_for("sqrt", 8), r"one of 1/sqrt\(d_k\), none, .*: 'sqrt'"),
        (lambda: scale_for("none", 0), "d_k=0, heads=4"),
        (lambda: scale_for("none", 8, heads=0), "d_k=8, heads=0"),
        (
            lambda: scaling_study([8], tokens="ones"),  # type: ignore[arg-type]
            "one of one_hot, normal: 'ones'",
        ),
        (lambda: scaling_study([8], n_k=0), "n_k=0, draws=500"),
        (lambda: scaling_study([8], draws=0), "n_k=5, draws=0"),
        (lambda: scaling_study([7, 3], tokens="one_hot"), "d_k >= n_k: d_k=3, n_k=5"),
    ],
)
def test_errors_say_what_was_wrong(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("rule", "jacobian_medians", "means", "medians"),
    [
        ("none", (0.33, 0.0060, 7e-8), (0.75, 1.06, 1.17), (0.80, 0.067, 2e-6)),
        ("1/sqrt(d_k)", (0.40, 0.40, 0.40), (0.39, 0.39, 0.39), (0.39, 0.39, 0.39)),
    ],
)
def test_without_the_scale_most_queries_learn_nothing_and_the_mean_hides_it(
    rule: str,
    jacobian_medians: tuple[float, ...],
    means: tuple[float, ...],
    medians: tuple[float, ...],
) -> None:
    found = scaling_study([8, 128, 1024], rule=rule, draws=2000, dtype=torch.float64)
    for result, jacobian_median, mean, median in zip(
        found, jacobian_medians, means, medians, strict=True
    ):
        # A median of draws that lie many powers of ten apart is known to a factor, no better.
        assert jacobian_median / 2 < result.jacobian_norms.median() < jacobian_median * 2
        assert result.query_gradients.mean().item() == pytest.approx(mean, rel=0.25)
        assert median / 2 < result.query_gradients.median() < median * 2


@pytest.mark.parametrize("rule", SCALE_RULES)
def test_the_gradient_of_a_query_is_that_of_autograd(rule: str) -> None:
    d_k, draws, n_k = 7, 5, 3
    generator = torch.Generator().manual_seed(0)
    q = torch.randn(draws, 1, d_k, generator=generator).double()
    k = torch.randn(draws, n_k, d_k, generator=generator).double()

    def weights_of(keys: Tensor) -> Callable[[Tensor], Tensor]:
        return lambda query: attention(query, keys, keys, scale=scale_for(rule, d_k))[1]

    expected = [
        jacobian(weights_of(keys), query).norm().item() for query, keys in zip(q, k, strict=True)
    ]
    (found,) = scaling_study([d_k], rule=rule, n_k=n_k, draws=draws, dtype=torch.float64)
    assert found.query_gradients.tolist() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [("1/sqrt(d_k)", (0.51, 0.97, 1.00)), ("1/d_k", (0.31, 0.29, 0.29))],
)
def test_what_has_learned_to_match_saturates_the_usual_scale(
    rule: str, expected: tuple[float, ...]
) -> None:
    found = scaling_study([8, 128, 1024], rule=rule, correlation=0.5, draws=2000)
    assert [r.mean_largest_weight for r in found] == pytest.approx(expected, abs=0.015)


def test_the_correlation_is_that_of_the_query_with_the_first_key() -> None:
    (alike,) = scaling_study([5], correlation=1.0, draws=3, dtype=torch.float64)
    generator = torch.Generator().manual_seed(0)
    torch.randn(3, 1, 5, generator=generator)
    k = torch.randn(3, 5, 5, generator=generator).double()
    _, weights = attention(k[:, :1], k, k)
    assert torch.equal(alike.largest_weights, weights[:, 0].amax(-1))
    with pytest.raises(ValueError, match="correlation must be from -1 to 1"):
        scaling_study([5], correlation=1.5)
