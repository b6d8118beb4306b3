"""Tensor files: whatever numpy and safetensors write is read exactly."""

import io
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save

from attention_core.dashboard.your_tensors.tensor_files.loaded import Projections, Weights
from attention_core.dashboard.your_tensors.tensor_files.reading import read_tensors
from tests.support.tensor_makers import (
    EVEN,
    MASK,
    N_K,
    N_Q,
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


def projections(data: bytes) -> Projections:
    loaded = read_tensors(data)
    assert isinstance(loaded, Projections)
    return loaded


def weights(data: bytes) -> torch.Tensor:
    loaded = read_tensors(data)
    assert isinstance(loaded, Weights)
    return loaded.weights


@pytest.mark.parametrize("pack", [npz, tensors])
@pytest.mark.parametrize("names", ["qkv", "QKV"])
def test_q_k_v_are_read_exactly(pack: Callable[..., bytes], names: str) -> None:
    loaded = projections(pack(**dict(zip(names, (Q, K, V), strict=True)), mask=MASK[None, None]))
    assert loaded.shape == (B, H, N_Q, N_K)
    for tensor, array in ((loaded.q, Q), (loaded.k, K), (loaded.v, V)):
        assert torch.equal(tensor, torch.from_numpy(array))
    assert loaded.allowed is not None
    assert torch.equal(loaded.allowed, torch.from_numpy(MASK).expand(B, H, N_Q, N_K))


@pytest.mark.parametrize("dtype", ["<f2", "<f4", "<f8", ">f2", ">f4", ">f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_dtype_and_order_of_bytes(dtype: str, order: str) -> None:
    array = np.asfortranarray(Q, dtype) if order == "F" else Q.astype(dtype)
    found = projections(npz(q=array, k=K.astype(dtype), v=V.astype(dtype))).q
    assert np.array_equal(found.numpy(), Q.astype(dtype))
    assert found.dtype == {2: torch.half, 4: torch.float, 8: torch.double}[int(dtype[-1])]


def test_bfloat16_comes_in_safetensors() -> None:
    q, k, v = (torch.from_numpy(array).bfloat16() for array in (Q, K, V))
    assert torch.equal(projections(save({"q": q, "k": k, "v": v})).q, q)


@pytest.mark.parametrize("dimensions", [2, 3, 4])
def test_fewer_dimensions_are_one_batch_or_one_head(dimensions: int) -> None:
    first = (0,) * (4 - dimensions)
    q, k, v = (torch.from_numpy(array[first]) for array in (Q, K, V))
    loaded = projections(save({"q": q.clone(), "k": k.clone(), "v": v.clone()}))
    assert loaded.shape == {2: (1, 1), 3: (1, H), 4: (B, H)}[dimensions] + (N_Q, N_K)
    assert torch.equal(loaded.q, q[(None,) * (4 - dimensions)])
    assert weights(npy(EVEN[first])).shape == loaded.shape


def test_heads_may_share_their_keys_by_broadcasting() -> None:
    loaded = projections(npz(q=Q, k=K[:, :1], v=V[:, :1]))
    assert torch.equal(loaded.k[1, 2], torch.from_numpy(K[1, 0]))


@pytest.mark.parametrize(
    "data",
    [
        npy(EVEN),
        npz(weights=EVEN),
        npz(Attention=EVEN),
        tensors(weights=EVEN),
        zipped({"weights.npy": npy(EVEN)}),
    ],
)
def test_finished_weights(data: bytes) -> None:
    assert torch.equal(weights(data), torch.from_numpy(EVEN))


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float32])
def test_masks_may_be_0_and_1(dtype: type) -> None:
    loaded = projections(npz(q=Q[0, 0], k=K[0, 0], v=V[0, 0], mask=MASK.astype(dtype)))
    assert loaded.allowed is not None
    assert torch.equal(loaded.allowed[0, 0], torch.from_numpy(MASK))


def test_a_boolean_of_two_is_still_one_boolean() -> None:
    one = {"shape": [1, 1], "dtype": "F32"}
    entries = {
        **{name: {**one, "data_offsets": [4 * i, 4 * i + 4]} for i, name in enumerate("qkv")},
        "mask": {"shape": [1, 1], "dtype": "BOOL", "data_offsets": [12, 13]},
    }
    allowed = projections(safetensors(entries, bytes(12) + b"\x02")).allowed
    assert allowed is not None and allowed.view(torch.uint8).tolist() == [[[[1]]]]
    parts = {f"{name}.npy": npy(np.zeros((1, 1))) for name in "qkv"}
    mask = {"mask.npy": header("|b1", (1, 1), data=b"\x02")}
    allowed = projections(zipped({**parts, **mask})).allowed
    assert allowed is not None and allowed.view(torch.uint8).tolist() == [[[[1]]]]


OTHERS = {
    "numbers": numbers(4, 4),
    "one dimension": numbers(4),
    "integers": np.arange(4),
    "empty": np.zeros((0, 3)),
}


@pytest.mark.parametrize("pack", [npz, tensors])
@pytest.mark.parametrize("kind", OTHERS)
def test_other_tensors_beside_q_k_v_are_left_alone(pack: Callable[..., bytes], kind: str) -> None:
    loaded = projections(pack(q=Q, k=K, v=V, other=OTHERS[kind]))
    assert loaded.shape == (B, H, N_Q, N_K) and loaded.allowed is None
    assert torch.equal(loaded.q, torch.from_numpy(Q))


@pytest.mark.parametrize(
    "other",
    [
        npy(np.array(["a", "b"])),
        npy(np.array([{}], object), allow_pickle=True),
        header("<f4", (2**30, 2**30)),
        b"no .npy file at all",
    ],
)
def test_what_stands_beside_q_k_v_is_never_opened(
    other: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    real = zipfile.ZipFile.open

    def noted(archive: zipfile.ZipFile, member: zipfile.ZipInfo, *rest: Any) -> object:
        opened.append(member.filename)
        return real(archive, member, *rest)

    qkv = {f"{name}.npy": npy(array) for name, array in zip("qkv", (Q, K, V), strict=True)}
    data = zipped({"tokens.npy": other, **qkv})
    monkeypatch.setattr(zipfile.ZipFile, "open", noted)
    assert torch.equal(projections(data).v, torch.from_numpy(V))
    assert set(opened) == set(qkv)


@pytest.mark.parametrize("comment", [b"hi", bytes(22), b"x" * 65535])
def test_an_archive_may_have_a_comment(comment: bytes) -> None:
    buffer = io.BytesIO(npz(weights=EVEN))
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.comment = comment
    assert np.array_equal(np.load(io.BytesIO(buffer.getvalue()))["weights"], EVEN)
    assert torch.equal(weights(buffer.getvalue()), torch.from_numpy(EVEN))


@pytest.mark.parametrize("length", [128, 384, 640])
def test_a_header_whose_length_begins_like_a_pickle(length: int) -> None:
    """The first byte is 0x80, as that of a pickle, for one file in thirty-two."""
    parts = {"weights": torch.from_numpy(EVEN)}
    files = (save(parts, {"about": "x" * n}) for n in range(length))
    data = next(data for data in files if int.from_bytes(data[:8], "little") == length)
    assert data[:1] == b"\x80"
    assert torch.equal(weights(data), parts["weights"])


def test_the_largest_head_fits() -> None:
    array = np.zeros((2048, 2048), np.float32)
    array[:, 0] = 1.0
    assert weights(npy(array)).shape == (1, 1, 2048, 2048)


@pytest.mark.parametrize(
    "text",
    [
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 3)}",  # as other languages write it
        "{'shape':(3,3),'fortran_order':False,'descr':'<f4'}\n",
        '{"descr": "<f4", "fortran_order": False, "shape": (3, 3, ), }      \n',
    ],
)
def test_any_plain_header_is_read_as_numpy_reads_it(text: str) -> None:
    array = np.full((3, 3), 1 / 3, np.float32)
    for version in (1, 2):
        start = b"\x93NUMPY" + bytes([version, 0]) + len(text).to_bytes(2 * version, "little")
        data = start + text.encode() + array.tobytes()
        assert np.array_equal(np.load(io.BytesIO(data)), array)
        assert torch.equal(weights(data)[0, 0], torch.from_numpy(array))
