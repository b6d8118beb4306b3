"""Broken tensor files: each gets one friendly sentence, in bounded memory, and nothing else."""

import io
import pickle
import tracemalloc
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_core.checks import require_qkv
from attention_core.dashboard.your_tensors.tensor_files.limits import MAX_WEIGHTS, TensorFileError
from attention_core.dashboard.your_tensors.tensor_files.loaded import Weights
from attention_core.dashboard.your_tensors.tensor_files.reading import read_tensors
from attention_core.heads.precomputed import require_weights
from tests.support.broken_tensor_files import BROKEN, QKV, SMALL
from tests.support.tensor_makers import MASK, K, Q, V, header, npy, tensors, zipped

WHOLE_FILES = [SMALL, zipped(QKV), tensors(q=Q, k=K, v=V, mask=MASK), npy(np.eye(5))]
HOSTILE = [
    b"PK\x05\x06",
    b"\xff" * 4,
    b"\xff" * 8,
    b"0" * 12,
    b"(",
    b"'|O'",
    b'{"a":',
    b"-1",
    b"1e9",
]


@contextmanager
def no_warning() -> Iterator[None]:
    """Nothing is said on the way: as an error, a warning would be taken for a damaged file."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        yield
    assert [str(warning.message) for warning in said] == []


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_file_gets_its_sentence_and_no_warning(kind: str) -> None:
    data, says = BROKEN[kind]
    with no_warning(), pytest.raises(TensorFileError, match=says) as caught:
        read_tensors(data)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


def test_numbers_are_bounded_in_packed_files_as_well() -> None:
    buffer = io.BytesIO()
    zeros: Any = {name: np.zeros((1, 2, 2000, 1000), np.float16) for name in "qkv"}
    np.savez_compressed(buffer, **zeros)
    with pytest.raises(TensorFileError, match="12,000,000 numbers in 23 MB: the limit here is 8,"):
        read_tensors(buffer.getvalue())


@pytest.mark.parametrize(
    "kind",
    [
        *("npz honest bomb", "npz bomb that lies", "npz boast", "npz forged directory"),
        *("npz forged directory, comment", "npz forged zip64", "npz forged zip64, comment"),
        *("npy 2**60", "npy large header", "npy deep header"),
        *("safetensors 2**60", "safetensors header", "safetensors large header"),
    ],
)
def test_a_bomb_takes_no_memory(kind: str) -> None:
    data, _ = BROKEN[kind]
    read_tensors(SMALL)  # what is imported on the way does not count
    tracemalloc.start()
    try:
        with pytest.raises(TensorFileError):
            read_tensors(data)
        assert tracemalloc.get_traced_memory()[1] < 12 * 2**20 + len(data)
    finally:
        tracemalloc.stop()


def test_nothing_is_unpacked_before_the_sizes_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    read = zipfile.ZipExtFile.read

    def noted(file: zipfile.ZipExtFile, n: int = -1) -> bytes:
        asked.append(n)
        return read(file, n)

    monkeypatch.setattr(zipfile.ZipExtFile, "read", noted)
    with pytest.raises(TensorFileError, match="67 million"):
        read_tensors(BROKEN["too many weights"][0])
    assert asked and all(0 < n < 2000 for n in asked)  # the headers only


def test_a_pickle_is_never_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((pickle, "loads"), (pickle, "load"), (pickle, "Unpickler")):
        monkeypatch.setattr(module, name, lambda *_, **__: pytest.fail("a pickle was loaded"))
    objects = npy(np.array([[{}, 1]], object), allow_pickle=True)
    for data in (objects, zipped({"q.npy": objects}), b"\x80\x04N.", BROKEN["torch"][0]):
        with pytest.raises(TensorFileError):
            read_tensors(data)


@given(
    st.binary(max_size=300), st.sampled_from([b"", b"\x93NUMPY\x01\x00", b"PK\x03\x04", b"\x80"])
)
@settings(max_examples=100, deadline=None)
def test_random_bytes_raise_nothing_else(noise: bytes, start: bytes) -> None:
    with no_warning(), pytest.raises(TensorFileError):
        read_tensors(start + noise)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_damage_gives_tensors_or_the_sentence(data: st.DataObject) -> None:
    """Bytes changed, cut out or put in, in files of each kind, their headers above all."""
    file = bytearray(data.draw(st.sampled_from(WHOLE_FILES)))
    for _ in range(data.draw(st.integers(1, 4))):
        ends = st.integers(0, 160) | st.integers(len(file) - 300, len(file) - 1)
        at = data.draw(ends | st.integers(0, len(file) - 1)) % len(file)
        put = data.draw(st.binary(max_size=8) | st.sampled_from(HOSTILE))
        file[at : at + data.draw(st.integers(0, 8))] = put
    try:
        with no_warning():
            loaded = read_tensors(bytes(file))
    except TensorFileError as error:
        assert 10 < len(str(error)) < 500
        return
    batch, heads, n_q, n_k = loaded.shape
    assert batch * heads * n_q * n_k <= MAX_WEIGHTS
    if isinstance(loaded, Weights):
        require_weights(loaded.weights)
    else:
        require_qkv(loaded.q, loaded.k, loaded.v)


@given(
    shape=st.lists(st.integers(-1, 5) | st.integers(2**30, 2**64), max_size=6).map(tuple),
    descr=st.sampled_from(
        ["<f4", ">f8", "|b1", "<i8", "|O", "<c8", "<U9", "|V2", "f2", "<f16", "e"]
    )
    | st.text(max_size=5),
    fortran=st.booleans() | st.none(),
    content=st.integers(0, 200).map(bytes),
)
@settings(max_examples=100, deadline=None)
def test_any_header_is_read_or_refused(shape, descr, fortran, content) -> None:
    with no_warning(), suppress(TensorFileError):
        loaded = read_tensors(header(descr, shape, fortran, content))
        assert loaded.weights.numel() * loaded.weights.itemsize == len(content)


WORDS = st.sampled_from(
    [
        *("descr", "fortran_order", "shape", "'descr': ", "'fortran_order': ", "'shape': "),
        *("<f4", "|b1", "a5", "\\q", "1or 2", "2L", "()", "(2, 2)", "True", "False", "\n", "\0"),
        *"'\"{}(), ",
    ]
)


@given(st.lists(WORDS, max_size=12).map("".join), st.sampled_from([1, 2]))
@settings(max_examples=100, deadline=None)
def test_no_header_makes_a_warning(text: str, version: int) -> None:
    length = len(text).to_bytes(2 * version, "little")
    data = b"\x93NUMPY" + bytes([version, 0]) + length + text.encode()
    with no_warning(), pytest.raises(TensorFileError):
        read_tensors(data)
