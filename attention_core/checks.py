"""What the public functions refuse: the rule in words, then the shapes or values that broke it."""

import math
import sys
from itertools import zip_longest

import torch
from torch import Tensor

FLOATING = (torch.float64, torch.float32, torch.bfloat16, torch.float16)


def require(holds: bool, message: str) -> None:
    """Raise ValueError(message) unless the rule holds."""
    if not holds:
        raise ValueError(message)


def require_finite(name: str, tensor: Tensor) -> None:
    """Refuse NaN and infinity, with the position of the first one, as in `v[4, 0] is nan`.

    A mask cannot hide such a value from the output: 0 * NaN is NaN.
    """
    finite = tensor.isfinite()
    if not finite.all():
        position = (~finite).nonzero()[0].tolist()
        value = tensor[tuple(position)].item()
        raise ValueError(f"{name} must hold finite numbers only: {name}{position} is {value}")


def require_qkv(q: Tensor, k: Tensor, v: Tensor) -> None:
    """q (..., n_q, d_k), k (..., n_k, d_k), v (..., n_k, d_v): one floating dtype, one device,
    all finite, leading dimensions that broadcast."""
    tensors = {"q": q, "k": k, "v": v}
    for name, value in tensors.items():
        kind = type(value).__name__
        require(isinstance(value, Tensor), f"{name} must be a tensor: it is a {kind}")
    shapes = ", ".join(f"{name} {tuple(t.shape)}" for name, t in tensors.items())
    dtypes = ", ".join(f"{name} {t.dtype}" for name, t in tensors.items())
    devices = ", ".join(f"{name} on {t.device}" for name, t in tensors.items())

    require(min(q.ndim, k.ndim, v.ndim) >= 2, f"q, k, v need two or more dimensions: {shapes}")
    require(q.shape[-1] == k.shape[-1], f"q and k must agree in d_k, their last size: {shapes}")
    require(q.shape[-1] >= 1, f"d_k, the last size of q and k, must be 1 or more: {shapes}")
    require(k.shape[-2] == v.shape[-2], f"k and v must agree in n_k, one value per key: {shapes}")
    leading = broadcast(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    require(leading is not None, f"leading dimensions must broadcast: {shapes}")
    require(q.dtype == k.dtype == v.dtype, f"q, k, v must share one dtype: {dtypes}")
    require(q.dtype in FLOATING, f"q, k, v must be float64, float32, bfloat16 or float16: {dtypes}")
    require(q.device == k.device == v.device, f"q, k, v must share one device: {devices}")
    for name, value in tensors.items():
        require_finite(name, value)


def scale_or_default(scale: float | None, d_k: int) -> float:
    """1/sqrt(d_k) for None; any other finite number, 0 and negative ones too, means itself."""
    if scale is None:
        return 1 / math.sqrt(d_k)
    number = isinstance(scale, (int, float)) and abs(scale) <= sys.float_info.max
    require(number, f"scale must be a finite number: {scale!r:.40}")
    return float(scale)


def allowed_pairs(mask: Tensor | None, q: Tensor, k: Tensor) -> Tensor:
    """The mask as booleans that broadcast to the scores (..., n_q, n_k); all True for None.

    A mask with fewer dimensions than the scores is aligned on the right. Where its first size is
    also the size of a leading dimension, it could as well be one row (or one matrix) for each
    entry of that, so it is refused until its author has written down which of the two is meant.
    """
    n_q, n_k = q.shape[-2], k.shape[-2]
    if mask is None:
        return torch.ones(n_q, n_k, dtype=torch.bool, device=q.device)
    kind = type(mask).__name__
    require(isinstance(mask, Tensor), f"mask must be a tensor, see mask_tensor(): it is a {kind}")
    scores = torch.Size([*(broadcast(q.shape[:-2], k.shape[:-2]) or ()), n_q, n_k])
    shapes = f"mask {tuple(mask.shape)}, scores {tuple(scores)}"

    require(mask.ndim >= 2, f"mask needs two or more dimensions, (..., n_q, n_k): {shapes}")
    missing = len(scores) - mask.ndim
    could_be = scores[:-2] if mask.ndim == 2 else scores[:1]  # the sizes its first may stand for
    may_be_per_batch = missing > 0 and mask.shape[0] > 1 and mask.shape[0] in could_be
    nones = missing - scores.index(mask.shape[0]) if may_be_per_batch else 0
    spelling = f"mask[:, {'None, ' * nones}{', '.join(':' * (mask.ndim - 1))}]"
    padding = f"; if its first dimension is the batch (padding), write `{spelling}`"
    hint = padding if may_be_per_batch else ""
    fits = broadcast(mask.shape, scores) == scores
    require(fits, f"mask must broadcast to (..., n_q, n_k){hint}: {shapes}")
    require(
        not may_be_per_batch,
        f"mask can be read in two ways; if it is {tuple(mask.shape)} for every batch entry, write "
        f"`mask[None]`{hint}: {shapes}",
    )
    devices = f"mask on {mask.device}, q on {q.device}"
    require(mask.device == q.device, f"mask and q must share one device: {devices}")
    return as_boolean(mask)


def as_boolean(mask: Tensor) -> Tensor:
    """A boolean mask as it is; a mask of the numbers 0 and 1 converted; other numbers refused."""
    if mask.dtype == torch.bool:
        return mask
    allowed = mask == 1
    legal = allowed | (mask == 0)
    if not legal.all():
        position = (~legal).nonzero()[0].tolist()
        value = mask[tuple(position)].item()
        raise ValueError(
            "mask must be boolean or hold 0 and 1 only, True or 1 where the query may attend; "
            f"numbers to be added to the scores are a bias, not a mask: mask{position} is {value}"
        )
    return allowed


def broadcast(*shapes: torch.Size) -> torch.Size | None:
    """The shape that all of them broadcast to, None if there is none.

    As `torch.broadcast_shapes`, whose first call imports a compiler and takes 0.3 s.
    """
    common = []
    for sizes in zip_longest(*map(reversed, shapes), fillvalue=1):
        wanted = set(sizes) - {1}
        if len(wanted) > 1:
            return None
        common.append(wanted.pop() if wanted else 1)
    return torch.Size(reversed(common))
