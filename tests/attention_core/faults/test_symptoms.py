"""Symptoms against numbers found another way, and which implementations show the same ones."""

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from attention_core import FAULTS, IMPLEMENTATIONS, indistinguishable, sample_qkv, symptoms
from attention_core.faults import (
    diagonal_masked,
    finite_fill,
    keys_and_values_swapped,
    mask_after_softmax,
    mask_inverted,
    masked_scores_zero,
    no_scale,
    padding_per_query,
    right,
    scale_after_softmax,
    scale_by_d_model,
    softmax_over_queries,
    weights_transposed,
)
from attention_core.faults.symptoms import Symptoms, allowed_by_both
from attention_core.faults.telling_apart import rounding

CAUSAL = torch.ones(5, 5).tril().bool()
PADDING = torch.tensor([[True] * 4 + [False], [True] * 3 + [False] * 2])
DEAD = torch.ones(5, 5).bool().index_fill(0, torch.tensor(2), False)
QKV = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
ONE_HEAD, TWO_HEADS = (2, 1, 5, 7), (2, 2, 5, 7)


def sample(sizes=TWO_HEADS, dtype=torch.float32, seed=0, n_k=None) -> QKV:
    batch, heads, n, d = sizes
    drawn = sample_qkv(batch * heads, n, d, n_k=n_k, seed=seed, dtype=dtype)
    q, k, v = (tensor.unflatten(0, (batch, heads)) for tensor in drawn)
    return q, k, v


def test_every_number_found_another_way():
    q, k, v = sample()
    for implementation in IMPLEMENTATIONS:
        for mask, padding in ((CAUSAL, None), (DEAD, None), (None, None), (CAUSAL, PADDING)):
            seen = symptoms(implementation, q, k, v, mask, padding)
            if isinstance(seen, str):
                continue
            output, weights = implementation(q, k, v, mask, padding)
            assert_same(seen.output, output)
            assert_same(seen.weights, weights)
            allowed = torch.ones(2, 2, 5, 5).bool()
            allowed &= True if mask is None else mask
            allowed &= True if padding is None else padding.view(2, 1, 1, 5)
            cells = weights.flatten(0, 1)  # (4, 5, 5)
            pairs = [(h, i, j) for h in range(4) for i in range(5) for j in range(5)]
            assert_same(seen.row_sums, torch.einsum("bhij->bhi", weights))
            assert_same(seen.column_sums, torch.einsum("bhij->bhj", weights))
            assert_number(seen.future_weight, [cells[h, i, j] for h, i, j in pairs if j > i])
            assert_number(seen.own_weight, [cells[h, i, j] for h, i, j in pairs if j == i])
            forbidden = [(h, i, j) for h, i, j in pairs if not allowed.flatten(0, 1)[h, i, j]]
            assert_number(seen.forbidden_weight, [cells[h, i, j] for h, i, j in forbidden])
            fused = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
            assert_number(seen.torch_difference, (output - fused).abs().flatten())
            new_k = torch.cat([k[..., :4, :], -k[..., 4:, :]], -2)
            new_v = torch.cat([v[..., :4, :], -v[..., 4:, :]], -2)
            moved = implementation(q, new_k, new_v, mask, padding)[0] - output
            assert_number(seen.earlier_change, moved[..., :4, :].abs().flatten())
            finite = [*output.isfinite().flatten(), *weights.isfinite().flatten()]
            assert seen.not_numbers == len(finite) - sum(map(int, finite))
            rows = weights.max(-1).values.mean()
            assert_number(seen.mean_largest, [rows])


def assert_same(one, other):
    torch.testing.assert_close(one, other, equal_nan=True)


def assert_number(number, among):
    """The number is the largest of these; NaN if one of them is, and 0 of none at all."""
    values = [float(x) for x in among] or [0.0]
    wanted = math.nan if any(map(math.isnan, values)) else max(values)
    assert number == pytest.approx(wanted, abs=1e-6, nan_ok=True)


def test_what_is_typical_of_a_fault_shows():
    q, k, v = sample()
    seen = {f: symptoms(f, q, k, v, CAUSAL) for f in IMPLEMENTATIONS}
    one = torch.ones(2, 2, 5)
    assert_same(seen[softmax_over_queries].column_sums, one)
    assert_same(seen[scale_after_softmax].row_sums, one / math.sqrt(7))
    assert seen[no_scale].mean_largest > seen[right].mean_largest
    assert seen[scale_by_d_model].mean_largest < seen[right].mean_largest
    assert seen[mask_after_softmax].future_weight == 0 < seen[mask_after_softmax].earlier_change
    assert seen[masked_scores_zero].forbidden_weight > 0
    assert seen[mask_inverted].own_weight == 0 < seen[mask_inverted].future_weight
    assert seen[diagonal_masked].own_weight == seen[diagonal_masked].future_weight == 0
    assert seen[weights_transposed].future_weight == 0 < seen[weights_transposed].earlier_change
    assert symptoms(softmax_over_queries, q, k, v, None, PADDING).not_numbers > 0
    assert seen[right].earlier_change == seen[right].future_weight == 0
    assert seen[right].torch_difference < 1e-6 < seen[keys_and_values_swapped].torch_difference


def test_an_error_is_a_symptom_and_a_mistake_of_the_caller_is_not():
    q, k, v = sample(dtype=torch.float16)
    assert "overflow" in str(symptoms(finite_fill, q, k, v))
    assert "must match" in str(symptoms(padding_per_query, q, k, v, None, PADDING))
    q, k, v = sample(n_k=7)
    assert isinstance(symptoms(weights_transposed, q, k, v), str)
    assert isinstance(symptoms(right, q, k, v), Symptoms)

    def broken(*_):
        raise TypeError("not a symptom")

    with pytest.raises(TypeError):
        symptoms(broken, q, k, v)


def alike(implementation, sizes=TWO_HEADS, mask=None, padding=None, dtype=torch.float32):
    return {
        *indistinguishable(implementation, IMPLEMENTATIONS, *sample(sizes, dtype), mask, padding)
    }


UNSEEN_WITHOUT_A_MASK = {
    right,
    mask_after_softmax,
    masked_scores_zero,
    mask_inverted,
    finite_fill,
    padding_per_query,
}


@pytest.mark.parametrize(
    ("settings", "unseen"),
    [
        ({}, UNSEEN_WITHOUT_A_MASK),
        ({"sizes": ONE_HEAD}, UNSEEN_WITHOUT_A_MASK | {scale_by_d_model}),
        ({"mask": CAUSAL}, {right, finite_fill, padding_per_query}),
        (
            {"mask": CAUSAL, "sizes": ONE_HEAD},
            {right, finite_fill, padding_per_query, scale_by_d_model},
        ),
        ({"padding": PADDING}, {right, finite_fill}),
        ({"padding": PADDING[1:], "sizes": (1, 2, 5, 7)}, {right, finite_fill, padding_per_query}),
        ({"mask": DEAD}, {right, mask_after_softmax, masked_scores_zero, padding_per_query}),
        (
            {"mask": CAUSAL, "sizes": (2, 2, 5, 1)},
            {right, finite_fill, padding_per_query, no_scale, scale_after_softmax},
        ),
        ({"mask": CAUSAL, "dtype": torch.float16}, {right, padding_per_query}),
        ({"mask": CAUSAL, "dtype": torch.bfloat16}, {right, finite_fill, padding_per_query}),
        ({"mask": DEAD, "padding": PADDING, "dtype": torch.bfloat16}, {right}),
    ],
)
def test_what_cannot_be_told_from_the_right_one(settings, unseen):
    for implementation in IMPLEMENTATIONS:
        group = alike(implementation, **settings)
        assert implementation in group
        if implementation in unseen:
            assert group == unseen
        else:
            assert not group & unseen


def test_every_fault_shows_in_some_setting_and_no_two_are_always_alike():
    settings: list[dict[str, Any]] = [
        {"mask": CAUSAL},
        {"mask": CAUSAL, "padding": PADDING},
        {"mask": DEAD},
        {"dtype": torch.float16},
    ]
    for fault in FAULTS:
        assert set.intersection(*(alike(fault, **settings) for settings in settings)) == {fault}


def test_nan_equals_nan_and_the_same_error_the_same_error():
    assert alike(softmax_over_queries, padding=PADDING) == {softmax_over_queries}
    other = sample(dtype=torch.float16)
    assert indistinguishable(finite_fill, [finite_fill, right], *other) == (finite_fill,)
    both_stop = [padding_per_query, finite_fill]  # but not with the same error
    assert indistinguishable(padding_per_query, both_stop, *other, None, PADDING) == (
        padding_per_query,
    )


def test_rounding_is_no_difference_and_more_is():
    q, k, v = sample(dtype=torch.bfloat16)
    of_weights, of_outputs = rounding(q, k, v)

    def off(by, of):
        def implementation(*inputs):
            output, weights = right(*inputs)
            return (output + by * (of == "output"), weights + by * (of == "weights"))

        return implementation

    for of, tolerance in (("weights", of_weights), ("output", of_outputs)):
        near, far = off(tolerance / 2, of), off(tolerance * 2, of)
        assert indistinguishable(right, [near, far], q, k, v) == (near,)


def test_errors_of_outputs_grow_with_the_values():
    q, k, v = sample()
    of_weights, of_outputs = rounding(q, k, 100 * v)
    assert of_weights == rounding(q, k, v)[0]
    assert of_outputs / of_weights == pytest.approx(100 * v.abs().max().item())


def test_allowed_pairs_joins_both_masks():
    q, k, _ = sample()
    assert allowed_by_both(q, k).all() and allowed_by_both(q, k).shape == (5, 5)
    assert torch.equal(allowed_by_both(q, k, CAUSAL), CAUSAL)
    both = allowed_by_both(q, k, CAUSAL, PADDING)
    assert both.shape == (2, 1, 5, 5)
    assert both[1, 0].tolist() == [[j <= i and j < 3 for j in range(5)] for i in range(5)]
