"""Convolution as attention with fixed weights: they depend on where a key is, not on what it holds.

output = weights @ v as in attention, but weights[i, j] = kernel[j - i + w // 2]: a banded matrix,
constant along its diagonals (a Toeplitz matrix), that no query can change.
"""

import torch
from torch import Tensor

from attention_core.checks import require, require_finite
from attention_core.masks import local, mask_tensor


def toeplitz(kernel: Tensor, n: int) -> Tensor:
    """The (n, n) matrix with kernel (w,) centred on the diagonal of every row, and 0 elsewhere.

    toeplitz(kernel, n) @ x is `F.conv1d` with "same" zero padding; like it, and unlike the
    convolution of mathematics, it does not flip the kernel.

    Raises ValueError unless the kernel has one dimension and an odd length, and n is 1 or more.
    """
    require(
        kernel.ndim == 1 and len(kernel) % 2 == 1,
        f"kernel must be (w,) with w odd, to have a centre: {tuple(kernel.shape)}",
    )
    require(n >= 1, f"n must be 1 or more: {n}")
    w = len(kernel)
    idx = torch.arange(n, device=kernel.device)
    tap = idx - idx.unsqueeze(1) + w // 2  # (n, n), j - i + w // 2
    near = mask_tensor(local(w), n, n, device=kernel.device)
    return kernel[tap.clamp(0, w - 1)].where(near, 0)


def convolve(x: Tensor, kernel: Tensor) -> Tensor:
    """toeplitz(kernel, n) @ x: the kernel slides along the n positions of x (n, d) -> (n, d).

    Raises ValueError unless x is a matrix of the kernel's dtype and both are finite, and as
    `toeplitz` does.
    """
    require(x.ndim == 2, f"x must be a matrix (n, d): {tuple(x.shape)}")
    dtypes = f"x {x.dtype}, kernel {kernel.dtype}"
    require(x.dtype == kernel.dtype, f"x and kernel must share one dtype: {dtypes}")
    require_finite("x", x)  # 0 * NaN is NaN: the zeros outside the band would spread it
    require_finite("kernel", kernel)
    return toeplitz(kernel, len(x)) @ x
