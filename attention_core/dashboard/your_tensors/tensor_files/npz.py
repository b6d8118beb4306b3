"""The .npz format: a zip archive of .npy files. The directory is checked before it is unpacked."""

import io
import zipfile

from torch import Tensor

from attention_core.dashboard.your_tensors.tensor_files.limits import (
    DAMAGED,
    MAX_BYTES,
    MAX_TENSORS,
    Entry,
    TensorFileError,
    left_alone,
    plays_a_part,
    quoted,
    refuse_unless,
)
from attention_core.dashboard.your_tensors.tensor_files.npy import HEADER, read_header, tensor_of

MAGIC = b"PK"
_END, _END_64 = b"PK\x05\x06", b"PK\x06\x07"  # of the directory; where that of a zip64 is
_END_BYTES, _LOCATOR_BYTES = 22, 20
_LONGEST_COMMENT = 2**16 - 1
_ROOM = 300  # bytes of the directory for one member
_MOST_FROM_ONE = 1032  # bytes that deflate can make of one byte
_PYTORCH = (
    "This is a PyTorch file, a pickle, which could run code when it is read: please save the "
    "tensors with safetensors instead."
)


def npz_entries(data: bytes) -> list[Entry]:
    """The tensors of a .npz file, unpacked only when they are loaded. Raises TensorFileError."""
    data = _without_comment(data)
    _require_small_directory(data)
    archive = zipfile.ZipFile(io.BytesIO(data))
    members = archive.infolist()
    refuse_unless(not any(m.filename.endswith("data.pkl") for m in members), _PYTORCH)
    refuse_unless(len(members) >= 1, "The file holds no tensor at all.")
    refuse_unless(
        sum(member.file_size for member in members) <= MAX_BYTES + HEADER * MAX_TENSORS,
        f"Unpacked, the file would take more than {MAX_BYTES // 1024**2} MB, the limit here: "
        "please save fewer heads or positions.",
    )
    for member in members:
        _require_plain(member)
    return [_entry(archive, member) for member in members]


def _without_comment(data: bytes) -> bytes:
    """The archive without a comment at its end, so that zipfile finds the directory we checked."""
    at = data.rfind(_END, -_END_BYTES - _LONGEST_COMMENT)
    length = len(data) - at - _END_BYTES
    announced = int.from_bytes(data[at + 20 : at + _END_BYTES], "little")
    if at < 0 or length <= 0 or announced != length:
        return data
    return data[: at + 20] + bytes(2)


def _require_small_directory(data: bytes) -> None:
    """The directory stands at the very end, as numpy writes it, and lists a few members only.

    zipfile would make an object of each of the hundred thousands that a small file can list.
    """
    # PyTorch's own files have another directory, and deserve the better sentence.
    refuse_unless(b"/data.pkl" not in data[:4096], _PYTORCH)
    end = data[-_END_BYTES:]
    before = data[-_END_BYTES - _LOCATOR_BYTES : -_END_BYTES]
    refuse_unless(end.startswith(_END) and end.endswith(b"\0\0"), DAMAGED)
    refuse_unless(not before.startswith(_END_64), DAMAGED)
    count, size = int.from_bytes(end[10:12], "little"), int.from_bytes(end[12:16], "little")
    few = count <= MAX_TENSORS and size <= MAX_TENSORS * _ROOM
    refuse_unless(few, f"The file holds more than {MAX_TENSORS} tensors, the limit here.")


def _require_plain(member: zipfile.ZipInfo) -> None:
    name = member.filename
    refuse_unless(not member.flag_bits & 1, "The file is protected by a password.")
    packed = member.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    refuse_unless(packed, "The file is packed in a way that numpy does not write.")
    refuse_unless(
        name.endswith(".npy") and not set(name) & set("/\\:\0"),
        f"A .npz file holds .npy files and nothing else: this one holds {quoted(name)}.",
    )
    refuse_unless(
        member.file_size <= _MOST_FROM_ONE * member.compress_size + HEADER,
        f"{quoted(name)} says it is larger than what is there can unpack to.",
    )


def _entry(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Entry:
    name = member.filename.removesuffix(".npy")
    if not plays_a_part(name):
        return left_alone(name)
    with archive.open(member) as file:
        header = read_header(name, file.read(HEADER + 16), member.file_size)

    def load() -> Tensor:
        # Reading as much as there should be, and not all there is, bounds what is unpacked.
        with archive.open(member) as file:
            data = file.read(member.file_size)  # a wrong checksum raises BadZipFile
        if len(data) != member.file_size:
            raise TensorFileError(DAMAGED)
        return tensor_of(header, data)

    return Entry(name, header.dtype.name, header.shape, load)
