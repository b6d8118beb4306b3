"""Which devices and dtypes work on this computer: each is tried before it is offered."""

from dataclasses import dataclass
from functools import cache

import torch

from attention_core.attention import attention

DTYPES: dict[str, torch.dtype] = {
    "float32": torch.float32,
    "float64": torch.float64,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}


@dataclass(frozen=True)
class Device:
    """A device that works here.

    name     "cpu", "cuda" or "mps"
    dtypes   the names of the dtypes that work on it, in the order of DTYPES
    note     a sentence about what it cannot do, "" if there is nothing
    """

    name: str
    dtypes: tuple[str, ...]
    note: str


@cache
def available_devices() -> tuple[Device, ...]:
    """The devices that compute a small attention rightly in float32, the default; the CPU first.

    They are tried once per process.
    """
    devices = (_tried(name) for name in ("cpu", "cuda", "mps"))
    return tuple(device for device in devices if "float32" in device.dtypes)


def resolve_device(requested: str) -> tuple[str, str | None]:
    """The name of a device that works, and a sentence if it is not the requested one, else None.

    Any text may be requested, by a stranger's URL too, so the sentence does not repeat it.
    """
    names = [device.name for device in available_devices()]
    name = requested.strip().lower()
    if name in names:
        return name, None
    return "cpu", f"The requested device is not available here, only {', '.join(names)}: using cpu."


def _tried(name: str) -> Device:
    dtypes = tuple(dtype for dtype in DTYPES if _works(name, DTYPES[dtype]))
    missing = [dtype for dtype in DTYPES if dtype not in dtypes]
    return Device(name, dtypes, f"{name} has no {', no '.join(missing)}." if missing else "")


def _works(name: str, dtype: torch.dtype) -> bool:
    try:
        q, k, v = torch.tensor([[0.0, 0.0], [1.0, 1.0], [1.0, 3.0]]).to(name, dtype).unsqueeze(-1)
        mask = torch.ones(2, 2, device=name).tril()
        output, _ = attention(q, k, v, mask)  # equal scores: the mean of the values so far
    except (AssertionError, RuntimeError, TypeError):  # torch has no single error for "not here"
        return False
    return output.flatten().tolist() == [1.0, 2.0]
