"""All heads of a file as one picture: a small one of each, in rows of batch elements."""

import base64
import io

import numpy as np
import pandas as pd
from PIL import Image
from torch import Tensor

from attention_core.dashboard import cell_image, colours
from attention_core.dashboard.cell_style import CellStyle
from attention_core.dashboard.colours import Codes
from attention_core.dashboard.picture import Picture, to_array

PIXELS = 48  # about, on each side of a small picture
AROUND, ONE_ROW = 150, 110  # pixels: axis, title and colour bar; one row of pictures
NOTHING = cell_image.HATCH  # a code that is no weight: the gaps between pictures, transparent


def heads_picture(
    pictures: Tensor, chosen: tuple[int, int], *, title: str, alt_text: str, table: pd.DataFrame
) -> Picture:
    """pictures (batch, heads, s_q, s_k) in one image, `chosen` (batch element, head) framed.

    All have the same colours, from 0 to 1, so they can be compared.
    """
    batch, heads, _, _ = pictures.shape
    height = AROUND + ONE_ROW * min(batch, 6)
    style = CellStyle(title, "batch element", "head", "weights", 0.0, 1.0, height, True)
    b, h = chosen
    data = {
        "url": _png(colours.codes(to_array(pictures), None, 0.0, 1.0)),
        "value": 0.0,
        **{"left": -0.5, "right": heads - 0.5, "top": -0.5, "bottom": batch - 0.5},
        **{"i0": b - 0.5, "i1": b + 0.5, "j0": h - 0.5, "j1": h + 0.5},
    }
    return Picture(cell_image.spec(style, True, None, None), pd.DataFrame([data]), alt_text, table)


def _png(coded: Codes) -> str:
    """A data URL of the pictures (batch, heads, s_q, s_k), each with a gap around it."""
    high, wide = (max(1, PIXELS // size) for size in coded.shape[-2:])
    large = coded.repeat(high, axis=-2).repeat(wide, axis=-1)
    gap = [(2, 2)] * 2
    framed = np.pad(large, [(0, 0), (0, 0), *gap], constant_values=NOTHING)
    batch, heads, height, width = framed.shape
    pixels = framed.transpose(0, 2, 1, 3).reshape(batch * height, heads * width)
    image = Image.fromarray(pixels, "P")
    image.putpalette(colours.palette("weights").tobytes() + cell_image.HATCH_COLOUR)
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=1, transparency=NOTHING)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
