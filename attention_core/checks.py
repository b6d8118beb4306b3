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
        first = _first(~finite, name, tensor)
        raise ValueError(f"{name} must hold finite numbers only: {first}")


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


def allowed_pairs(mask: Tensor | None, q: Tensor, k: Tensor, bias: Tensor | None = None) -> Tensor:
    """Which pairs may attend, as booleans that broadcast to the scores (..., n_q, n_k).

    Those that the mask allows, all for None, and that no -inf of the bias forbids.
    """
    if mask is None:
        allowed = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device)
    else:
        _require_fits("mask", mask, q, k)
        allowed = as_boolean(mask)
    if bias is None:
        return allowed
    _require_fits("bias", bias, q, k)
    _require_bias(bias, q)
    return allowed & ~bias.isneginf()


def _require_fits(name: str, tensor: Tensor, q: Tensor, k: Tensor) -> None:
    """A mask or a bias that broadcasts to the scores (..., n_q, n_k) in one way only.

    One with fewer dimensions than the scores is aligned on the right. Where its first size is
    also the size of a leading dimension, it could as well be one row (or one matrix) for each
    entry of that, so it is refused until its author has written down which of the two is meant.
    """
    kind = type(tensor).__name__
    tells = f"{name} must be a tensor, see {name}_tensor(): it is a {kind}"
    require(isinstance(tensor, Tensor), tells)
    leading = broadcast(q.shape[:-2], k.shape[:-2]) or ()
    scores = torch.Size([*leading, q.shape[-2], k.shape[-2]])
    shapes = f"{name} {tuple(tensor.shape)}, scores {tuple(scores)}"

    require(tensor.ndim >= 2, f"{name} needs two or more dimensions, (..., n_q, n_k): {shapes}")
    missing = len(scores) - tensor.ndim
    could_be = scores[: max(missing, 0)]  # the sizes its first may stand for
    may_be_per_batch = missing > 0 and tensor.shape[0] > 1 and tensor.shape[0] in could_be
    nones = missing - scores.index(tensor.shape[0]) if may_be_per_batch else 0
    spelling = f"{name}[:, {'None, ' * nones}{', '.join(':' * (tensor.ndim - 1))}]"
    padding = f"; if its first dimension is the batch (padding), write `{spelling}`"
    hint = padding if may_be_per_batch else ""
    fits = broadcast(tensor.shape, scores) == scores
    require(fits, f"{name} must broadcast to (..., n_q, n_k){hint}: {shapes}")
    require(
        not may_be_per_batch,
        f"{name} can be read in two ways; if it is {tuple(tensor.shape)} for every batch entry, "
        f"write `{name}[None]`{hint}: {shapes}",
    )
    devices = f"{name} on {tensor.device}, q on {q.device}"
    require(tensor.device == q.device, f"{name} and q must share one device: {devices}")


def _require_bias(bias: Tensor, q: Tensor) -> None:
    """Numbers of q's dtype, finite or -inf: NaN and +inf would take the whole row with them."""
    hint = "; booleans are a mask, not a bias" if bias.dtype == torch.bool else ""
    dtypes = f"bias {bias.dtype}, q {q.dtype}"
    require(bias.dtype == q.dtype, f"bias and q must share one dtype{hint}: {dtypes}")
    legal = bias < math.inf  # and so NaN is not
    if not legal.all():
        first = _first(~legal, "bias", bias)
        raise ValueError(f"bias must hold finite numbers or -inf: {first}")


def as_boolean(mask: Tensor) -> Tensor:
    """A boolean mask as it is; a mask of the numbers 0 and 1 converted; other numbers refused."""
    if mask.dtype == torch.bool:
        return mask
    allowed = mask == 1
    legal = allowed | (mask == 0)
    if not legal.all():
        raise ValueError(
            "mask must be boolean or hold 0 and 1 only, True or 1 where the query may attend; "
            f"numbers added to the scores are a bias, not a mask: {_first(~legal, 'mask', mask)}"
        )
    return allowed


def _first(bad: Tensor, name: str, tensor: Tensor) -> str:
    """The first bad entry with its position, as in `v[4, 0] is nan`."""
    position = bad.nonzero()[0].tolist()
    return f"{name}{position} is {tensor[tuple(position)].item()}"


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
