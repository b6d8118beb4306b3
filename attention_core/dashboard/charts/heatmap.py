"""A matrix as a picture: marks with numbers while they fit, one image from then on."""

from collections.abc import Sequence
from functools import cache, lru_cache

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from torch import Tensor

from attention_core.dashboard.charts import cell_image, colours
from attention_core.dashboard.charts.cell_style import CellStyle, frame, legend
from attention_core.dashboard.charts.chart import DATA, Chart, Spec, specification, to_array
from attention_core.dashboard.charts.colours import Array, Codes, Scale

NUMBERED_CELLS = 80  # as many still show their numbers
MARKED_CELLS = 100  # as many are marks, which answer to pointer and click; more take too long
HEIGHT = 360


def heatmap(
    values: Tensor,
    *,
    title: str,
    alt_text: str,
    scale: Scale = "weights",
    rows: str = "query i",
    columns: str = "key j",
    row_labels: Sequence[str] | None = None,
    column_labels: Sequence[str] | None = None,
    mask: Tensor | None = None,
    limit: float | None = None,
    chosen: tuple[int, int] | None = None,
    clickable: bool = False,
    height: int = HEIGHT,
    colour_bar: bool = True,
) -> Chart:
    """The matrix `values` (n_rows, n_columns) as a heatmap.

    scale      "weights": fixed domain [0, 1]; "signed": centred on 0, up to `limit`, or up to a
               round number that holds all values
    mask       cells that are False here are drawn as masked, whatever their value
    chosen     (row, column) of the cell to frame
    clickable  a click selects a cell, while the cells are marks: selection "cell", fields i and j
    Labels, all different, default to the positions. The alt text says what is to be seen.
    """
    cells = to_array(values)
    high = 1.0 if scale == "weights" else limit or colours.signed_limit(cells)
    low = 0.0 if scale == "weights" else -high
    coded = colours.codes(cells, None if mask is None else mask.cpu().numpy(), low, high)
    row_names = _labels(row_labels, cells.shape[0])
    column_names = _labels(column_labels, cells.shape[1])
    table = pd.DataFrame(cells, pd.Index(row_names, name=f"{rows} \\ {columns}"), column_names)
    style = CellStyle(title, rows, columns, scale, low, high, height, colour_bar)
    if cells.size > MARKED_CELLS:
        data = cell_image.data(coded, style, chosen)
        given = (tuple(labels) if labels else None for labels in (row_labels, column_labels))
        return Chart(cell_image.spec(style, chosen is not None, *given), data, alt_text, table)
    numbered = cells.size <= NUMBERED_CELLS and cells.shape[1] <= 10
    data = _data(cells, coded, scale, row_names, column_names)
    if chosen is not None:
        data["chosen"] = (data.i == chosen[0]) & (data.j == chosen[1])
    return Chart(_spec(style, numbered, clickable, chosen is not None), data, alt_text, table)


def _labels(given: Sequence[str] | None, n: int) -> list[str]:
    labels = [str(position) for position in range(n)] if given is None else list(given)
    if len(set(labels)) != n:
        raise ValueError(f"{n} cells need as many different labels: {labels}")
    return labels


def _data(
    cells: Array, coded: Codes, scale: Scale, row_names: list[str], column_names: list[str]
) -> pd.DataFrame:
    i, j = (index.ravel() for index in np.indices(cells.shape))
    fills, inks = _fills_and_inks(scale)
    code, value = coded.ravel(), cells.ravel()
    glyphs = [colours.GLYPHS.get(int(c), "") for c in code]
    finite = value[np.isfinite(value)]
    whole = (finite == finite.round()).all()
    written, brief = (_whole, _whole) if whole else (_short, _brief)
    return pd.DataFrame(
        {
            "i": i,
            "j": j,
            "row": np.repeat(row_names, len(column_names)),
            "column": np.tile(column_names, len(row_names)),
            "value": np.where(np.isfinite(value), value, np.nan),
            "number": [glyph or written(x) for glyph, x in zip(glyphs, value, strict=True)],
            "brief": [glyph or brief(x) for glyph, x in zip(glyphs, value, strict=True)],
            "glyph": glyphs,
            "fill": fills[code],
            "ink": inks[code],
        }
    )


def _whole(number: float) -> str:
    return f"{number:.0f}"


def _short(number: float) -> str:
    """The number in about five characters: 0.50, -12.3, 4e-05."""
    if number != 0 and (abs(number) < 0.005 or abs(number) >= 1000):
        return f"{number:.0e}".replace("e-0", "e-").replace("e+0", "e")
    return f"{number:.2f}" if abs(number) < 10 else f"{number:.1f}"


def _brief(number: float) -> str:
    """The number in about four characters, rounded more: .08, -1.1, 4e-5."""
    if number == 0 or 0.005 <= abs(number) < 0.995:
        return f"{number:.2f}".replace("0.", ".", 1)
    return f"{number:.1f}" if 0.995 <= abs(number) < 10 else _short(number)


@cache
def _fills_and_inks(scale: Scale) -> tuple[NDArray[np.str_], NDArray[np.str_]]:
    palette = colours.palette(scale)
    return np.array([f"#{r:02x}{g:02x}{b:02x}" for r, g, b in palette]), colours.ink(palette)


@lru_cache(maxsize=128)
def _spec(style: CellStyle, numbered: bool, clickable: bool, framed: bool) -> Spec:
    axis = alt.Axis(labelAngle=0, labelLimit=90, labelOverlap=True, labelFlush=False)
    x = alt.X("column:O", sort=None, title=style.columns, axis=axis)
    y = alt.Y("row:O", sort=None, title=style.rows, axis=axis)
    tooltip = [
        alt.Tooltip("row:N", title=style.rows),
        alt.Tooltip("column:N", title=style.columns),
        alt.Tooltip("number:N", title="value"),
    ]
    base = alt.Chart(DATA).encode(x=x, y=y)
    marks = base.mark_rect().encode(fill=alt.Fill("fill:N", scale=None), tooltip=tooltip)
    # Five characters fit a wide cell, four a narrow one.
    narrow, room = "width / length(domain('x')) < 33", "width / length(domain('x'))"
    size = alt.expr(f"min(12, {room} / ({narrow} ? 2.4 : 3))")
    number = alt.expr(f"{narrow} ? datum.brief : datum.number")
    text = base.mark_text(fontSize=size, text=number if numbered else alt.expr("datum.glyph"))
    text = text.encode(color=alt.Color("ink:N", scale=None))
    frames = frame({"x": x, "y": y}) if framed else []
    frames = [layer.transform_filter("datum.chosen") for layer in frames]
    bars = [bar.transform_filter("datum.i == 0 && datum.j == 0") for bar in legend(style)]
    if clickable:
        marks = marks.add_params(alt.selection_point("cell", fields=["i", "j"], clear=False))
    return specification(style.dress([marks, text, *frames, *bars]))
