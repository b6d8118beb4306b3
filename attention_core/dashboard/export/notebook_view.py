"""What a notebook shows: weights as a heatmap, numbers as lines, and the comparison with PyTorch.

These functions are put into notebooks as they stand here, so they need torch, altair and pandas
only.
"""

import math
from collections.abc import Mapping, Sequence

import altair as alt
import pandas as pd
import torch
from torch import Tensor

from attention_core.agreement import Agreement

NUMBERED_CELLS = 100  # as many still show their numbers


def weights_chart(
    weights: Tensor,
    *,
    title: str,
    rows: str = "query i",
    columns: str = "key j",
    row_labels: Sequence[str] | None = None,
    column_labels: Sequence[str] | None = None,
    mask: Tensor | None = None,
) -> alt.LayerChart:
    """The matrix weights (n_rows, n_columns) on the fixed scale 0 to 1, so pictures compare.

    Cells that are False in the mask are grey, and so are those that are not numbers. Labels, all
    different, default to the positions.
    """
    cells = weights.detach().cpu().double()
    hidden = torch.zeros_like(cells) if mask is None else ~mask.cpu()
    names = row_labels or [str(i) for i in range(len(cells))]
    across = column_labels or [str(j) for j in range(cells.shape[1])]
    data = [
        {
            rows: names[i],
            columns: across[j],
            "weight": weight if math.isfinite(weight) else None,
            "number": "✕" if hidden[i, j] else f"{weight:.2f}",
            "grey": bool(hidden[i, j]) or not math.isfinite(weight),
        }
        for i, row in enumerate(cells.tolist())
        for j, weight in enumerate(row)
    ]
    angle = -40 if column_labels else 0
    side = max(3, min(42, 480 // max(cells.shape)))  # pixels of a cell
    base = alt.Chart(alt.InlineData(values=data), title=title).encode(
        x=alt.X(f"{columns}:O", sort=None, axis=alt.Axis(labelAngle=angle, labelOverlap=True)),
        y=alt.Y(f"{rows}:O", sort=None, axis=alt.Axis(labelOverlap=True)),
        tooltip=[f"{rows}:N", f"{columns}:N", "weight:Q", "number:N"],
    )
    colour = alt.Color("weight:Q", scale=alt.Scale(scheme="viridis", domain=[0, 1]))
    grey = alt.condition("datum.grey", alt.value("#c9ccd1"), colour)
    layers = [base.mark_rect(invalid="show").encode(color=grey)]
    if cells.numel() <= NUMBERED_CELLS:
        bright = "datum.grey || datum.weight > 0.6"
        ink = alt.condition(bright, alt.value("black"), alt.value("white"))
        layers.append(base.mark_text(invalid="show").encode(text="number:N", color=ink))
    return alt.LayerChart(layer=layers, width=alt.Step(side), height=alt.Step(side))


def lines_chart(
    series: Mapping[str, Sequence[float]], at: Sequence[float], *, title: str, x: str, y: str
) -> alt.Chart:
    """One line for each series of numbers, over `at` on a logarithmic axis."""
    table = pd.DataFrame(dict(series), index=pd.Index(at, name=x))
    data = table.reset_index().melt(id_vars=x, var_name="line", value_name=y)
    across = alt.X(
        f"{x}:Q", scale=alt.Scale(type="log", nice=False), axis=alt.Axis(values=list(at))
    )
    marks = alt.Chart(data, title=title, width=420, height=260).mark_line(point=True)
    chart: alt.Chart = marks.encode(x=across, y=f"{y}:Q", color="line:N", strokeDash="line:N")
    return chart


def report(agreement: Agreement, overflow: str | None = None) -> None:
    """Print how far a result is from PyTorch's, and whether rounding explains it."""
    if overflow:
        print(f"OVERFLOW: {overflow} holds values too large for this dtype.")
    print(f"largest |row sum - 1|     {agreement.row_sum_deviation:.2e}")
    print(f"max abs diff to PyTorch   {agreement.torch_difference:.2e}")
    print(f"rounding explains up to   {agreement.tolerance:.1e}")
    verdict = "✓ agrees" if agreement.agrees else "✗ does NOT agree"
    print(f"{verdict} with F.scaled_dot_product_attention")
