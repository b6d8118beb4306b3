"""Make the three sample files of the page "Your tensors".

python -m scripts.sample_heads
"""

import io
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from safetensors.torch import save
from torch import Tensor

from attention_core import attention, causal, mask_tensor
from attention_core.dashboard.your_tensors.samples import FOLDER

D = 8
FREQUENCIES = torch.tensor([0.3, 0.9, 1.7, 2.6])  # so different that only equal positions agree


def looks_back() -> bytes:
    """q, k, v, mask of four heads in float32; head 2 puts its weight on the token before."""
    random = torch.Generator().manual_seed(4)
    n = 11
    here, before = places(torch.arange(n)), places(torch.arange(n) - 1)
    anything = torch.randn(2, n, D, generator=random)
    q = torch.stack([here, anything[0], 2 * before, 0.1 * anything[0]])
    k = torch.stack([here, anything[1], 2 * here, 0.1 * anything[1]])
    v = torch.randn(4, n, D, generator=random)
    mask = mask_tensor(causal, n, n)[None, None]
    return save({"q": q[None], "k": k[None], "v": v[None], "mask": mask})


def sink() -> bytes:
    """Finished causal weights of two layers with three heads in float16: key 0 takes most."""
    random = torch.Generator().manual_seed(5)
    n = 13
    q, k = torch.randn(2, 2, 3, n, D, generator=random)
    strength = torch.tensor([[0.0, 1.0, 2.0], [3.5, 4.0, 4.5]])  # of the sink: the second layer's
    q[..., 0], k[..., 0] = strength[..., None], 0.0
    k[..., 0, 0] = strength
    _, weights = attention(q, k, k, mask_tensor(causal, n, n)[None, None])
    return packed({"attention": weights.half()})


def cross() -> bytes:
    """q, k, v of two heads that read another sequence: 7 queries, 11 keys, in float32."""
    random = torch.Generator().manual_seed(6)
    n_q, n_k = 7, 11
    asked = torch.arange(n_q) * (n_k - 1) / (n_q - 1)  # where in the other sequence a query looks
    q = torch.stack([2 * places(asked), 1.6 * places(asked.flip(0))])
    k = torch.stack([2 * places(torch.arange(n_k)), places(torch.arange(n_k))])
    v = torch.randn(2, n_k, 5, generator=random)
    return packed({"q": q[None], "k": k[None], "v": v[None]})


def places(positions: Tensor) -> Tensor:
    """A vector for each position (n,) -> (n, D); those of near positions are more alike
    (Vaswani et al. 2017, section 3.5)."""
    angles = positions[:, None] * FREQUENCIES
    return torch.cat([angles.cos(), angles.sin()], -1)


def packed(tensors: Mapping[str, Tensor]) -> bytes:
    """The tensors as a .npz file."""
    buffer = io.BytesIO()
    arrays: dict[str, Any] = {name: tensor.numpy() for name, tensor in tensors.items()}
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


FILES = {"looks_back.safetensors": looks_back, "sink.npz": sink, "cross.npz": cross}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, make in FILES.items():
        (FOLDER / name).write_bytes(make())
        print(f"{name}: {(FOLDER / name).stat().st_size / 1000:.1f} kB")


if __name__ == "__main__":
    main()
