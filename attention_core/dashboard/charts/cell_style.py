"""What heatmaps of marks and heatmaps of one image have in common."""

from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np

from attention_core.dashboard.charts import colours
from attention_core.dashboard.charts.chart import DATA
from attention_core.dashboard.charts.colours import Scale


@dataclass(frozen=True)
class CellStyle:
    """All that a heatmap's specification depends on, so that one is built for each only once."""

    title: str
    rows: str
    columns: str
    scale: Scale
    low: float
    high: float
    height: int
    colour_bar: bool

    def dress(self, layers: list[alt.Chart]) -> alt.LayerChart:
        """The layers as one chart; each keeps its own colours."""
        own = alt.Resolve(scale=alt.ScaleResolveMap(color="independent"))
        title, height = self.title, self.height
        return alt.LayerChart(layer=layers, data=DATA, title=title, height=height, resolve=own)


def legend(style: CellStyle) -> list[alt.Chart]:
    """An invisible mark that brings the colour bar, if the style has one."""
    if not style.colour_bar:
        return []
    stops = colours.STOPS[style.scale]
    domain = [float(stop) for stop in np.linspace(style.low, style.high, len(stops))]
    bar = alt.Legend(
        title=None,
        orient="bottom",
        gradientThickness=8,
        gradientLength=120,
        values=[style.low, (style.low + style.high) / 2, style.high],
    )
    colour = alt.Color("value:Q", scale=alt.Scale(domain=domain, range=list(stops)), legend=bar)
    return [alt.Chart(DATA).mark_point(opacity=0).encode(color=colour)]


def frame(edges: dict[str, Any]) -> list[alt.Chart]:
    """A dark line with a light one inside it round one cell: seen on every colour."""
    return [
        alt.Chart(DATA)
        .mark_rect(filled=False, stroke=stroke, strokeWidth=width, aria=False)
        .encode(**edges)
        for stroke, width in (("#000000", 5), ("#ffffff", 2))
    ]
