"""The .npy format: a short header in ASCII, then the bare numbers.

Source: NumPy Enhancement Proposal 1. The header is a Python dictionary; numpy parses it, but only
if it is as plain as those that numpy writes: on others Python's parser and numpy may warn the whole
process. A file of Python objects, which would be a pickle, is refused by its dtype.
"""

import io
import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from attention_core.dashboard.your_tensors.tensor_files.limits import (
    DAMAGED,
    FLOATS,
    WHOLE,
    Entry,
    quoted,
    refuse_unless,
    require_shape,
)

MAGIC = b"\x93NUMPY"
HEADER = 1024  # bytes: a header of four sizes takes 128
_READERS = {  # by version: how many bytes say how long the header is, and who parses it
    (1, 0): (2, np.lib.format.read_array_header_1_0),
    (2, 0): (4, np.lib.format.read_array_header_2_0),
}
_NUMBERS = r"[<>=|]?(?:O|[biufcSUV][0-9]{1,9})"  # objects and text get sentences of their own
_VALUES = rf"'{_NUMBERS}'|True|False|\([0-9, ]*\)"
_PLAIN = re.compile(rf"{{ *(?:'\w+' *: *(?:{_VALUES}) *,? *)+}} *\n?")


@dataclass(frozen=True)
class Header:
    """What a .npy file says of its numbers."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool
    offset: int  # of the first number


def npy_entry(name: str, data: bytes) -> Entry:
    """The tensor of a .npy file, named `name` in messages. Raises TensorFileError."""
    header = read_header(name, data[: HEADER + 16], len(data))
    return Entry(name, header.dtype.name, header.shape, lambda: tensor_of(header, data))


def read_header(name: str, start: bytes, size: int) -> Header:
    """The header of a file that is `size` bytes long and begins with `start`.

    Raises TensorFileError unless the numbers it announces are such as we show, and exactly those
    that the file has room for.
    """
    stream = io.BytesIO(start)
    version = np.lib.format.read_magic(stream)
    refuse_unless(version in _READERS, f"{quoted(name)} has an unknown .npy version.")
    width, read = _READERS[version]
    first = stream.tell() + width
    length = int.from_bytes(start[first - width : first], "little")
    header = start[first : first + length].decode("latin1").replace('"', "'")
    refuse_unless(
        _PLAIN.fullmatch(header) is not None,
        f"{quoted(name)} does not hold plain numbers, or the file is damaged or was cut off: "
        "please save it again.",
    )
    shape, fortran, dtype = read(stream, max_header_size=HEADER)
    _require_dtype(name, dtype)
    whole = all(type(length) is int and length >= 0 for length in shape)
    refuse_unless(whole, DAMAGED)
    require_shape(name, shape)
    offset = stream.tell()
    refuse_unless(offset + math.prod(shape) * dtype.itemsize == size, DAMAGED)
    return Header(dtype, shape, fortran, offset)


def tensor_of(header: Header, data: bytes) -> Tensor:
    """The numbers of a whole .npy file, in the order of rows and in this machine's byte order."""
    numbers: NDArray[Any]
    if header.dtype.kind == "b":  # any byte may stand in a file, and torch trusts booleans
        numbers = np.frombuffer(data, np.uint8, offset=header.offset) != 0
    else:
        numbers = np.frombuffer(data, header.dtype, offset=header.offset)
    array = numbers.reshape(header.shape, order="F" if header.fortran else "C")
    return torch.from_numpy(np.array(array, array.dtype.newbyteorder("="), order="C"))


def _require_dtype(name: str, dtype: np.dtype[Any]) -> None:
    refuse_unless(
        not dtype.hasobject,
        f"{quoted(name)} holds Python objects, which could run code when they are read: please "
        "save plain numbers.",
    )
    bits = "; save bfloat16 as float32, or in a .safetensors file" if dtype.kind == "V" else ""
    refuse_unless(
        dtype.name in {*FLOATS, *WHOLE},
        f"{quoted(name)} must hold float16, float32 or float64 (a mask: booleans, or 0 and 1): it "
        f"holds {dtype.name[:20]}{bits}.",
    )
