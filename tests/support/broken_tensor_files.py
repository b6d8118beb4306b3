"""Every kind of broken tensor file that we could think of, and what is to be said about it."""

import io
import json
import pickle
import struct
import zipfile

import numpy as np
import pytest
import torch

from attention_core.dashboard.your_tensors.tensor_files.limits import MAX_MEGABYTES
from tests.support.tensor_makers import (
    D_K,
    D_V,
    EVEN,
    MASK,
    N_K,
    B,
    H,
    K,
    Q,
    V,
    header,
    npy,
    npz,
    numbers,
    safetensors,
    tensors,
    zipped,
)

QKV = {f"{name}.npy": npy(array) for name, array in zip("qkv", (Q, K, V), strict=True)}
SMALL = npz(weights=EVEN[0, 0])
ONE = {"dtype": "F32", "shape": [1, 1], "data_offsets": [0, 4]}


def with_flag() -> bytes:
    """The archive as if it were encrypted."""
    data = bytearray(SMALL)
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + offset] |= 1
    return bytes(data)


def with_wrong_checksum() -> bytes:
    data = bytearray(SMALL)
    data[data.index(np.float32(1 / N_K).tobytes())] ^= 1
    return bytes(data)


def twice() -> bytes:
    with pytest.warns(UserWarning, match="Duplicate"):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("weights.npy", npy(EVEN))
            archive.writestr("weights.npy", npy(EVEN))
    return buffer.getvalue()


def bomb(declared: int, real: int) -> bytes:
    """A member of `real` zeros that says it is `declared` bytes long."""
    data = bytearray(zipped({"weights.npy": header("<f4", (1024, 1024)) + bytes(real)}))
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.index(signature) + offset
        data[at : at + 4] = struct.pack("<I", declared)
    return bytes(data)


def many_members() -> bytes:
    return zipped({f"{number}.npy": b"" for number in range(17)})


def forged_directory() -> bytes:
    """A hundred thousand members in the directory, which says there is one."""
    data = zipped({"a.npy": b""})
    start = data.index(b"PK\x01\x02")
    end = data.index(b"PK\x05\x06")
    directory = data[start:end] * 100_000
    tail = bytearray(data[end:])
    tail[12:16] = struct.pack("<I", len(directory))
    return data[:start] + directory + bytes(tail)


def forged_zip64() -> bytes:
    """The same, in a second directory that only archives of the 64-bit format have."""
    data = zipped({"a.npy": b""})
    start, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    directory = data[start:end] * 100_000
    record = struct.pack(
        "<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, *[100_000] * 2, len(directory), start
    )
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, start + len(directory), 1)
    return data[:start] + directory + record + locator + data[end:]


def saved_by_torch() -> bytes:
    file = io.BytesIO()
    torch.save({"q": torch.ones(2, 3)}, file)
    return file.getvalue()


BROKEN = {
    "empty": (b"", "The file is empty"),
    "too large": (b"\x93NUMPY" + bytes(MAX_MEGABYTES * 1024**2), "larger than 20 MB"),
    "text renamed": (b"q, k, v\n1, 2, 3\n", "not a .npz, .npy or .safetensors"),
    "picture renamed": (b"\x89PNG\r\n\x1a\n" + bytes(40), "not a .npz"),
    "pickle like a header": (b"\x80\x02X\x01\x00\x00\x00a{q\x00.", "This is a pickle"),
    "safetensors of 128 cut": (struct.pack("<Q", 128) + b'{"q":', "damaged or was cut off"),
    "pickle": (pickle.dumps({"q": [1.0]}), "This is a pickle"),
    "torch": (zipped({"archive/data.pkl": b"", "archive/data/0": b""}), "This is a PyTorch file"),
    "torch itself": (saved_by_torch(), "This is a PyTorch file"),
    "npz cut": (SMALL[:-30], "damaged or was cut off"),
    "npz half": (SMALL[: len(SMALL) // 2], "damaged or was cut off"),
    "npz encrypted": (with_flag(), "protected by a password"),
    "npz checksum": (with_wrong_checksum(), "damaged or was cut off"),
    "npz empty": (zipped({}), "holds no tensor"),
    "npz twice": (twice(), "two tensors named 'weights'"),
    "npz Q and q": (npz(q=Q, k=K, v=V, Q=Q), "two tensors named 'q'"),
    "npz packed by lzma": (zipped(QKV, zipfile.ZIP_LZMA), "packed in a way"),
    "npz packed by bzip2": (zipped(QKV, zipfile.ZIP_BZIP2), "packed in a way"),
    "npz path": (zipped({"../../q.npy": npy(Q)}), "holds .npy files and nothing else"),
    "npz windows path": (zipped({"c:\\q.npy": npy(Q)}), "holds .npy files and nothing else"),
    "npz text member": (zipped({"q.txt": b"1"}), "holds .npy files and nothing else"),
    "npz many": (many_members(), "more than 16 tensors"),
    "npz forged directory": (forged_directory(), "more than 16 tensors"),
    "npz forged zip64": (forged_zip64(), "damaged or was cut off"),
    "npz comment cut": (SMALL[:-2] + b"\x03\x00hi", "damaged or was cut off"),
    "npz comment too long": (SMALL[:-2] + b"\x01\x00hi", "damaged or was cut off"),
    "npz forged directory, comment": (
        forged_directory()[:-2] + b"\x02\x00hi",
        "more than 16 tensors",
    ),
    "npz forged zip64, comment": (forged_zip64()[:-2] + b"\x02\x00hi", "damaged or was cut off"),
    "npz honest bomb": (zipped({"weights.npy": bytes(40 * 2**20)}), "more than 32 MB"),
    "npz bomb that lies": (
        bomb(len(header("<f4", (1024, 1024))) + 4 * 2**20, 200 * 2**20),
        "damaged or was cut off",
    ),
    "npz boast": (bomb(30 * 2**20, 100), "larger than what is there"),
    "npy cut": (npy(EVEN)[:-1], "damaged or was cut off"),
    "npy longer": (npy(EVEN) + b"\0", "damaged or was cut off"),
    "npy header cut": (npy(EVEN)[:20], "damaged or was cut off"),
    "npy version": (b"\x93NUMPY\x03\x00" + npy(EVEN)[8:], "unknown .npy version"),
    "npy header of no dictionary": (header("<f4", (2, 2)).replace(b"{", b"["), "damaged"),
    "npy header of code": (header("<f4", (2, 2)).replace(b"(2, 2)", b"exit()"), "damaged"),
    "npy deep header": (b"\x93NUMPY\x01\x00\xe8\x03" + b"(" * 1000, "damaged or was cut off"),
    "npy large header": (b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**31) + bytes(99), "damaged"),
    "npy escape": (header("<f4", (2, 2)).replace(b"<f4", b"<f\\4"), "damaged or was cut off"),
    "npy escaped key": (header("<f4", (2, 2)).replace(b"'descr'", b"'desc\\q'"), "damaged"),
    "npy words at numbers": (header("<f4", (2, 2)).replace(b"(2, 2)", b"(1or 2)"), "damaged"),
    "npy of Python 2": (header("<f4", (2, 2)).replace(b"(2, 2)", b"(2L,2L)"), "damaged"),
    "npy old letter": (header("|a5", (2, 2), data=bytes(20)), "does not hold plain numbers"),
    "npy old pair": (header("1f4", (2, 2), data=bytes(16)), "does not hold plain numbers"),
    "npy old objects": (header("|O8", (2, 2), data=bytes(32)), "does not hold plain numbers"),
    "npy objects": (npy(np.array([[{}, 1]], object), allow_pickle=True), "holds Python objects"),
    "npy complex": (npy(Q.astype(complex)[0]), "it holds complex128"),
    "npz strings": (
        npz(q=np.array([["a", "b"]]), k=K, v=V, names=np.array(["a"])),
        "'q' must hold float16.*it holds str",
    ),
    "npy strings": (npy(np.array([["a", "b"]])), "it holds str"),
    "npy records": (npy(np.zeros((2, 2), "f4,f4")), "does not hold plain numbers"),
    "npy bfloat16": (npy(np.zeros((2, 2), "V2")), "save bfloat16 as float32"),
    "npy long double": (npy(np.zeros((2, 2), np.longdouble)), "it holds float128"),
    "npy times": (npy(np.zeros((2, 2), "M8[s]")), "does not hold plain numbers"),
    "npy integers": (npy(np.eye(3, dtype=np.int64)), "must hold bfloat16, float16, float32"),
    "npy 5-D": (npy(np.ones((1, 1, 1, 1, 1))), "2 to 4 dimensions"),
    "npy 1-D": (npy(np.ones(3)), "2 to 4 dimensions"),
    "npy 0-D": (npy(np.float32(1.0)), "2 to 4 dimensions"),
    "npy no queries": (npy(np.ones((0, 3))), r"is empty: its shape is \(0, 3\)"),
    "npy 2**60": (header("<f4", (2**30, 2**30)), "more than 8,388,608 numbers"),
    "npy wraps round": (header("<f4", (2**32, 2**32), data=b""), "more than 8,388,608 numbers"),
    "npy huge size": (header("<f4", (10**300, 1)), "more than 8,388,608 numbers"),
    "npy negative": (header("<f4", (-1, -4), data=bytes(16)), "damaged or was cut off"),
    "npy True": (header("<f4", (True, 4), data=bytes(16)), "damaged or was cut off"),
    "npy fraction": (header("<f4", (2.0, 2), data=bytes(16)), "damaged or was cut off"),
    "safetensors cut": (tensors(q=Q, k=K, v=V)[:-1], "damaged or was cut off"),
    "safetensors header": (struct.pack("<Q", 2**60) + b"{" + bytes(99), "header of the file is la"),
    "safetensors large header": (struct.pack("<Q", 17000) + b"{" * 17000, "larger than 16 kB"),
    "safetensors deep": (struct.pack("<Q", 9999) + b'{"a":' * 2000, "damaged or was cut off"),
    "safetensors no JSON": (safetensors(b"{q: 1}"), "damaged or was cut off"),
    "safetensors empty": (safetensors({}), "holds no tensor"),
    "safetensors many": (safetensors({str(i): ONE for i in range(17)}), "more than 16 tensors"),
    "safetensors overlap": (
        safetensors({"q": ONE, "k": ONE, "v": ONE}, bytes(4)),
        "damaged or was cut off",
    ),
    "safetensors hole": (
        safetensors({"weights": {**ONE, "data_offsets": [4, 8]}}, bytes(8)),
        "damaged or was cut off",
    ),
    "safetensors twice": (
        safetensors(b'{"weights": %b, "weights": %b}' % ((json.dumps(ONE).encode(),) * 2)),
        "two tensors named 'weights'",
    ),
    "safetensors 2**60": (
        safetensors({"weights": {**ONE, "shape": [2**30, 2**30]}}, bytes(4)),
        "more than 8,388,608 numbers",
    ),
    "safetensors short": (
        safetensors({"weights": {**ONE, "shape": [2, 2]}}, bytes(4)),
        "damaged or was cut off",
    ),
    "safetensors float8": (
        safetensors({"weights": {**ONE, "dtype": "F8_E4M3", "data_offsets": [0, 1]}}, bytes(1)),
        "it holds 'F8_E4M3'",
    ),
    "safetensors complex": (
        safetensors({"weights": {**ONE, "dtype": "C64", "data_offsets": [0, 8]}}, bytes(8)),
        "it holds 'C64'",
    ),
    "no k": (npz(q=Q, v=V), "must hold tensors named q, k and v.*it holds 'q', 'v'"),
    "other names": (npz(arr_0=EVEN), "it holds 'arr_0'"),
    "markup": (npz(**{"<b>$x$": EVEN}), r"it holds '<b>\$x\$'"),
    "long name": (zipped({"x" * 200 + ".npy": npy(EVEN)}), "it holds 'x{39}…'"),
    "line breaks": (tensors(**{"a\n\nb": EVEN}), r"it holds 'a\\n\\nb'"),
    "both": (npz(q=Q, k=K, v=V, weights=EVEN), "must hold tensors named"),
    "weights and mask": (npz(weights=EVEN, mask=MASK), "must hold tensors named"),
    "weights twice": (npz(weights=EVEN, attention=EVEN), "must hold tensors named"),
    "q of integers": (npz(q=Q.astype(int), k=K, v=V), "'q' must hold .*: it holds int64"),
    "mask of others": (npz(q=Q, k=K, v=V, mask=MASK * 2.0), "mask must be boolean or hold 0 and 1"),
    "mask of -inf": (npz(q=Q, k=K, v=V, mask=np.full((5, 7), -np.inf)), "are a bias, not a mask"),
    "mask size": (npz(q=Q, k=K, v=V, mask=MASK.T), "mask must broadcast to"),
    "padding": (npz(q=Q, k=K, v=V, mask=np.ones((B, N_K), bool)), "mask must broadcast.*padding"),
    "two dtypes": (npz(q=Q.astype("f2"), k=K, v=V), "share one dtype"),
    "d_k": (npz(q=Q, k=numbers(B, H, N_K, 3), v=V), "agree in d_k"),
    "n_k": (npz(q=Q, k=K, v=numbers(B, H, 3, D_V)), "agree in n_k"),
    "heads": (npz(q=Q, k=numbers(B, 2, N_K, D_K), v=V), "leading dimensions must broadcast"),
    "grouped": (
        npz(q=numbers(1, 6, 5, 4), k=numbers(1, 2, 7, 4), v=numbers(1, 2, 7, 4)),
        r"leading dimensions.*save k\.repeat_interleave\(3, -3\)",
    ),
    "NaN": (npz(q=Q * np.nan, k=K, v=V), r"q\[0, 0, 0, 0\] is nan"),
    "infinite": (tensors(q=Q, k=K, v=V * np.inf), r"v\[0, 0, 0, 0\] is -?inf"),
    "weights NaN": (npy(EVEN * np.nan), r"weights\[0, 0, 0, 0\] is nan"),
    "scores": (npy(Q), "these may be scores"),
    "negative": (npy(-EVEN), "shares between 0 and 1"),
    "too many queries": (npz(q=numbers(2049, 1), k=numbers(5, 1), v=numbers(5, 1)), "2,048 each"),
    "too many keys": (npz(q=numbers(5, 1), k=numbers(2049, 1), v=numbers(2049, 1)), "2,048 each"),
    "weights too long": (npy(np.ones((1, 2049), np.float16) / 2049), "2,048 each"),
    "too many heads": (npy(np.ones((257, 1, 1))), "limit here is 256"),
    "heads by broadcasting": (
        npz(q=np.zeros((17, 1, 1, 1)), k=np.zeros((1, 17, 1, 1)), v=np.zeros((1, 1, 1, 1))),
        "limit here is 256",
    ),
    "too many weights": (
        npz(**{name: np.zeros((1, 17, 2048, 1), np.float16) for name in "qkv"}),
        "more than 67 million",
    ),
    "too many numbers": (
        npz(**{name: np.zeros((1, 2, 2000, 700), np.float16) for name in "qkv"}),
        r"limit here is 8,388,608 and 32 MB|larger than 20 MB",
    ),
}
