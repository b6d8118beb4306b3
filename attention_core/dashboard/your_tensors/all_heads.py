"""All heads at a glance: small pictures, three measures of each, and the choice of one."""

import pandas as pd
import streamlit as st
import torch

from attention_core.dashboard import controls
from attention_core.dashboard.charts.bars import bars
from attention_core.dashboard.charts.chart import show, show_tables
from attention_core.dashboard.your_tensors.computing import Overview
from attention_core.dashboard.your_tensors.heads_chart import heads_chart
from attention_core.heads.measures import SHARE, HeadMeasures

MEASURES = {"Entropy": "entropy", "Distance": "distance", "Keys": "keys"}
MOST_OF_THE_WEIGHT = f"{100 * SHARE:.0f} % of the weight"
UNITS = {
    "Entropy": "mean entropy in nats",
    "Distance": "mean distance in positions",
    "Keys": f"keys for {MOST_OF_THE_WEIGHT}",
}
MOST_BARS = 32
FEW_HEADS, FEW_ROWS = 6, 2  # as many leave room for the bars beside them


def choose_head(batch: int, heads: int) -> tuple[int, int]:
    """The selectors; one that has nothing to choose is not drawn."""
    b = h = 0
    with st.container(horizontal=True):
        if batch > 1:
            b = controls.position("Batch element, or layer", batch, key="own_b")
        if heads > 1:
            h = controls.position("Head", heads, key="own_h")
    return b, h


def show_all_heads(found: Overview, chosen: tuple[int, int], shape: tuple[int, int]) -> None:
    """The picture of all, and one measure of the heads in the same row as bars.

    shape  (n_q, n_k) of each head
    """
    b, h = chosen
    n_k = shape[1]
    batch, heads = found.thumbnails.shape[:2]
    table = pd.DataFrame(
        [
            {"batch element": element, "head": head, **_row(measures)}
            for element, row in enumerate(found.measures)
            for head, measures in enumerate(row)
        ]
    )
    all_of_them = heads_chart(
        found.thumbnails,
        chosen,
        shape=shape,
        turn=_turn(chosen),
        title="All heads",
        alt_text=f"The weights of {batch * heads} heads as small pictures, {heads} in each of "
        f"{batch} rows. The frame is round head {h} of batch element {b}. "
        f"{_extremes(found, b)}",
        table=table.set_index(["batch element", "head"]),
    )
    few = heads <= FEW_HEADS and batch <= FEW_ROWS
    for_all, for_bars = st.columns(2) if few else (st.container(), st.container())
    with for_all.container(key="own_all_box"):
        show(all_of_them, key="own_all", on_select=_choose_clicked)
    with for_bars:
        measure = controls.segments("Compare the heads by", tuple(MEASURES), key="own_measure")
        values = [getattr(head, MEASURES[measure]) for head in found.measures[b]][:MOST_BARS]
        chart = bars(
            torch.tensor(values, dtype=torch.float64),
            [f"head {head}" for head in range(len(values))],
            title=f"{UNITS[measure].capitalize()}",
            alt_text=f"{UNITS[measure].capitalize()} of {len(values)} heads of batch element {b}: "
            f"head {h} has {getattr(found.measures[b][h], MEASURES[measure]):.3g}.",
            x="",
            y=UNITS[measure],
            limit=0.0,
            decimals=3,
        )
        show(chart, key="own_bars")
    if heads > MOST_BARS:
        st.caption(f"The bars show the first {MOST_BARS} heads; the table holds all.")
    st.markdown(
        "Each number is a mean over the queries of a head. **Entropy** (in nats: natural "
        "logarithm): 0 if each query looks at one key only, and "
        f"{torch.tensor(float(n_k)).log():.2f} = ln {n_k} if it looks at all keys alike. "
        "**Distance**: how many positions |*i* − *j*| lie between a query and where it looks, "
        f"weighted. **Keys**: how few keys hold {MOST_OF_THE_WEIGHT}, so a small number means a "
        "*sparse* head. Queries that may attend to nothing are left out."
    )
    show_tables({"The three measures of every head": all_of_them}, key="own_tables")


def _turn(chosen: tuple[int, int]) -> int:
    """How often the choice has changed: a click, the selectors, and then the same click again."""
    last, turn = st.session_state.get("own_turn", (chosen, 0))
    turn = int(turn) + int(last != chosen)
    st.session_state["own_turn"] = chosen, turn
    return turn


def _choose_clicked() -> None:
    """A click on a small picture moves the two selectors."""
    for clicked in st.session_state["own_all"]["selection"]["head"]:
        st.session_state["own_b"], st.session_state["own_h"] = clicked["element"], clicked["head"]


def _row(measures: HeadMeasures) -> dict[str, float]:
    return {UNITS[name]: getattr(measures, field) for name, field in MEASURES.items()}


def _extremes(found: Overview, b: int) -> str:
    """Which heads of a row stand out."""
    by_entropy = sorted(range(len(found.measures[b])), key=lambda h: found.measures[b][h].entropy)
    return f"The sharpest head in its row is {by_entropy[0]}, the most spread {by_entropy[-1]}."
