"""How large a tensor file may be, and what a learner is told about one that cannot be read."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

MAX_MEGABYTES = 20  # of the file: one head of 2,048 by 2,048 weights in float32 takes 16.8
MAX_BYTES = 32 * 1024**2  # of the numbers, unpacked
MAX_NUMBERS = 2**23
MAX_POSITIONS = 2048  # n_q and n_k
MAX_HEADS = 256  # batch * heads, as many fit one picture
MAX_WEIGHTS = 2**26  # batch * heads * n_q * n_k, computed one head at a time
MAX_TENSORS = 16  # in one file

QKV, MASK, FINISHED = ("q", "k", "v"), "mask", ("weights", "attention")  # all that is shown
DAMAGED = "The file is damaged or was cut off: please save it again."


class TensorFileError(ValueError):
    """The file holds no tensors that this app shows; the message is one sentence for the learner.

    It may hold names from the file: show it as plain text.
    """


def refuse_unless(holds: bool, sentence: str) -> None:
    """Raise TensorFileError(sentence) unless the rule holds."""
    if not holds:
        raise TensorFileError(sentence)


@dataclass(frozen=True)
class Entry:
    """What a file says of one tensor; its numbers are read only when `load` is called."""

    name: str
    dtype: str  # as torch names it: float32, bool, int64
    shape: tuple[int, ...]
    load: Callable[[], Tensor]


def plays_a_part(name: str) -> bool:
    """Whether a tensor of this name is shown; the others are none of our business."""
    return name.lower() in {*QKV, MASK, *FINISHED}


def left_alone(name: str) -> Entry:
    """A tensor that plays no part: there for its name, never read, whatever it holds."""

    def load() -> Tensor:
        raise TensorFileError(f"{quoted(name)} plays no part here.")

    return Entry(name, "", (), load)


FLOATS = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}  # dtype: bytes of one number
WHOLE = {"bool": 1, "uint8": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8}  # for masks only


def quoted(name: str) -> str:
    """A name from the file in a sentence: one line, and not a long one."""
    return repr(name if len(name) <= 40 else f"{name[:39]}…")


def require_shape(name: str, shape: tuple[int, ...]) -> None:
    """Two to four dimensions, none of them empty, and no more numbers than fit."""
    sizes = str(shape) if len(str(shape)) <= 60 else f"{len(shape)} sizes"
    refuse_unless(
        2 <= len(shape) <= 4,
        f"{quoted(name)} must have 2 to 4 dimensions, (batch, heads, n, d) at most: it has "
        f"{len(shape)}.",
    )
    refuse_unless(min(shape) >= 1, f"{quoted(name)} is empty: its shape is {sizes}.")
    refuse_unless(
        math.prod(shape) <= MAX_NUMBERS,
        f"{quoted(name)} says it holds more than {MAX_NUMBERS:,} numbers, the limit here: please "
        "save fewer heads or positions.",
    )
