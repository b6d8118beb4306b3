"""Tensor files made by hand, whole or not, for the tests that read them."""

import io
import json
import struct
import zipfile
from typing import Any

import numpy as np
import torch
from safetensors.torch import save

B, H, N_Q, N_K, D_K, D_V = 2, 3, 5, 7, 11, 13


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


Q, K, V = numbers(B, H, N_Q, D_K), numbers(B, H, N_K, D_K), numbers(B, H, N_K, D_V)
MASK = np.tri(N_Q, N_K, dtype=bool)
EVEN = np.full((B, H, N_Q, N_K), 1 / N_K, np.float32)


def npy(array: np.ndarray | np.generic, **options: bool) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


def npz(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def header(descr: object, shape: object, fortran: object = False, data: bytes = b"") -> bytes:
    text = f"{{'descr': {descr!r}, 'fortran_order': {fortran!r}, 'shape': {shape!r}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def safetensors(entries: object, data: bytes = b"") -> bytes:
    text = entries if isinstance(entries, bytes) else json.dumps(entries).encode()
    return struct.pack("<Q", len(text)) + text + data


def tensors(**arrays: np.ndarray) -> bytes:
    return save({name: torch.from_numpy(array) for name, array in arrays.items()})
