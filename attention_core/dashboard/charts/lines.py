"""How a number depends on another: one or more lines with points, told apart without colour too."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

import altair as alt
import pandas as pd

from attention_core.dashboard.charts.chart import DATA, Chart, Spec, specification

HEIGHT = 340
Mark = TypeVar("Mark")
_DASHES = ((1, 0), (6, 3), (2, 2), (8, 3, 2, 3))
# Each has a contrast of 3 or more on white and on the dark page (WCAG).
_COLOURS = ("#2f7de1", "#d9730d", "#12936f", "#b455c8")
_SHAPES = ("circle", "square", "triangle-up", "diamond")


def lines(
    series: Mapping[str, Sequence[float]],
    at: Sequence[float],
    *,
    title: str,
    alt_text: str,
    x: str,
    y: str,
    domain: tuple[float, float] | None = None,
    logarithmic: str = "",
    level: float | None = None,
    chosen: float | None = None,
    points: bool = True,
    height: int = HEIGHT,
) -> Chart:
    """The values of each series over `at`, as lines in one picture.

    domain       of the y axis; that of the values if None
    logarithmic  which axes are: "", "x", "y" or "xy"; on a logarithmic x axis, `at` are its ticks
    level        a value of y to mark by a horizontal line
    chosen       a value of x to mark by a vertical line
    points       whether to mark the values themselves
    """
    names = tuple(series)
    values = [float(value) for name in names for value in series[name]]
    data = pd.DataFrame(
        {
            "series": [name for name in names for _ in at],
            "dash": [name for name in names for _ in at],  # a legend of its own, so it can go
            "at": [float(a) for _ in names for a in at],
            "value": values,
            "chosen": [chosen] * len(values),
        }
    )
    ticks = tuple(at) if "x" in logarithmic else None
    marked = chosen is not None
    spec = _spec(title, x, y, names, domain, logarithmic, ticks, level, marked, points, height)
    table = pd.DataFrame(dict(series), index=pd.Index(list(at), name=x))
    return Chart(spec, data, alt_text, table)


@lru_cache(maxsize=64)
def _spec(
    title: str,
    x: str,
    y: str,
    names: tuple[str, ...],
    domain: tuple[float, float] | None,
    logarithmic: str,
    ticks: tuple[float, ...] | None,
    level: float | None,
    marked: bool,
    points: bool,
    height: int,
) -> Spec:
    across = alt.X(
        "at:Q",
        title=x,
        scale=alt.Scale(type="log" if "x" in logarithmic else "linear", nice=False),
        axis=alt.Axis(values=ticks, format="d", grid=False) if ticks else alt.Axis(grid=False),
    )
    up = alt.Y(
        "value:Q",
        title=y,
        scale=alt.Scale(
            type="log" if "y" in logarithmic else "linear",
            nice=False,
            domain=domain or alt.Undefined,
        ),
        axis=alt.Axis(labelFlush=False),  # each label beside its grid line, the outer ones too
    )
    if domain and "y" in logarithmic:
        powers = [10.0**power for power in range(-12, 13)]
        within = [power for power in powers if domain[0] <= power <= domain[1]]
        up = up.axis(values=within, labelFlush=False)
    count = len(names)
    legend = alt.Legend(title=None, orient="top", columns=2, labelLimit=220, symbolSize=90)
    base = alt.Chart(DATA).encode(
        x=across,
        y=up,
        color=alt.Color(
            "series:N", sort=names, legend=legend, scale=alt.Scale(range=_repeat(_COLOURS, count))
        ),
        tooltip=[
            alt.Tooltip("series:N", title="line"),
            alt.Tooltip("at:Q", title=x),
            alt.Tooltip("value:Q", title=y, format=".4g"),
        ],
    )
    dash = alt.StrokeDash(
        "dash:N" if points else "series:N",
        sort=names,
        legend=None if points else legend,  # where there are points, they tell the lines apart
        scale=alt.Scale(range=_repeat(_DASHES, count)),
    )
    layers: list[alt.Chart] = [base.mark_line(strokeWidth=2).encode(strokeDash=dash)]
    if points:
        shapes = alt.Scale(range=_repeat(_SHAPES, count))
        shape = alt.Shape("series:N", sort=names, legend=legend, scale=shapes)
        layers.append(base.mark_point(filled=True, size=55, opacity=1).encode(shape=shape))
    rule = alt.Chart(DATA).mark_rule(color="#888888", strokeDash=[3, 3], strokeWidth=1.5)
    if level is not None:
        layers.append(rule.encode(y=alt.datum(level)))
    if marked:
        layers.append(rule.encode(x=alt.X("mean(chosen):Q", title=x)))
    return specification(alt.LayerChart(layer=layers, data=DATA, title=title, height=height))


def _repeat(marks: Sequence[Mark], count: int) -> list[Mark]:
    return [marks[position % len(marks)] for position in range(count)]
