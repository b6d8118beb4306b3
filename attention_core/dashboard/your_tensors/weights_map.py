"""The weights of one head: cells with numbers while they fit, then one image, then its blocks.

Both axes count positions of the whole head, whatever part of it is in view.
"""

from collections.abc import Callable
from copy import deepcopy

import pandas as pd
import torch
from torch import Tensor

from attention_core.dashboard.charts import cell_image, colours
from attention_core.dashboard.charts.cell_style import CellStyle
from attention_core.dashboard.charts.chart import DATA, Chart, Spec, to_array
from attention_core.dashboard.charts.heatmap import MARKED_CELLS, heatmap
from attention_core.heads.blockwise import pool_largest

MOST_DOTS = 512  # on each side of an image: 0.3 MB at most
NAMED = 40  # positions in view that can still be told apart by name
EVERY_ROW_NAMED = 24  # as many rows have room for each name
HEIGHT = 460
_SEPARATOR = ","  # no name holds one
Name = Callable[[int], str]


def dots_across(n: int) -> int:
    """How many neighbouring positions share one dot of the image; 1 if each has its own."""
    return -(-n // MOST_DOTS)


def weights_map(
    weights: Tensor,
    *,
    first: tuple[int, int],
    chosen: tuple[int, int],
    names: tuple[Name, Name],
    mask: Tensor | None,
    title: str,
    alt_text: str,
) -> Chart:
    """weights (rows, columns), the part of a head in view, from query and key `first` on.

    chosen  the (query, key) to frame, counted in the whole head; none where it is out of view
    names   of the queries and of the keys, by position
    mask    which of the cells in view are allowed, None for all
    """
    (top, left), (n_rows, n_columns) = first, weights.shape
    i, j = chosen[0] - top, chosen[1] - left
    framed = 0 <= i < n_rows and 0 <= j < n_columns
    if weights.numel() <= MARKED_CELLS:
        return heatmap(
            weights,
            title=title,
            alt_text=alt_text,
            row_labels=[names[0](top + row) for row in range(n_rows)],
            column_labels=[names[1](left + column) for column in range(n_columns)],
            mask=mask,
            chosen=(i, j) if framed else None,
            clickable=True,
            height=HEIGHT,
        )
    blocks = dots_across(n_rows), dots_across(n_columns)
    cells = to_array(pool_largest(weights, *blocks))
    shown = None if mask is None else pool_largest(mask, *blocks).bool().cpu().numpy()
    coded = colours.codes(cells, shown, 0.0, 1.0)
    style = CellStyle(title, "query i", "key j", "weights", 0.0, 1.0, HEIGHT, True)
    data = cell_image.data(coded, style, (i, j) if framed else None).assign(
        **{"top": top - 0.5, "bottom": top + n_rows - 0.5},
        **{"left": left - 0.5, "right": left + n_columns - 0.5},
        **{"i0": chosen[0] - 0.5, "i1": chosen[0] + 0.5},
        **{"j0": chosen[1] - 0.5, "j1": chosen[1] + 0.5},
        **_names("row", names[0], top, n_rows),
        **_names("column", names[1], left, n_columns),
    )
    rows = [_range(top, row, blocks[0], n_rows) for row in range(cells.shape[0])]
    columns = [_range(left, column, blocks[1], n_columns) for column in range(cells.shape[1])]
    table = pd.DataFrame(cells, pd.Index(rows, name="query i \\ key j"), columns)
    spec = _spec(style, framed, n_rows <= NAMED, n_columns <= NAMED)
    if n_rows <= EVERY_ROW_NAMED:
        spec["layer"][0]["encoding"]["y"]["axis"] |= {"labelOverlap": False, "tickCount": NAMED}
    return Chart(spec, data, alt_text, table)


def _names(side: str, name: Name, first: int, n: int) -> dict[str, str | int]:
    """The names in view travel with the data: specifications are kept, and shared by learners."""
    shown = [name(first + position) for position in range(n)] if n <= NAMED else []
    return {f"{side}_names": _SEPARATOR.join(shown), f"{side}_first": first}


def _spec(style: CellStyle, framed: bool, rows: bool, columns: bool) -> Spec:
    spec = deepcopy(cell_image.spec(style, framed, None, None))
    encoding = spec["layer"][0]["encoding"]
    for axis, side, named in (("y", "row", rows), ("x", "column", columns)):
        if named:
            row = f"data('{DATA.name}')[0]"
            position = f"datum.value - {row}.{side}_first"
            label = f"split({row}.{side}_names, '{_SEPARATOR}')[{position}]"
            encoding[axis]["axis"]["labelExpr"] = label
    return spec


def _range(first: int, block: int, size: int, n: int) -> str:
    """The positions in a block of cells: 12, or 12–15."""
    start, end = first + block * size, first + min((block + 1) * size, n) - 1
    return str(start) if start == end else f"{start}–{end}"


def largest_at(weights: Tensor) -> tuple[int, int]:
    """Row and column of the largest weight, the first of several."""
    row, column = torch.unravel_index(weights.argmax(), weights.shape)
    return int(row), int(column)
