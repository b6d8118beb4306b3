"""A learner's own picture, from a file of unknown origin to a small square tensor.

What would take too long or too much memory is refused before a pixel is decoded, the format is
told by content and not by name, and whatever goes wrong inside a decoder becomes one sentence.
"""

import io
from math import ceil, floor

import numpy as np
import torch
from PIL import ExifTags, Image, ImageOps
from torch import Tensor

from attention_core.dashboard.causal_masking.picture_parts import PictureError, picture_parts
from attention_core.dashboard.one_at_a_time import Busy, OneAtATime

MAX_MEGABYTES = 5
MAX_SIDE = 20_000  # each row of pixels takes memory of its own, however short it is
MAX_PIXELS = 25_000_000  # a phone's picture
MAX_BYTES = 100_000_000  # that it takes for a moment: four bytes a pixel
_TURNS = OneAtATime("pictures")  # all learners share the memory of one process
_TOO_LARGE = f"The file is larger than {MAX_MEGABYTES} MB: please choose a smaller one."
_TOO_LONG = f"The picture has a side of more than {MAX_SIDE:,} pixels: please choose a smaller one."
_TOO_MANY_PIXELS = (
    f"The picture has more than {MAX_PIXELS // 10**6} million pixels: please choose a smaller one."
)
_HELD_WHOLE = (
    "This JPEG is progressive, and too large for that: please save it without this option, or "
    "choose a smaller one."
)
_CANNOT_READ = "This file cannot be read as a PNG or JPEG picture: please choose another one."


def decode_image(data: bytes, size: int = 48) -> Tensor:
    """The middle square of a PNG or JPEG file as (size, size, 3), red, green, blue in 0..1.

    Turned as its camera says (EXIF), transparency shown on white, the first picture of several.

    Raises PictureError, in words for the learner, for anything else, and Busy if others take long.
    """
    if len(data) > MAX_MEGABYTES * 1024**2:
        raise PictureError(_TOO_LARGE)
    try:
        parts = picture_parts(data)
        with _TURNS.turn(), Image.open(io.BytesIO(parts.data), formats=("PNG", "JPEG")) as image:
            return _decode(image, parts.held, size)  # (size, size, 3)
    except (PictureError, Busy):
        raise
    except Image.DecompressionBombError as error:  # Pillow's own, much higher limit
        raise PictureError(_TOO_MANY_PIXELS) from error
    except Exception as error:  # broken files make decoders raise nearly everything
        raise PictureError(_CANNOT_READ) from error


def _decode(image: Image.Image, held: float, size: int) -> Tensor:
    width, height = image.size  # from the header: nothing is decoded yet
    if max(width, height) > MAX_SIDE:
        raise PictureError(_TOO_LONG)
    if width * height > MAX_PIXELS:
        raise PictureError(_TOO_MANY_PIXELS)
    if width * height * held > MAX_BYTES:
        raise PictureError(_HELD_WHOLE)
    image.draft(None, (4 * size, 4 * size))  # a large JPEG is decoded at an eighth of its size
    small = _middle_square(image, size)
    small.getexif()[ExifTags.Base.Orientation] = image.getexif().get(ExifTags.Base.Orientation, 1)
    ImageOps.exif_transpose(small, in_place=True)
    shown = Image.alpha_composite(Image.new("RGBA", small.size, "white"), small).convert("RGB")
    return torch.from_numpy(np.array(shown)).float() / 255


def _middle_square(image: Image.Image, size: int) -> Image.Image:
    """Each pixel is the mean of those it stands for. Row by row, as in a mode that can be averaged
    the whole would take up to eight times its memory."""
    side = min(image.size)
    left, top = (image.width - side) / 2, (image.height - side) / 2
    square = Image.new("RGBA", (size, size))
    for row in range(size):
        upper, lower = top + row * side / size, top + (row + 1) * side / size
        x, y = floor(left), floor(upper)
        strip = _four_bands(image.crop((x, y, ceil(left + side), ceil(lower))))
        box = (left - x, upper - y, left - x + side, lower - y)
        square.paste(strip.resize((size, 1), Image.Resampling.BOX, box), (0, row))
    return square


def _four_bands(image: Image.Image) -> Image.Image:
    """Red, green, blue and opacity, in a mode that can be averaged: eight bits for each."""
    if image.mode.startswith("I"):
        image = Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
    return image.convert("RGBA")
