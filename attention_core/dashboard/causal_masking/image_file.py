"""A learner's own picture, from a file of unknown origin to a small square tensor.

The size is checked before a pixel is decoded, the format by content and not by name, and whatever
goes wrong inside a decoder becomes one sentence. Nothing is written to disk: the small picture
lives in the session that sent it, and the file is dropped.
"""

import io
from threading import Lock

import numpy as np
import streamlit as st
import torch
from PIL import Image, ImageOps
from torch import Tensor

MAX_MEGABYTES = 5
MAX_PIXELS = 25_000_000  # a phone's picture; decoded it takes 100 MB for a moment
_ONE_AT_A_TIME = Lock()  # all learners share the memory of one process
_TOO_LARGE = f"The file is larger than {MAX_MEGABYTES} MB: please choose a smaller one."
_TOO_MANY_PIXELS = (
    f"The picture has more than {MAX_PIXELS // 10**6} million pixels: please choose a smaller one."
)
_CANNOT_READ = "This file cannot be read as a PNG or JPEG picture: please choose another one."


class PictureError(ValueError):
    """The file is no picture that this app shows; the message is for the learner."""


def decode_image(data: bytes, size: int = 48) -> Tensor:
    """The middle square of a PNG or JPEG file as (size, size, 3), red, green, blue in 0..1.

    Turned as its camera says (EXIF), transparency shown on white, the first picture of several.

    Raises PictureError, in words for the learner, for anything else.
    """
    if len(data) > MAX_MEGABYTES * 1024**2:
        raise PictureError(_TOO_LARGE)
    try:
        with _ONE_AT_A_TIME, Image.open(io.BytesIO(data), formats=("PNG", "JPEG")) as image:
            return _square(image, size)  # (size, size, 3)
    except PictureError:
        raise
    except Image.DecompressionBombError as error:  # Pillow's own, much higher limit
        raise PictureError(_TOO_MANY_PIXELS) from error
    except Exception as error:  # broken files make decoders raise nearly everything
        raise PictureError(_CANNOT_READ) from error


def _square(image: Image.Image, size: int) -> Tensor:
    width, height = image.size  # from the header: nothing is decoded yet
    if width * height > MAX_PIXELS:
        raise PictureError(_TOO_MANY_PIXELS)
    image.draft(None, (4 * size, 4 * size))  # a large JPEG is decoded at an eighth of its size
    ImageOps.exif_transpose(image, in_place=True)
    small = ImageOps.fit(_eight_bits(image), (size, size), Image.Resampling.BOX).convert("RGBA")
    shown = Image.alpha_composite(Image.new("RGBA", small.size, "white"), small).convert("RGB")
    return torch.from_numpy(np.array(shown)).float() / 255


def _eight_bits(image: Image.Image) -> Image.Image:
    """The image in a mode that can be averaged: no palette, no single bits, no 16-bit greys."""
    if image.mode.startswith("I"):
        return Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
    return image if image.mode in ("L", "LA", "RGB", "RGBA", "CMYK") else image.convert("RGBA")


def learner_image(key: str) -> Tensor | None:
    """A file chooser, and the picture that the learner chose with it; None until there is one.

    The picture stays in the session when the learner changes the page and returns.
    """
    st.file_uploader(
        "Your picture: PNG or JPEG",
        ["png", "jpg", "jpeg"],
        key=f"{key}_file",
        max_upload_size=MAX_MEGABYTES,
        on_change=_receive,
        args=(key,),
        help="It is made small, shown to you only, and forgotten when you close this tab.",
    )
    held = st.session_state.get(f"{key}_held")
    if isinstance(held, str):
        st.warning(held, icon=":material/broken_image:")
    return held if isinstance(held, Tensor) else None


def _receive(key: str) -> None:
    """Keep the new picture, or the sentence that says why there is none."""
    file = st.session_state.get(f"{key}_file")
    held: Tensor | str | None = None
    if file is not None:
        try:
            held = decode_image(file.getvalue())
        except PictureError as error:
            held = str(error)
    st.session_state[f"{key}_held"] = held
