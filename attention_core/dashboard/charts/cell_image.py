"""Heatmaps of many cells: the cells are one image inside the chart, drawn in the same time."""

import base64
import io
import json
from functools import lru_cache

import altair as alt
import numpy as np
import pandas as pd
from PIL import Image

from attention_core.dashboard.charts import colours
from attention_core.dashboard.charts.cell_style import CellStyle, frame, legend
from attention_core.dashboard.charts.chart import DATA, Spec, specification
from attention_core.dashboard.charts.colours import Codes, Scale

PIXELS = 320  # about, on both sides: edges between cells stay sharp
HATCH = colours.LEVELS + len(colours.GLYPHS)  # one more code: the lines over special cells
HATCH_COLOUR = b"\x55\x55\x55"


def data(coded: Codes, style: CellStyle, chosen: tuple[int, int] | None) -> pd.DataFrame:
    """One row: the image, its edges in cells, and the edges of the chosen cell."""
    n_rows, n_columns = coded.shape
    i, j = chosen or (0, 0)
    edges = {"i0": i - 0.5, "i1": i + 0.5, "j0": j - 0.5, "j1": j + 0.5}
    sides = {"left": -0.5, "right": n_columns - 0.5, "top": -0.5, "bottom": n_rows - 0.5}
    return pd.DataFrame([{"url": _png(coded, style.scale), "value": style.low, **sides, **edges}])


@lru_cache(maxsize=128)
def spec(
    style: CellStyle,
    framed: bool,
    row_labels: tuple[str, ...] | None,
    column_labels: tuple[str, ...] | None,
) -> Spec:
    """The specification for `data`; framed: draw the frame round the chosen cell."""
    x = alt.X("left:Q", title=style.columns, scale=_exact(), axis=_axis(column_labels))
    y = alt.Y("top:Q", title=style.rows, scale=_exact(reverse=True), axis=_axis(row_labels))
    image = alt.Chart(DATA).mark_image(aspect=False)
    cell = {"x": "j0:Q", "x2": "j1:Q", "y": "i0:Q", "y2": "i1:Q"}
    layers = [
        image.encode(url="url:N", x=x, x2="right:Q", y=y, y2="bottom:Q"),
        *(frame(cell) if framed else ()),
        *legend(style),
    ]
    return specification(style.dress(layers))


def _axis(labels: tuple[str, ...] | None) -> alt.Axis:
    """Whole numbers, or the labels that stand for them (as JSON: text, never an expression)."""
    axis = alt.Axis(format="d", tickMinStep=1, grid=False, labelLimit=90)
    if labels:
        axis.labelExpr = f"{json.dumps(labels)}[datum.value]"
    return axis


def _exact(*, reverse: bool = False) -> alt.Scale:
    return alt.Scale(nice=False, zero=False, padding=0, reverse=reverse)


def _png(coded: Codes, scale: Scale) -> str:
    """A data URL of the cells, enlarged; special cells are hatched, each kind in its own way."""
    height, width = (max(1, PIXELS // n) for n in coded.shape)  # of one cell
    pixels = coded.repeat(height, axis=0).repeat(width, axis=1)
    y, x = np.ogrid[: pixels.shape[0], : pixels.shape[1]]
    falling, rising = (y + x) % 8 < 2, (y - x) % 8 < 2
    lines = {
        colours.MASKED: falling,
        colours.NEGATIVE_INFINITY: falling,
        colours.POSITIVE_INFINITY: rising,
        colours.NOT_A_NUMBER: falling | rising,
    }
    for code, where in lines.items():
        if code in coded:
            pixels[(pixels == code) & where] = HATCH
    image = Image.fromarray(pixels, "P")
    image.putpalette(colours.palette(scale).tobytes() + HATCH_COLOUR)
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=1)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
