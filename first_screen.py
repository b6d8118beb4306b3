"""The first screen after a start: what a page shows in the seconds in which it imports PyTorch.

A page imports what it is made of inside `with first_screen():`. This file stands outside of
`attention_core`, as importing anything from there imports PyTorch.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

FORMULA = r"\mathrm{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V"
WAIT = (
    "PyTorch is starting, once for everyone: this takes some seconds. If nothing has changed after "
    "a minute, reload the page."
)

# The weights before any are computed: five rows of five grey cells.
_BAND = {"type": "ordinal", "axis": None, "scale": {"paddingInner": 0.04}}
GRID = {
    "data": {"sequence": {"start": 0, "stop": 25, "as": "cell"}},
    "transform": [
        {"calculate": "floor(datum.cell / 5)", "as": "i"},
        {"calculate": "datum.cell % 5", "as": "j"},
    ],
    "mark": {"type": "rect", "fill": "#808080", "opacity": 0.2},
    "encoding": {"x": {"field": "j", **_BAND}, "y": {"field": "i", **_BAND}},
    "width": 280,
    "height": 280,
}

_IMPORTED: list[bool] = []  # not empty once a page of this process has imported all it is made of


@contextmanager
def first_screen() -> Iterator[None]:
    """Show the first screen while the body imports, unless this process has imported before.

    What an import makes is here to stay, so nothing is collected meanwhile, and all of it is frozen
    afterwards: Streamlit collects garbage after every run, and would visit it each time. This saves
    half a second at the start, and 0.2 s after every run.
    """
    place = st.empty()  # on every run: Streamlit tells the elements below apart by their place
    if _IMPORTED:
        yield
        return
    with place.container():
        _show()
    gc.disable()
    try:
        yield
        _IMPORTED.append(True)
    finally:
        gc.freeze()
        gc.enable()
        place.empty()


def _show() -> None:
    """A formula and an empty chart: the browser fetches its code for both now, and not afterwards.

    While PyTorch is imported, it has nothing else to do.
    """
    st.set_page_config(page_title="The Attention Mechanism", layout="wide")
    st.title("The Attention Mechanism")
    st.latex(FORMULA)
    with st.container(horizontal_alignment="center"):
        st.markdown(WAIT, text_alignment="center")
        alt = "An empty grid: attention weights, before they are computed."
        st.vega_lite_chart(GRID, alt=alt, width="content")
