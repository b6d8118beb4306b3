"""A picture: a Vega-Lite specification built once, and the data that change with every run.

Building an Altair chart costs about 30 ms, more than all of the mathematics. So a chart function
builds its chart for a structure (titles, scale, size class), keeps the specification, and hands
out pictures that pair it with new data.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st
from torch import Tensor

from attention_core.dashboard.charts.colours import Array

Spec = dict[str, Any]


@dataclass(frozen=True)
class Chart:
    """What `show` needs: specification, data, what is to be seen, and the same as a table."""

    spec: Spec
    data: pd.DataFrame
    alt: str
    table: pd.DataFrame


DATA = alt.NamedData("picture")  # stands for what `show` will send


def specification(chart: alt.Chart | alt.LayerChart) -> Spec:
    """The chart as Vega-Lite, without Altair's own theme: the page's theme decides.

    Labels take the text colour of the page: the theme's own grey is too pale to be projected.
    """
    spec: Spec = chart.to_dict(validate=False)  # the tests validate; the first learner waits
    readable = {"labelColor": "currentColor", "titleColor": "currentColor"}
    spec["config"] = {"axis": readable, "legend": readable}
    return spec


def to_array(tensor: Tensor) -> Array:
    """The values of a tensor on the CPU, to read only: they may be those that learners share.

    The one place where pictures leave the device.
    """
    values: Array = tensor.detach().cpu().double().numpy()
    values.flags.writeable = False
    return values


def show(chart: Chart, *, key: str, on_select: Callable[[], None] | None = None) -> None:
    """Draw the picture. `on_select` is called after a click, before the page runs again."""
    spec = {**chart.spec, "datasets": {DATA.name: chart.data}}
    listener = on_select if "params" in spec else None  # too many cells to click: no selection
    st.vega_lite_chart(spec, alt=chart.alt, key=key, on_select=listener or "ignore")


def yield_to_browser(seconds: float = 0.035) -> None:
    """Leave the browser two frames for what was sent: what follows at once would hold it up.

    A picture that is new to it takes longer, about 0.2 s.
    """
    time.sleep(seconds)


def show_tables(charts: dict[str, Chart], *, key: str) -> None:
    """The pictures' numbers as tables behind one fold; nothing is sent while it is closed."""
    fold = st.expander(
        "The same numbers as tables", icon=":material/table:", key=key, on_change="rerun"
    )
    with fold:
        if fold.open:
            for title, chart in charts.items():
                st.caption(title)
                st.dataframe(chart.table)
