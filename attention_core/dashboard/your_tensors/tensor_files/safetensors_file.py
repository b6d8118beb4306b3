"""The .safetensors format: the size of a header, the header in JSON, then the bare numbers.

The safetensors library reads it, and refuses offsets that overlap or leave holes. What it would
make objects of, the header, is bounded before.
"""

import json
from collections.abc import Iterable
from functools import cache
from typing import Any

import torch
from safetensors.torch import load
from torch import Tensor

from attention_core.dashboard.your_tensors.tensor_files.limits import (
    DAMAGED,
    MAX_MEGABYTES,
    MAX_TENSORS,
    Entry,
    TensorFileError,
    left_alone,
    plays_a_part,
    quoted,
    refuse_unless,
    require_shape,
)

HEADER = 16 * 1024  # bytes: sixteen tensors take 2,000
_DTYPES = {
    **{"F16": "float16", "BF16": "bfloat16", "F32": "float32", "F64": "float64", "BOOL": "bool"},
    **{"U8": "uint8", "I8": "int8", "I16": "int16", "I32": "int32", "I64": "int64"},
}


def looks_like_safetensors(data: bytes) -> bool:
    """The first eight bytes are a size, and a JSON object follows."""
    return len(data) > 8 and data[8:9] == b"{"


def surely_safetensors(data: bytes) -> bool:
    """The size is moreover that of a header: where a pickle has commands, these bytes are 0."""
    fits = int.from_bytes(data[:8], "little") <= MAX_MEGABYTES * 1024**2
    return looks_like_safetensors(data) and fits


def safetensors_entries(data: bytes) -> list[Entry]:
    """The tensors of a .safetensors file. Raises TensorFileError."""
    length = int.from_bytes(data[:8], "little")
    refuse_unless(
        length <= HEADER, f"The header of the file is larger than {HEADER // 1024} kB, the limit."
    )
    header: Any = json.loads(data[8 : 8 + length], object_pairs_hook=_without_duplicates)
    header.pop("__metadata__", None)
    refuse_unless(len(header) >= 1, "The file holds no tensor at all.")
    refuse_unless(
        len(header) <= MAX_TENSORS,
        f"The file holds more than {MAX_TENSORS} tensors, the limit here.",
    )

    @cache
    def tensors() -> dict[str, Tensor]:
        return load(data)

    return [
        _entry(name, entry, lambda name=name: tensors()[name]) for name, entry in header.items()
    ]


def _entry(name: str, entry: Any, load_one: Any) -> Entry:
    if not plays_a_part(name):
        return left_alone(name)
    code, shape = entry["dtype"], tuple(entry["shape"])
    refuse_unless(all(type(length) is int and length >= 0 for length in shape), DAMAGED)
    refuse_unless(
        code in _DTYPES,
        f"{quoted(name)} must hold float16, bfloat16, float32 or float64 (a mask: booleans, or 0 "
        f"and 1): it holds {quoted(str(code))}.",
    )
    require_shape(name, shape)
    return Entry(name, _DTYPES[code], shape, lambda: _honest(load_one()))


def _honest(tensor: Tensor) -> Tensor:
    """Booleans that are 0 or 1: any byte may stand in a file, and torch trusts them."""
    return tensor.view(torch.uint8) != 0 if tensor.dtype == torch.bool else tensor


def _without_duplicates(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise TensorFileError(f"The file holds two tensors named {quoted(name)}.")
        found[name] = value
    return found
