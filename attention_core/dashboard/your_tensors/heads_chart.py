"""All heads of a file as one picture: a small one of each, in rows of batch elements.

The pictures are one image, which is drawn fast; invisible marks over it answer to a click. Only the
browser knows how much room there is, so the height is a formula that Vega evaluates there.
"""

import base64
import io
from copy import deepcopy
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image
from torch import Tensor

from attention_core.dashboard.charts import cell_image, colours
from attention_core.dashboard.charts.cell_style import CellStyle
from attention_core.dashboard.charts.chart import Chart, Spec, to_array
from attention_core.dashboard.charts.colours import Codes

PIXELS = 48  # about, on each side of a small picture
WIDEST, TALLEST = 200, 640  # pixels on the screen: one small picture, all rows of them
MOST_STRETCHED = 4  # one query of a thousand keys would be a line
NOTHING = cell_image.HATCH  # a code that is no weight: the gaps between pictures, transparent


def heads_chart(
    charts: Tensor,
    chosen: tuple[int, int],
    *,
    shape: tuple[int, int],
    turn: int,
    title: str,
    alt_text: str,
    table: pd.DataFrame,
) -> Chart:
    """pictures (batch, heads, s_q, s_k) in one image, `chosen` (batch element, head) framed.

    All have the same colours, from 0 to 1, so they can be compared. The weights of a head, `shape`
    (n_q, n_k), are drawn as squares. A click selects "head": its fields `element` and `head`. The
    browser reports a click on the same head again if `turn` has changed since.
    """
    batch, heads, _, _ = charts.shape
    b, h = chosen
    data = {
        "url": _png(colours.codes(to_array(charts), None, 0.0, 1.0)),
        **{"value": 0.0, "turn": turn},
        **{"left": -0.5, "right": heads - 0.5, "top": -0.5, "bottom": batch - 0.5},
        **{"i0": b - 0.5, "i1": b + 0.5, "j0": h - 0.5, "j1": h + 0.5},
    }
    stretched = min(MOST_STRETCHED, max(1 / MOST_STRETCHED, shape[0] / shape[1]))
    return Chart(_spec(title, batch, heads, stretched), pd.DataFrame([data]), alt_text, table)


@lru_cache(maxsize=64)
def _spec(title: str, batch: int, heads: int, stretched: float) -> Spec:
    """The specification; `stretched`: how high a small picture is for its width."""
    style = CellStyle(title, "batch element", "head", "weights", 0.0, 1.0, TALLEST, True)
    spec = deepcopy(cell_image.spec(style, True, None, None))
    x, y = (spec["layer"][0]["encoding"][axis] for axis in "xy")
    x["scale"] |= {"domainMin": -0.5, "domainMax": {"expr": "width / one_head - 0.5"}}
    x["axis"]["values"], y["axis"]["values"] = list(range(heads)), list(range(batch))
    rows = batch * stretched
    spec["layer"].insert(1, _marks(batch, heads))
    spec["params"] = [
        {"name": "one_head", "expr": f"min(width / {heads}, {WIDEST}, {TALLEST / rows})"},
        {"name": "height", "expr": f"one_head * {rows}"},
        {
            "name": "head",
            "select": {"type": "point", "fields": ["element", "head", "turn"], "clear": False},
            "views": ["heads"],
        },
    ]
    spec["autosize"] = {"type": "fit-x", "contains": "padding"}  # "fit" would set the height
    return spec


def _marks(batch: int, heads: int) -> dict[str, Any]:
    """An invisible mark over each small picture, made in the browser out of the one row of data."""
    of_each: list[dict[str, Any]] = []
    for name, n in (("element", batch), ("head", heads)):
        of_each += [{"calculate": f"sequence({n})", "as": name}, {"flatten": [name]}]
    edges = {
        end: f"datum.{name} {half}"
        for name, ends in (("head", ("x", "x2")), ("element", ("y", "y2")))
        for end, half in zip(ends, ("- 0.5", "+ 0.5"), strict=True)
    }
    sides = [{"calculate": formula, "as": end} for end, formula in edges.items()]
    says = "'batch element ' + datum.element + ', head ' + datum.head"
    return {
        "name": "heads",
        "mark": {"type": "rect", "opacity": 0, "cursor": "pointer"},
        "transform": [*of_each, *sides, {"calculate": says, "as": "says"}],
        "encoding": {
            "x": {"field": "x", "type": "quantitative"},
            "y": {"field": "y", "type": "quantitative"},
            "x2": {"field": "x2"},
            "y2": {"field": "y2"},
            "tooltip": {"field": "says", "type": "nominal"},
            "description": {"field": "says", "type": "nominal"},
        },
    }


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
