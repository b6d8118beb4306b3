"""Random q, k and v that are the same on every device, for the same seed."""

import torch
from torch import Tensor

from attention_core.checks import require


def sample_qkv(
    batch: int,
    n_q: int,
    d_k: int,
    *,
    n_k: int | None = None,
    d_v: int | None = None,
    seed: int = 0,
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
) -> tuple[Tensor, Tensor, Tensor]:
    """q (batch, n_q, d_k), k (batch, n_k, d_k), v (batch, n_k, d_v), standard normal.

    n_k is n_q, and d_v is d_k, unless given. Drawn in the order q, k, v as float32 on the CPU by a
    generator of their own, then moved: the global generator is neither used nor changed. The
    numbers are those of `torch.manual_seed(seed)` and three times `torch.randn`.

    Raises ValueError for a size below 1, a dtype of whole numbers, or a seed that is negative or
    takes more than 64 bits.
    """
    n_k = n_q if n_k is None else n_k
    d_v = d_k if d_v is None else d_v
    sizes = f"batch={batch}, n_q={n_q}, n_k={n_k}, d_k={d_k}, d_v={d_v}"
    require(min(batch, n_q, n_k, d_k, d_v) >= 1, f"sizes must be 1 or more: {sizes}")
    require(dtype.is_floating_point, f"dtype must be a floating point type: {dtype}")
    require(0 <= seed < 2**64, f"seed must be from 0 to 2**64 - 1: {seed}")

    generator = torch.Generator().manual_seed(seed)
    q = torch.randn(batch, n_q, d_k, generator=generator)
    k = torch.randn(batch, n_k, d_k, generator=generator)
    v = torch.randn(batch, n_k, d_v, generator=generator)
    return q.to(device, dtype), k.to(device, dtype), v.to(device, dtype)
