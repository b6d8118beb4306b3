"""The numbers of a small tensor as text, and back, to the last bit.

`unpacked` is put into notebooks as it stands here.
"""

import base64

import torch
from torch import Tensor


def packed(tensor: Tensor) -> str:
    """The bytes of all numbers, row by row, in base64."""
    flat = tensor.detach().cpu().contiguous().flatten()
    return base64.b64encode(flat.view(torch.uint8).numpy().tobytes()).decode()


def unpacked(text: str, dtype: torch.dtype, *shape: int) -> Tensor:
    """The tensor of this shape whose bytes the text holds in base64, row by row."""
    return torch.frombuffer(bytearray(base64.b64decode(text)), dtype=dtype).reshape(shape)
