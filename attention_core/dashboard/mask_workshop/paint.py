"""Paint a mask: check boxes whose changes are kept as exceptions to the rule.

The exceptions are text in the URL, as in "2-4 3-0", and that text is the only place where they
are kept. The grid is a picture of the mask that can be clicked: a click becomes text, and
the text, with the rule, becomes the next mask.
"""

from dataclasses import dataclass

import pandas as pd
import streamlit as st
from torch import Tensor

from attention_core.dashboard import controls
from attention_core.dashboard.controls.url_state import hides
from attention_core.dashboard.mask_workshop.current_mask import PAINTED
from attention_core.dashboard.mask_workshop.painted_cells import (
    LIMIT,
    Cell,
    read_cells,
    write_cells,
)
from attention_core.masks import flip_cells

LARGEST = 12  # queries and keys of a grid
_GRID = "work_grid"

Rows = list[list[bool]]


@dataclass(frozen=True)
class _Grid:
    """What the grid was drawn with. What was clicked since, its widget remembers.

    A grid is drawn anew only where rule and text say something else than the boxes do. Otherwise
    it stays, with the learner's place in it, and the clicks that are still on their way count.
    """

    number: int
    drawn: Rows

    @property
    def key(self) -> str:
        return f"{_GRID}_{self.number}"

    def boxes(self) -> Rows:
        """The boxes as the learner left them."""
        rows = [list(row) for row in self.drawn]
        edited = st.session_state.get(self.key, {}).get("edited_rows", {})
        for i, changes in edited.items():
            for j, value in changes.items():
                if j.isdecimal():  # a column of boxes; emptied, a box gives None
                    rows[int(i)][int(j)] = bool(value)
        return rows


def paint(mask: Tensor) -> tuple[Cell, ...]:
    """The cells of the rule's mask (n_q, n_k) that the learner has painted against it."""
    n_q, n_k = mask.shape
    if hides(PAINTED):
        return _exceptions(n_q, n_k)  # those of the link
    fold = st.expander(
        "Paint it", icon=":material/brush:", key="work_paint_fold", on_change="rerun"
    )
    with fold:
        st.markdown(
            "A ticked box: this query may attend to this key. What you tick or clear stays as an "
            "**exception to the rule**, also when the rule changes: there the answer is turned "
            "round. Arrow keys move through the boxes, the space bar ticks one. *Predict first:* "
            "which boxes must you clear so that query 2 may attend to nothing, and what will its "
            "weights be?"
        )
        cells = _exceptions(n_q, n_k)
        if max(n_q, n_k) > LARGEST:
            st.markdown(
                f"The check boxes are there for up to {LARGEST} queries and {LARGEST} keys. For "
                "larger masks write the cells as text."
            )
        elif fold.open:
            _show_grid(mask, cells)
        st.button(
            "Clear the exceptions",
            icon=":material/ink_eraser:",
            key="work_paint_clear",
            disabled=not st.session_state.get(PAINTED),
            on_click=controls.assign,
            args=(PAINTED, ""),
        )
    return cells


def _exceptions(n_q: int, n_k: int) -> tuple[Cell, ...]:
    text = controls.text(
        "Exceptions, each as query-key",
        "",
        key=PAINTED,
        limit=LIMIT,
        help="For example 2-4 3-0. What is no cell of the mask is left out.",
    )
    return read_cells(text, n_q, n_k)


def _show_grid(mask: Tensor, cells: tuple[Cell, ...]) -> None:
    wanted: Rows = flip_cells(mask, cells).tolist()
    grid: _Grid | None = st.session_state.get(_GRID)
    if grid is None or grid.boxes() != wanted:
        grid = _Grid(grid.number + 1 if grid else 0, wanted)
        st.session_state[_GRID] = grid
    keys = [str(j) for j in range(mask.shape[1])]
    queries = pd.Index([f"query {i}" for i in range(mask.shape[0])])
    boxes = {key: st.column_config.CheckboxColumn(key, width=44) for key in keys}
    names = st.column_config.TextColumn("query \\ key", disabled=True)
    st.data_editor(
        pd.DataFrame(grid.drawn, queries, keys),
        key=grid.key,
        num_rows="fixed",
        width="content",
        column_config={**boxes, "_index": names},
        on_change=_take_over,
        args=(mask.tolist(),),
    )


def _take_over(rule: Rows) -> None:
    """Write down which boxes differ from the rule's mask; cells beyond the grid stay."""
    boxes = st.session_state[_GRID].boxes()
    inside = [
        (i, j)
        for i, row in enumerate(rule)
        for j, answer in enumerate(row)
        if boxes[i][j] != answer
    ]
    named = read_cells(st.session_state.get(PAINTED, ""), 1000, 1000)
    beyond = [(i, j) for i, j in named if i >= len(rule) or j >= len(rule[0])]
    st.session_state[PAINTED] = write_cells([*inside, *beyond])
