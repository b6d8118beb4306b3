"""Attention between the patches of a picture: what looks alike is near, however far apart it is.

Source of the patches: Dosovitskiy et al., "An Image is Worth 16x16 Words" (2021), section 3.1. The
scores are not learned here: they are the cosine similarities of the patches themselves.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from attention_core.attention import AttentionSteps, attention_steps
from attention_core.checks import require, require_finite

RED, GREEN, BLUE = (0.9, 0.2, 0.2), (0.2, 0.6, 0.3), (0.2, 0.3, 0.7)


def sample_image(size: int = 48) -> Tensor:
    """Two red discs in opposite corners, one on blue and one on green, (size, size, 3) in 0..1.

    The discs are half a picture apart, to the right and down: every patch side that divides size/2
    cuts both alike.

    Raises ValueError unless size is 1 or more.
    """
    require(size >= 1, f"size must be 1 or more: {size}")
    x = (torch.arange(size) + 0.5) / size  # pixel centres, the side of the picture is 1
    y = x.unsqueeze(1)
    upper_left, lower_right = (torch.hypot(x - c, y - c) < 3 / 16 for c in (1 / 4, 3 / 4))
    disc = (upper_left | lower_right).unsqueeze(-1)  # (size, size, 1)
    left = (x < 1 / 2).unsqueeze(-1)  # (size, 1)
    ground = torch.where(left, torch.tensor(BLUE), torch.tensor(GREEN))  # (size, 3)
    return torch.where(disc, torch.tensor(RED), ground)  # (size, size, 3)


def to_patches(image: Tensor, patch: int) -> Tensor:
    """Cut image (H, W, C) into patch x patch squares, each a row: (rows * columns, patch**2 * C).

    Squares go row by row over the image, and so do the pixels in a square, the channels last.

    Raises ValueError unless patch divides H and W.
    """
    shape = tuple(image.shape)
    require(image.ndim == 3, f"image must be (H, W, C): {shape}")
    height, width, channels = shape
    divides = patch >= 1 and height % patch == 0 and width % patch == 0
    require(divides, f"patch must divide the height and the width of the image: {patch}, {shape}")
    squares = image.reshape(height // patch, patch, width // patch, patch, channels)
    return squares.transpose(1, 2).reshape(-1, patch * patch * channels)


def patch_attention(patches: Tensor, sharpness: float) -> AttentionSteps:
    """Every patch attends to those that look like it, patches (n, d).

    q = k = patches less their mean, each of length 1, so the dots are cosine similarities; the
    scale is sharpness, and v = patches. A patch equal to the mean is like none, and attends to all
    alike.

    Raises ValueError unless patches is a floating matrix of finite numbers and sharpness finite.
    """
    shape = tuple(patches.shape)
    require(patches.ndim == 2 and patches.numel() > 0, f"patches must be (n, d): {shape}")
    require(patches.is_floating_point(), f"patches must be floating point: {patches.dtype}")
    require_finite("patches", patches)
    info = torch.finfo(patches.dtype)
    # Similarity has no unit: numbers up to 1 keep the squares in the range of every dtype.
    tame = patches / patches.abs().max().clamp_min(info.tiny)
    different = tame - tame.mean(dim=0)
    length = different.norm(dim=-1, keepdim=True)  # (n, 1)
    # What rounding leaves of a patch equal to the mean is no direction.
    rounding = 4 * info.eps * tame.norm(dim=-1).max()
    unit = F.normalize(different.where(length > rounding, 0), dim=-1, eps=info.tiny)  # (n, d)
    return attention_steps(unit, unit, patches, scale=sharpness)
