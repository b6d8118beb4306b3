"""How a notebook reads a large head from the learner's own file: with NumPy and PyTorch alone.

The .safetensors format is simple enough to be read without its library: the size of a header in
eight bytes, the header in JSON, then the bare numbers.

These functions are put into notebooks as they stand here.
"""

import json
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

IN_SAFETENSORS = {
    **{"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16},
    **{"I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8},
    **{"U8": torch.uint8, "BOOL": torch.uint8},
}


def head_in_file(path: str, b: int, h: int) -> dict[str, Tensor]:
    """Head h of batch element b in a .npz, .npy or .safetensors file.

    q (n_q, d_k), k (n_k, d_k), v (n_k, d_v), and mask (n_q, n_k), True = may attend, if there is
    one; or weights (n_q, n_k).
    """
    if not Path(path).is_file():
        raise FileNotFoundError(
            f"{path} is not here. Put your file beside this notebook, or write where it is above."
        )
    found = {name.lower(): tensor for name, tensor in tensors_in(path).items()}
    if "q" not in found:
        (weights,) = (found[name] for name in ("weights", "attention") if name in found)
        return {"weights": weights[(None,) * (4 - weights.ndim)][b, h]}
    four = {name: found[name][(None,) * (4 - found[name].ndim)] for name in "qkv"}
    # Leading sizes are those of q, k and v, or 1, which goes with any.
    batch, heads = (max(tensor.shape[axis] for tensor in four.values()) for axis in (0, 1))
    head = {name: t.expand(batch, heads, *t.shape[-2:])[b, h] for name, t in four.items()}
    if "mask" in found:
        pairs = len(head["q"]), len(head["k"])
        head["mask"] = found["mask"].expand(batch, heads, *pairs)[b, h] != 0
    return head


def tensors_in(path: str) -> dict[str, Tensor]:
    """All tensors of a file by their names; that of a .npy file is called weights."""
    data = Path(path).read_bytes()
    if data[:1] in (b"P", b"\x93"):  # .npz is a zip archive, "PK"; .npy begins with "\x93NUMPY"
        loaded = np.load(path, allow_pickle=False)
        arrays = {"weights": loaded} if isinstance(loaded, np.ndarray) else dict(loaded)
        return {
            name: torch.from_numpy(np.array(array, array.dtype.newbyteorder("="), order="C"))
            for name, array in arrays.items()
        }
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        first, end = (start + offset for offset in entry["data_offsets"])
        numbers = torch.frombuffer(bytearray(data[first:end]), dtype=IN_SAFETENSORS[entry["dtype"]])
        tensors[name] = numbers.reshape(entry["shape"])
    return tensors
