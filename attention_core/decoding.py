"""Decoding one position at a time, with the keys and values of the past kept in a cache.

The cache holds the past and nothing else, so no mask is needed: the query at position t attends to
all its t + 1 keys, and that is row t of causal attention over the whole sequence.
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from attention_core.attention import AttentionSteps, attention_steps
from attention_core.checks import require


class KVCache:
    """The keys (..., n, d_k) and values (..., n, d_v) of the n = len(cache) positions so far."""

    def __init__(self) -> None:
        self._past: tuple[Tensor, Tensor] | None = None

    def __len__(self) -> int:
        return self._past[0].shape[-2] if self._past else 0

    @property
    def keys(self) -> Tensor:
        return self._contents()[0]

    @property
    def values(self) -> Tensor:
        return self._contents()[1]

    def append(self, k: Tensor, v: Tensor) -> None:
        """Add a copy of one position, k (..., 1, d_k) and v (..., 1, d_v).

        Raises ValueError, and leaves the cache as it was, if k or v is not one position or is not
        like those before in shape, dtype and device.
        """
        shapes = f"k {tuple(k.shape)}, v {tuple(v.shape)}"
        require(min(k.ndim, v.ndim) >= 2, f"k and v need two or more dimensions: {shapes}")
        keys, values = self._past or (k[..., :0, :], v[..., :0, :])
        _require_next("k", k, keys)
        _require_next("v", v, values)
        self._past = torch.cat((keys, k), dim=-2), torch.cat((values, v), dim=-2)

    def _contents(self) -> tuple[Tensor, Tensor]:
        if self._past is None:
            raise ValueError("an empty cache has no keys and no values: append a position first")
        return self._past


def decode(
    q: Tensor, k: Tensor, v: Tensor, *, scale: float | None = None
) -> Iterator[AttentionSteps]:
    """Causal attention as a decoder runs it: step t has the weights and the output of row t.

    q and k (..., n, d_k), v (..., n, d_v); step t has weights (..., 1, t + 1), one for each key in
    the cache, and an output (..., 1, d_v).

    Raises ValueError at the call unless q, k and v have the same n, 1 or more; and at the first
    step that `attention_steps` refuses, as it does: positions of q count from that step.
    """
    shapes = f"q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}"
    require(min(q.ndim, k.ndim, v.ndim) >= 2, f"q, k, v need two or more dimensions: {shapes}")
    same = q.shape[-2] == k.shape[-2] == v.shape[-2] > 0
    require(same, f"q, k, v must agree in n, the number of positions, 1 or more: {shapes}")
    return _decode(q, k, v, scale)


def _decode(q: Tensor, k: Tensor, v: Tensor, scale: float | None) -> Iterator[AttentionSteps]:
    cache = KVCache()
    for q_t, k_t, v_t in zip(*(torch.split(x, 1, dim=-2) for x in (q, k, v)), strict=True):
        cache.append(k_t, v_t)
        yield attention_steps(q_t, cache.keys, cache.values, scale=scale)


def replace_token(
    tensor: Tensor,
    position: int,
    values: Tensor | Sequence[float] | None = None,
    *,
    seed: int | None = None,
) -> Tensor:
    """A copy of tensor (..., n, d) with another row at one position: "change the future".

    The row is values, (d,) or (..., d), or standard normal, drawn from the seed.

    Raises ValueError unless there is such a position, counted from 0, and exactly one of values
    and seed; and if the values do not fit.
    """
    shape = tuple(tensor.shape)
    require(
        tensor.ndim >= 2 and 0 <= position < shape[-2],
        f"position must be one of the n in (..., n, d), from 0: {position} in {shape}",
    )
    row_shape = tensor[..., position, :].shape  # (..., d)
    if values is not None and seed is None:
        row = torch.as_tensor(values)
    elif seed is not None and values is None:
        row = torch.randn(row_shape, generator=torch.Generator().manual_seed(seed))
    else:
        raise ValueError(f"give either values or a seed: values={values}, seed={seed}")
    fits = row.shape in (row_shape, row_shape[-1:])
    require(fits, f"values must be (..., d) or (d,): {tuple(row.shape)} for {tuple(row_shape)}")
    changed = tensor.clone()
    changed[..., position, :] = row
    return changed


def _require_next(name: str, new: Tensor, past: Tensor) -> None:
    wanted = (*past.shape[:-2], 1, past.shape[-1])
    require(
        (new.shape, new.dtype, new.device) == (wanted, past.dtype, past.device),
        f"{name} must be one position like those before, {wanted} {past.dtype} on {past.device}: "
        f"{tuple(new.shape)} {new.dtype} on {new.device}",
    )
