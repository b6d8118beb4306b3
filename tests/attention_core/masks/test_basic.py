"""Masks drawn by hand: x = may attend, rows are queries, columns are keys."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core.masks import (
    all_of,
    any_of,
    bidirectional,
    causal,
    causal_bottom_right,
    dilated,
    document,
    flip_cells,
    grid_neighbourhood,
    local,
    mask_tensor,
    negate,
    prefix_lm,
    reachable,
    sliding_window,
)

MASKS = {
    "bidirectional": bidirectional,
    "causal": causal,
    "local": local(3),
    "sliding_window": sliding_window(2),
    "prefix_lm": prefix_lm(2),
    "document": document([2, 3]),
    "dilated": dilated(3, 2),
    "grid_neighbourhood": grid_neighbourhood(3, 3),
    "causal_bottom_right": causal_bottom_right(5, 7),
}
masks = st.sampled_from(list(MASKS.values()))
sizes = st.integers(0, 13)
widths = st.integers(0, 5).map(lambda half: 2 * half + 1)


def drawn(mask, n_q, n_k):
    rows = mask_tensor(mask, n_q, n_k).tolist()
    return " ".join("".join("x" if allowed else "." for allowed in row) for row in rows)


@pytest.mark.parametrize(
    ("mask", "n_q", "n_k", "chart"),
    [
        (bidirectional, 2, 3, "xxx xxx"),
        (causal, 3, 3, "x.. xx. xxx"),
        (causal, 2, 5, "x.... xx..."),
        (causal_bottom_right(2, 5), 2, 5, "xxxx. xxxxx"),
        (causal_bottom_right(3, 2), 3, 2, ".. x. xx"),
        (sliding_window(2), 4, 4, "x... xx.. .xx. ..xx"),
        (local(3), 4, 4, "xx.. xxx. .xxx ..xx"),
        (local(1), 3, 3, "x.. .x. ..x"),
        (prefix_lm(2), 4, 4, "xx.. xx.. xxx. xxxx"),
        (prefix_lm(0), 3, 3, "x.. xx. xxx"),
        (document([2, 1]), 5, 5, "xx... xx... ..x.. ..... ....."),
        (all_of(causal, document([2, 1])), 4, 4, "x... xx.. ..x. ...."),
        (dilated(3, 2), 5, 5, "x.x.. .x.x. x.x.x .x.x. ..x.x"),
        (grid_neighbourhood(2, 1), 3, 3, "x.. .x. ..x"),
        (grid_neighbourhood(3, 3), 6, 6, "xx.xx. xxxxxx .xx.xx xx.xx. xxxxxx .xx.xx"),
        (any_of(local(1), prefix_lm(1)), 3, 3, "x.. xx. xxx"),
        (negate(causal), 3, 3, ".xx ..x ..."),
        (all_of(), 2, 2, "xx xx"),
        (any_of(), 2, 2, ".. .."),
        (causal, 0, 3, ""),
    ],
)
def test_drawn_by_hand(mask, n_q, n_k, chart):
    assert drawn(mask, n_q, n_k) == chart


@given(sizes, sizes)
def test_causal_is_tril(n_q, n_k):
    ones = torch.ones(n_q, n_k, dtype=torch.bool)
    assert torch.equal(mask_tensor(causal, n_q, n_k), ones.tril())
    last = mask_tensor(causal_bottom_right(n_q, n_k), n_q, n_k)
    assert torch.equal(last, ones.tril(n_k - n_q))


@given(widths, st.integers(1, 4))
def test_windows_hold_exactly_their_width(width, step):
    n, middle = 61, 30  # far from both ends
    for mask in (local(width), sliding_window(width), dilated(width, step)):
        row = mask_tensor(mask, n, n)[middle]
        assert row.sum() == width and row[middle]
    keys = mask_tensor(dilated(width, step), n, n)[middle].nonzero().flatten()
    assert set(keys.diff().tolist()) <= {step}
    assert torch.equal(keys.flip(0), 2 * middle - keys)  # centred
    assert not mask_tensor(sliding_window(width), n, n)[middle, middle + 1 :].any()
    assert drawn(dilated(width, 1), n, n) == drawn(local(width), n, n)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(0, 3))
def test_documents_are_blocks(lengths, padding):
    blocks = torch.block_diag(*(torch.ones(length, length) for length in lengths)).bool()
    n = len(blocks) + padding
    expected = torch.zeros(n, n, dtype=torch.bool)
    expected[: len(blocks), : len(blocks)] = blocks
    assert torch.equal(mask_tensor(document(lengths), n, n), expected)


@given(st.integers(1, 5), st.integers(1, 5), widths)
def test_a_neighbourhood_does_not_leave_by_the_side_of_the_grid(rows, columns, width):
    cells = [(row, column) for row in range(rows) for column in range(columns)]
    near = [[max(abs(r - s), abs(c - t)) <= width // 2 for s, t in cells] for r, c in cells]
    mask = mask_tensor(grid_neighbourhood(columns, width), len(cells), len(cells))
    assert mask.tolist() == near


@given(masks, masks, sizes, sizes)
def test_combinators_are_the_boolean_algebra(one, two, n_q, n_k):
    def tensor(mask):
        return mask_tensor(mask, n_q, n_k)

    assert torch.equal(tensor(all_of(one, two)), tensor(one) & tensor(two))
    assert torch.equal(tensor(any_of(one, two)), tensor(one) | tensor(two))
    assert torch.equal(tensor(negate(one)), ~tensor(one))


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_masks_answer_at_any_shape_and_on_any_device(mask):
    q_idx, k_idx = torch.arange(3, dtype=torch.int32), torch.arange(3, dtype=torch.int32)
    assert mask(q_idx, k_idx).tolist() == mask_tensor(mask, 3, 3).diagonal().tolist()
    assert mask_tensor(mask, 2, 3, device="meta").device.type == "meta"
    assert mask_tensor(mask, 2, 3).dtype == torch.bool


def test_a_rule_about_keys_alone_still_gives_a_whole_matrix_of_its_own_memory():
    matrix = mask_tensor(lambda q_idx, k_idx: k_idx < 1, 2, 3)
    matrix[0, 0] = False
    assert matrix.tolist() == [[False] * 3, [True, False, False]]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: local(4), "width must be odd.*4"),
        (lambda: local(0), "width must be odd.*0"),
        (lambda: local(-1), "width must be odd.*-1"),
        (lambda: dilated(2, 3), "width must be odd.*2"),
        (lambda: dilated(3, 0), "step must be 1 or more: 0"),
        (lambda: sliding_window(0), "width must be 1 or more: 0"),
        (lambda: prefix_lm(-1), "prefix must not be negative: -1"),
        (lambda: document([]), r"1 or more: \[\]"),
        (lambda: document([3, 0]), r"1 or more: \[3, 0\]"),
        (lambda: grid_neighbourhood(0, 3), "columns must be 1 or more: 0"),
        (lambda: grid_neighbourhood(3, 2), "width must be odd.*2"),
        (lambda: causal_bottom_right(-1, 3), "must not be negative: n_q=-1, n_k=3"),
        (lambda: mask_tensor(causal, 3, -1), "must not be negative: n_q=3, n_k=-1"),
        (lambda: mask_tensor(lambda q, k: q - k, 3, 3), "boolean.*answers torch.int64"),
        (lambda: mask_tensor(lambda q, k: True, 3, 3), "boolean.*answers <class 'bool'>"),  # type: ignore[arg-type, return-value]
        (lambda: reachable(torch.ones(2, 3), 1), r"square.*\(2, 3\)"),
        (lambda: reachable(torch.ones(3, 3), -1), "layers must not be negative: -1"),
        (lambda: reachable(torch.full((3, 3), 0.5), 1), "bias"),
    ],
)
def test_bad_parameters_are_refused_at_once(make, words):
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize("layers", range(5))
def test_windows_widen_with_every_layer(layers):
    wider = {sliding_window(3): sliding_window(2 * layers + 1), local(3): local(2 * layers + 1)}
    for mask, reached in wider.items():
        seen = reachable(mask_tensor(mask, 13, 13), layers)
        assert torch.equal(seen, mask_tensor(reached, 13, 13))


@given(masks, st.integers(0, 6))
def test_reachable_counts_paths(mask, layers):
    square = mask_tensor(mask, 7, 7)
    paths = torch.linalg.matrix_power(square.double(), layers)
    assert torch.equal(reachable(square, layers), paths > 0)


def test_reachable_goes_from_input_to_position():
    mask = torch.tensor([[1, 0, 0], [1, 0, 0], [0, 1, 0]])  # 2 sees 1, 1 sees 0
    assert reachable(mask, 2).int().tolist() == [[1, 0, 0], [1, 0, 0], [1, 0, 0]]
    assert reachable(mask, 1).dtype == torch.bool


def test_very_many_layers_do_not_overflow():
    blocks = mask_tensor(document([3, 4]), 7, 7)
    assert torch.equal(reachable(blocks, 300), blocks)  # 4 ** 300 paths


@pytest.mark.parametrize("shape", [(3,), (2, 5, 7), (7, 5), (5, 1, 7)])
def test_a_mask_that_answers_with_another_shape_is_refused(shape):
    with pytest.raises(ValueError, match=r"must answer with \(n_q, n_k\)"):
        mask_tensor(lambda q_idx, k_idx: torch.ones(shape, dtype=torch.bool), 5, 7)


def test_documents_have_whole_lengths():
    with pytest.raises(ValueError, match="whole numbers"):
        document([1.5, 2])  # type: ignore[list-item]


def test_turned_cells_have_the_other_answer_and_the_mask_stays_as_it_was() -> None:
    mask = mask_tensor(causal, 3, 5)
    before = mask.clone()
    other = flip_cells(mask, [(0, 0), (2, 4), (0, 0)])  # twice is once
    assert torch.equal(mask, before)
    assert (other != mask).nonzero().tolist() == [[0, 0], [2, 4]]


@pytest.mark.parametrize("cell", [(3, 0), (0, 5), (-1, 0), (0, -1)])
def test_a_cell_outside_of_the_mask_is_refused(cell: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match=r"cells must be \(i, j\) of the mask \(3, 5\)"):
        flip_cells(mask_tensor(causal, 3, 5), [cell])
