"""From the bytes of a file to q, k, v, or to finished weights: (batch, heads, n, d).

The format is told by content, not by name; all that a file says of itself is checked before its
numbers are unpacked; and whatever goes wrong inside a decoder becomes one sentence.
"""

from threading import Lock

from attention_core.dashboard.your_tensors.tensor_files import npy, npz
from attention_core.dashboard.your_tensors.tensor_files.limits import (
    DAMAGED,
    FINISHED,
    MAX_MEGABYTES,
    Entry,
    TensorFileError,
    quoted,
    refuse_unless,
)
from attention_core.dashboard.your_tensors.tensor_files.loaded import Loaded
from attention_core.dashboard.your_tensors.tensor_files.parts import load_parts
from attention_core.dashboard.your_tensors.tensor_files.safetensors_file import (
    looks_like_safetensors,
    safetensors_entries,
    surely_safetensors,
)

_ONE_AT_A_TIME = Lock()  # all learners share the memory of one process


def read_tensors(data: bytes) -> Loaded:
    """The tensors of a .npy, .npz or .safetensors file.

    Raises TensorFileError, in words for the learner, for anything else.
    """
    refuse_unless(len(data) > 0, "The file is empty.")
    refuse_unless(
        len(data) <= MAX_MEGABYTES * 1024**2,
        f"The file is larger than {MAX_MEGABYTES} MB, the limit here: please save fewer heads or "
        "positions, or float16.",
    )
    try:
        with _ONE_AT_A_TIME:
            return load_parts(_by_name(_entries(data)))
    except TensorFileError:
        raise
    except Exception as error:  # broken files make decoders raise nearly everything
        raise TensorFileError(DAMAGED) from error


def _entries(data: bytes) -> list[Entry]:
    if data.startswith(npy.MAGIC):
        return [npy.npy_entry(FINISHED[0], data)]
    if data.startswith(npz.MAGIC):
        return npz.npz_entries(data)
    refuse_unless(  # the size of a safetensors header may begin with the byte of a pickle
        data[:1] != b"\x80" or surely_safetensors(data),
        "This is a pickle, which could run code when it is read: please save the tensors with "
        "safetensors instead.",
    )
    refuse_unless(
        looks_like_safetensors(data),
        "This is not a .npz, .npy or .safetensors file, whatever its name says.",
    )
    return safetensors_entries(data)


def _by_name(entries: list[Entry]) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for entry in entries:
        name = entry.name.lower()
        refuse_unless(name not in found, f"The file holds two tensors named {quoted(name)}.")
        found[name] = entry
    return found
