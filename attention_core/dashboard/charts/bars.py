"""A vector as bars, each with its name before it and its number behind it."""

from collections.abc import Sequence
from functools import lru_cache

import altair as alt
import numpy as np
import pandas as pd
from torch import Tensor

from attention_core.dashboard.charts.chart import DATA, Chart, Spec, specification, to_array
from attention_core.dashboard.charts.colours import signed_limit

BAR_HEIGHT, MARGIN = 26, 112  # pixels; title and axis need the margin
TALLEST = 640
NUMBERED_BARS = 40  # as many still show their numbers
# Bars are placed by their row, not by their name: a word such as "constructor" breaks Vega's scale.
# The numbers are the labels of a second axis: unlike text marks, they take the theme's colour.
_LABEL, _NUMBER = (f"data('{DATA.name}')[datum.value].{column}" for column in ("label", "number"))


def bars(
    values: Tensor,
    labels: Sequence[str],
    *,
    title: str,
    alt_text: str,
    y: str = "weight",
    x: str = "key j",
    limit: float = 1.0,
    decimals: int | None = None,
) -> Chart:
    """The vector `values` (n,) as n bars; `x` says what they stand for, `y` what they measure.

    The bars lie on their side, so that names stay horizontal and can be read on a phone. They
    reach to `limit`, or to a round number that holds all values; to both sides of 0 if one is
    negative. The labels must differ; they are shown as plain text. The numbers behind the bars have
    `decimals` decimals, or five digits if that is None.

    Raises ValueError unless there is one label for each value, and no label twice.
    """
    numbers = to_array(values)
    if len(labels) != numbers.size or len(set(labels)) != numbers.size:
        raise ValueError(f"bars need one label each, all different: {numbers.size}, {list(labels)}")
    finite = np.where(np.isfinite(numbers), numbers, np.nan)
    written = [short_number(number, decimals) for number in numbers]
    data = pd.DataFrame({"row": range(numbers.size), "label": list(labels), "value": finite})
    data["number"] = written
    data["says"] = [f"{label}: {number}" for label, number in zip(labels, written, strict=True)]
    most = np.nanmax(np.abs(finite), initial=0.0)
    high = limit if most <= limit * (1 + 1e-6) else signed_limit(finite)
    low = -high if (finite < 0).any() else 0.0
    height = min(TALLEST, MARGIN + BAR_HEIGHT * numbers.size)
    spec = _bars_spec(title, y, x, low, high, height, numbers.size <= NUMBERED_BARS)
    table = pd.DataFrame({y: numbers}, pd.Index(labels, name=x))
    return Chart(spec, data, alt_text, table)


def short_number(number: float, decimals: int | None = None) -> str:
    """Five digits, or so many decimals; never 0 for what is not 0: 0.99985, 3.69e-05."""
    if not np.isfinite(number):
        return "NaN" if np.isnan(number) else "+∞" if number > 0 else "−∞"
    if decimals is not None and abs(number) >= 0.5 * 10**-decimals:
        return f"{number:.{decimals}f}"
    return f"{number:.2e}" if 0 < abs(number) < 1e-3 else f"{number:.5g}"


@lru_cache(maxsize=128)
def _bars_spec(
    title: str, y: str, x: str, low: float, high: float, height: int, numbered: bool
) -> Spec:
    ticks = [float(tick) for tick in np.linspace(low, high, 5)]
    names = alt.Axis(
        labelExpr=_LABEL,
        labelLimit=110,
        labelOverlap=not numbered,
        labelFlush=False,
        ticks=False,
        domain=False,
    )
    base = alt.Chart(DATA).encode(
        x=alt.X(
            "value:Q",
            title=y,
            scale=alt.Scale(domain=[low, high], nice=False),
            axis=alt.Axis(values=ticks, format=".3~g", labelFlush=False),
        ),
        description=alt.Description("says:N"),
        tooltip=[alt.Tooltip("label:N", title=x), alt.Tooltip("number:N", title=y)],
    )
    layers = [base.mark_bar().encode(y=alt.Y("row:O", sort=None, title=x, axis=names))]
    if numbered:
        numbers = names.copy()
        numbers.orient, numbers.labelExpr = "right", _NUMBER
        numbers.minExtent = numbers.maxExtent = 60  # or the bars shrink as the numbers grow longer
        layers.append(
            base.mark_bar(opacity=0).encode(y=alt.Y("row:O", sort=None, title=None, axis=numbers))
        )
    chart = alt.LayerChart(layer=layers, data=DATA, title=title, height=height)
    return specification(chart.resolve_axis(y="independent"))
