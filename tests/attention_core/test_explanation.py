"""What a key does to the output, against the closed form; other weights with the same output."""

import pytest
import torch

from attention_core import attention, sample_qkv
from attention_core.explanation import delete_key, other_weights
from attention_core.masks import causal, mask_tensor


def test_nearly_equal_weights_move_the_output_by_different_amounts(lesson) -> None:
    q, k, v = (tensor[0] for tensor in lesson)
    first, second = (delete_key(q, k, v, 3, j) for j in (0, 3))
    assert (round(first.weight, 2), round(second.weight, 2)) == (0.25, 0.26)
    assert (round(first.change, 2), round(second.change, 2)) == (0.65, 0.84)


@pytest.mark.parametrize("masked", [False, True])
def test_a_deletion_is_what_the_closed_form_says(masked: bool) -> None:
    q, k, v = (tensor[0] for tensor in sample_qkv(1, 5, 3, n_k=7, d_v=2, dtype=torch.float64))
    mask = mask_tensor(causal, 5, 7) if masked else None
    output, weights = attention(q, k, v, mask)
    for i in range(1, 5):
        for j in range(i + 1 if masked else 7):
            found = delete_key(q, k, v, i, j, mask)
            w = float(weights[i, j])
            assert found.weight == w
            assert torch.equal(found.before, output[i])
            after = (output[i] - w * v[j]) / (1 - w)  # the others share out what it had
            torch.testing.assert_close(found.after, after, rtol=1e-10, atol=1e-12)
            expected = w / (1 - w) * float((output[i] - v[j]).norm())
            assert found.change == pytest.approx(expected, rel=1e-9)


def test_a_hidden_key_can_be_deleted_without_effect_and_the_only_key_leaves_nothing() -> None:
    q, k, v = (tensor[0] for tensor in sample_qkv(1, 3, 2))
    mask = mask_tensor(causal, 3, 3)
    assert delete_key(q, k, v, 0, 2, mask).change == 0
    assert not delete_key(q, k, v, 0, 0, mask).after.any()


@pytest.mark.parametrize(("i", "j"), [(3, 0), (-1, 0), (0, 5), (0, -1)])
def test_positions_that_are_not_there_are_refused(i: int, j: int) -> None:
    q, k, v = (tensor[0] for tensor in sample_qkv(1, 3, 2, n_k=5))
    with pytest.raises(ValueError, match="positions in q and k"):
        delete_key(q, k, v, i, j)


def test_weights_move_and_the_output_stands_still() -> None:
    q, k, v = (tensor[0] for tensor in sample_qkv(1, 12, 8, d_v=4, dtype=torch.float64))
    _, weights = attention(q, k, v)
    for row in weights:
        other = other_weights(row, v)
        assert (other >= 0).all() and float(other.sum()) == pytest.approx(1, abs=1e-14)
        assert float((other @ v - row @ v).abs().max()) < 1e-15
        assert float((other - row).abs().sum()) / 2 > 0.15  # the share of the row that has moved


def test_as_many_values_as_keys_pin_the_weights() -> None:
    weights = torch.tensor([0.2, 0.3, 0.5])
    assert torch.equal(other_weights(weights, torch.eye(3)), weights.double())
    with pytest.raises(ValueError, match=r"weights must be \(n_k,\)"):
        other_weights(weights, torch.eye(2))
