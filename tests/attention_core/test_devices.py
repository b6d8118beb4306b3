from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor

from attention_core import devices
from attention_core.attention import attention
from attention_core.devices import DTYPES, Device, available_devices, resolve_device


@pytest.fixture(autouse=True)
def tried_anew() -> Iterator[None]:
    available_devices.cache_clear()
    yield
    available_devices.cache_clear()


def pretend(monkeypatch: pytest.MonkeyPatch, works: Callable[[str, torch.dtype], bool]) -> None:
    monkeypatch.setattr(devices, "_works", works)


def test_the_cpu_comes_first_and_does_everything() -> None:
    assert available_devices()[0] == Device("cpu", tuple(DTYPES), "")


def test_only_what_is_here_is_offered() -> None:
    here = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.mps.is_available()}
    assert [d.name for d in available_devices()] == [name for name in here if here[name]]


def test_a_missing_dtype_is_left_out_and_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(
        monkeypatch, lambda name, dtype: name != "cuda" and (name, dtype) != ("mps", torch.float64)
    )
    mps = Device("mps", ("float32", "bfloat16", "float16"), "mps has no float64.")
    assert available_devices()[1:] == (mps,)


def test_a_device_that_computes_wrongly_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_mask(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        return attention(q, k, v)

    monkeypatch.setattr(devices, "attention", without_mask)
    assert available_devices() == ()


@pytest.mark.parametrize("requested", ["cuda", "CUDA", " cuda "])
def test_a_device_that_is_here_is_used(monkeypatch: pytest.MonkeyPatch, requested: str) -> None:
    pretend(monkeypatch, lambda name, dtype: name != "mps")
    assert resolve_device(requested) == ("cuda", None)


@pytest.mark.parametrize("requested", ["cuda", "", "cuda:99", "<img src=x>", "**mps**", "9" * 5000])
def test_any_other_falls_back_to_the_cpu_and_says_so(
    monkeypatch: pytest.MonkeyPatch, requested: str
) -> None:
    pretend(monkeypatch, lambda name, dtype: name != "cuda")
    sentence = "The requested device is not available here, only cpu, mps: using cpu."
    assert resolve_device(requested) == ("cpu", sentence)
