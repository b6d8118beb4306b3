import math
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from attention_core.patches import GREEN, RED, patch_attention, sample_image, to_patches


def test_patches_by_hand() -> None:
    image = torch.arange(24).reshape(4, 6, 1)
    assert to_patches(image, 2).tolist() == [
        [0, 1, 6, 7],
        [2, 3, 8, 9],
        [4, 5, 10, 11],
        [12, 13, 18, 19],
        [14, 15, 20, 21],
        [16, 17, 22, 23],
    ]


@given(rows=st.integers(1, 5), columns=st.integers(1, 7), patch=st.integers(1, 3))
def test_patches_are_those_of_unfold(rows: int, columns: int, patch: int) -> None:
    image = torch.randn(
        rows * patch, columns * patch, 3, generator=torch.Generator().manual_seed(0)
    )
    unfolded = F.unfold(image.permute(2, 0, 1), patch, stride=patch)  # (3 * patch**2, n)
    channels_last = unfolded.T.reshape(-1, 3, patch**2).mT.flatten(1)
    assert torch.equal(to_patches(image, patch), channels_last)


@pytest.mark.parametrize("size", [1, 7, 48])
def test_the_picture_is_a_picture(size: int) -> None:
    image = sample_image(size)
    assert image.shape == (size, size, 3)
    assert image.min() >= 0
    assert image.max() <= 1


def test_the_picture_has_red_discs_in_opposite_corners_only() -> None:
    red = (sample_image() == torch.tensor(RED)).all(-1)
    assert [red[y, x].item() for y, x in [(12, 12), (36, 36), (12, 36), (36, 12)]] == [
        True,
        True,
        False,
        False,
    ]
    assert torch.equal(red[:24, :24], red[24:, 24:])
    assert red.sum() == 2 * red[:24, :24].sum()
    assert torch.equal(sample_image()[0, -1], torch.tensor(GREEN))


def test_attention_jumps_from_one_disc_to_the_other() -> None:
    weights = patch_attention(to_patches(sample_image(), 6), sharpness=10.0).weights
    weights = weights.reshape(8, 8, 8, 8)  # query row, query column, key row, key column
    here, there, beside = weights[1, 1, 1, 1], weights[1, 1, 6, 6], weights[1, 1, 1, 3]
    assert there == pytest.approx(here.item())
    assert there > 100 * beside


def test_scores_are_cosine_similarities_times_sharpness() -> None:
    patches = torch.randn(7, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    steps = patch_attention(patches, sharpness=3.0)
    centred = patches - patches.mean(0)
    cosines = F.cosine_similarity(centred[:, None], centred[None], dim=-1)
    torch.testing.assert_close(steps.scores, 3 * cosines)
    torch.testing.assert_close(steps.output, (3 * cosines).softmax(-1) @ patches)
    brighter = patch_attention(10 * patches + 1, sharpness=3.0)
    torch.testing.assert_close(brighter.weights, steps.weights)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_a_patch_like_the_mean_attends_to_all_alike(dtype: torch.dtype) -> None:
    # 0.1 is no binary fraction: the mean of the rows is not exactly the middle row.
    patches = torch.tensor([[0.1, 0.7], [0.4, 0.4], [0.7, 0.1]], dtype=dtype)
    middle = patch_attention(patches, sharpness=10.0).weights[1]
    torch.testing.assert_close(middle, torch.full((3,), 1 / 3, dtype=dtype))
    blank = patch_attention(torch.zeros(5, 2, dtype=dtype), sharpness=10.0).weights
    torch.testing.assert_close(blank, torch.full((5, 5), 1 / 5, dtype=dtype))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sample_image(0), "size must be 1 or more: 0"),
        (lambda: to_patches(torch.ones(6, 4, 3), 4), r"must divide.*: 4, \(6, 4, 3\)"),
        (lambda: to_patches(torch.ones(4, 6, 3), 4), r"must divide.*: 4, \(4, 6, 3\)"),
        (lambda: to_patches(torch.ones(4, 6, 3), 0), "must divide.*: 0"),
        (lambda: to_patches(torch.ones(4, 6), 2), r"\(H, W, C\): \(4, 6\)"),
        (lambda: patch_attention(torch.ones(5), 1.0), r"\(n, d\): \(5,\)"),
        (lambda: patch_attention(torch.ones(5, 3).int(), 1.0), "floating point: torch.int32"),
        (lambda: patch_attention(torch.full((5, 3), math.nan), 1.0), "patches must hold finite"),
        (lambda: patch_attention(torch.ones(5, 3), math.inf), "scale must be a finite number: inf"),
    ],
)
def test_errors_say_what_was_wrong(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("size", "dtype"), [(1e20, torch.float32), (1e-25, torch.float32), (1e4, torch.float16)]
)
def test_similarity_has_no_unit(size: float, dtype: torch.dtype) -> None:
    patches = to_patches(sample_image(), 12).double()
    usual = patch_attention(patches, 10.0).weights
    scaled = patch_attention((patches * size).to(dtype), 10.0)
    assert scaled.overflow is None
    assert_close(scaled.weights.double(), usual, atol=2e-2, rtol=0)
