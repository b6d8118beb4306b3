from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from attention_core.convolution import convolve, toeplitz


def test_toeplitz_by_hand() -> None:
    expected = [[2, 3, 0, 0], [1, 2, 3, 0], [0, 1, 2, 3], [0, 0, 1, 2]]
    assert toeplitz(torch.tensor([1, 2, 3]), 4).tolist() == expected


@given(n=st.integers(1, 13), d=st.integers(1, 5), half=st.integers(0, 7), seed=st.integers(0, 99))
def test_convolve_is_conv1d(n: int, d: int, half: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(n, d, generator=generator, dtype=torch.float64)
    kernel = torch.randn(2 * half + 1, generator=generator, dtype=torch.float64)
    features = x.T.unsqueeze(1)  # (d, 1, n)
    expected = F.conv1d(features, kernel[None, None], padding="same").squeeze(1).T
    torch.testing.assert_close(convolve(x, kernel), expected, atol=1e-12, rtol=0)


def test_the_kernel_is_not_flipped() -> None:
    impulse, kernel = torch.eye(5)[:, 2:3], torch.tensor([1.0, 2.0, 3.0])
    assert convolve(impulse, kernel).flatten().tolist() == [0, 3, 2, 1, 0]


def test_positions_outside_the_band_do_not_count() -> None:
    x = torch.ones(7, 2)
    changed = x.clone()
    changed[5] = 100.0
    kernel = torch.tensor([1.0, 2.0, 4.0])
    same = (convolve(x, kernel) == convolve(changed, kernel)).all(-1)
    assert same.tolist() == [True, True, True, True, False, False, False]


def test_a_kernel_can_be_learned() -> None:
    kernel = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64, requires_grad=True)
    x = torch.randn(5, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda kernel: convolve(x, kernel), kernel)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: toeplitz(torch.ones(4), 5), r"w odd, to have a centre: \(4,\)"),
        (lambda: toeplitz(torch.ones(0), 5), r"w odd, to have a centre: \(0,\)"),
        (lambda: toeplitz(torch.ones(3, 3), 5), r"to have a centre: \(3, 3\)"),
        (lambda: toeplitz(torch.ones(3), 0), "n must be 1 or more: 0"),
        (lambda: convolve(torch.ones(5), torch.ones(3)), r"matrix \(n, d\): \(5,\)"),
        (lambda: convolve(torch.ones(5, 2), torch.ones(3).double()), "x torch.float32, kernel"),
    ],
)
def test_errors_say_what_was_wrong(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("name", ["x", "kernel"])
def test_values_that_are_not_finite_are_refused(name: str) -> None:
    given = {"x": torch.ones(9, 2), "kernel": torch.ones(3)}
    given[name][-1] = torch.nan
    with pytest.raises(ValueError, match=f"{name} must hold finite numbers"):
        convolve(**given)
