"""Masks of long sequences, drawn by hand: x = may attend."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core.masks import causal, local, mask_tensor, sliding_window
from attention_core.masks.composed import block_causal, global_local, sink_window

sizes = st.integers(1, 13)


def drawn(mask, n_q, n_k):
    rows = mask_tensor(mask, n_q, n_k).tolist()
    return " ".join("".join("x" if allowed else "." for allowed in row) for row in rows)


@pytest.mark.parametrize(
    ("mask", "n_q", "n_k", "chart"),
    [
        (sink_window(1, 2), 5, 5, "x.... xx... xxx.. x.xx. x..xx"),
        (sink_window(2, 1), 5, 3, "x.. xx. xxx xx. xx."),
        (global_local(1, 3), 5, 5, "xxxxx xxx.. xxxx. x.xxx x..xx"),
        (global_local(2, 1), 3, 5, "xxxxx xxxxx xxx.."),
        (block_causal(2), 5, 5, "xx... xx... xxxx. xxxx. xxxxx"),
        (block_causal(3), 4, 7, "xxx.... xxx.... xxx.... xxxxxx."),
    ],
)
def test_drawn_by_hand(mask, n_q, n_k, chart):
    assert drawn(mask, n_q, n_k) == chart


@given(sizes, sizes, st.integers(0, 5), st.integers(1, 6))
def test_cell_by_cell(n_q, n_k, few, size):
    rules = {
        sink_window(few, size): lambda i, j: j <= i and (j < few or i - j < size),
        global_local(few, 2 * size - 1): lambda i, j: min(i, j) < few or abs(i - j) < size,
        block_causal(size): lambda i, j: j < (i // size + 1) * size,
    }
    for mask, rule in rules.items():
        expected = [[rule(i, j) for j in range(n_k)] for i in range(n_q)]
        assert mask_tensor(mask, n_q, n_k).tolist() == expected


@given(sizes, sizes)
def test_without_their_extra_they_are_the_simple_masks(n_q, n_k):
    pairs = [
        (sink_window(0, 3), sliding_window(3)),
        (sink_window(13, 1), causal),
        (global_local(0, 5), local(5)),
        (block_causal(1), causal),
    ]
    for one, other in pairs:
        assert drawn(one, n_q, n_k) == drawn(other, n_q, n_k)


def test_they_answer_on_any_device_and_at_any_shape():
    for mask in (sink_window(1, 3), global_local(1, 3), block_causal(2)):
        assert mask_tensor(mask, 2, 3, device="meta").device.type == "meta"
        assert mask(torch.arange(3), torch.arange(3)).shape == (3,)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: sink_window(-1, 3), "sinks must not be negative: -1"),
        (lambda: sink_window(1, 0), "width must be 1 or more: 0"),
        (lambda: global_local(-1, 3), "tokens must not be negative: -1"),
        (lambda: global_local(1, 2), "width must be odd.*2"),
        (lambda: block_causal(0), "size must be 1 or more: 0"),
    ],
)
def test_bad_parameters_are_refused_at_once(make, words):
    with pytest.raises(ValueError, match=words):
        make()
