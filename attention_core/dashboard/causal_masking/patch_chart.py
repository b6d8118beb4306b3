"""A picture cut into patches: the pixels, the grid, the chosen patch, and where it looks."""

import base64
import io
from functools import lru_cache

import altair as alt
import numpy as np
import pandas as pd
from PIL import Image
from torch import Tensor

from attention_core.dashboard.charts.cell_style import frame
from attention_core.dashboard.charts.chart import DATA, Chart, Spec, specification, to_array

_TIMES = 8  # each pixel of the small picture is drawn as a square of so many
_CELL = alt.selection_point("cell", fields=["i", "j"], clear=False)


def patch_chart(
    image: Tensor, weights: Tensor, chosen: tuple[int, int], *, title: str, height: int
) -> Chart:
    """The image (H, W, 3) under the grid of weights (rows, columns), to be clicked.

    The chosen patch is framed; outlined are those with half of the largest weight or more. A click
    selects a patch: selection "cell" with the fields i and j.
    """
    grid = to_array(weights)
    n_rows, n_columns = grid.shape
    attended = np.argwhere(grid >= grid.max() / 2)
    patches = {"cell": np.argwhere(grid >= 0), "attended": attended, "chosen": np.array([chosen])}
    boxes = [
        (kind, i, j, i - 0.5, i + 0.5, j - 0.5, j + 0.5, "")
        for kind, positions in patches.items()
        for i, j in positions.tolist()
    ]
    boxes.append(("pixels", 0, 0, -0.5, n_rows - 0.5, -0.5, n_columns - 0.5, _png(image)))
    data = pd.DataFrame(boxes, columns=["kind", "i", "j", "top", "bottom", "left", "right", "url"])
    alt_text = (
        f"The picture, cut into {n_rows} rows and {n_columns} columns of patches. The patch in "
        f"row {chosen[0]}, column {chosen[1]} is framed; {len(attended)} "
        f"{'patch gets' if len(attended) == 1 else 'patches get'} at least half of its largest "
        "weight."
    )
    table = pd.DataFrame(attended, columns=["outlined: row", "column"])
    return Chart(_spec(title, height), data, alt_text, table)


def _png(image: Tensor) -> str:
    pixels = np.rint(to_array(image) * 255).astype(np.uint8)
    buffer = io.BytesIO()
    enlarged = pixels.repeat(_TIMES, axis=0).repeat(_TIMES, axis=1)
    Image.fromarray(enlarged).save(buffer, "PNG", compress_level=1)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


@lru_cache(maxsize=4)
def _spec(title: str, height: int) -> Spec:
    axis = alt.Axis(format="d", tickMinStep=1, grid=False)
    across = alt.Scale(nice=False, zero=False, padding=0)
    down = alt.Scale(nice=False, zero=False, padding=0, reverse=True)
    box = {
        "x": alt.X("left:Q", title="patch column", scale=across, axis=axis),
        "x2": "right:Q",
        "y": alt.Y("top:Q", title="patch row", scale=down, axis=axis),
        "y2": "bottom:Q",
    }
    tooltip = [alt.Tooltip("i:Q", title="row"), alt.Tooltip("j:Q", title="column")]
    pixels = alt.Chart(DATA).mark_image(aspect=False).encode(url="url:N", **box)
    cells = alt.Chart(DATA).mark_rect(fillOpacity=0, stroke="#808080", strokeOpacity=0.8)
    outlines = [  # a dark line with a yellow one inside it: seen on every colour
        alt.Chart(DATA).mark_rect(filled=False, stroke=stroke, strokeWidth=width).encode(**box)
        for stroke, width in (("#000000", 6), ("#ffe600", 3))
    ]
    layers = {
        "pixels": [pixels],
        "attended": outlines,
        "chosen": frame(box),
        "cell": [cells.encode(**box, tooltip=tooltip).add_params(_CELL)],  # on top: to be clicked
    }
    filtered = [
        layer.transform_filter(f"datum.kind == '{kind}'")
        for kind, of_one_kind in layers.items()
        for layer in of_one_kind
    ]
    return specification(alt.LayerChart(layer=filtered, data=DATA, title=title, height=height))
