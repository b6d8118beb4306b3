"""One head in full: its weights, zoomed and named, one cell exactly, and whether it is right."""

from dataclasses import dataclass
from functools import partial

import streamlit as st
from torch import Tensor

from attention_core.attention import attention_steps
from attention_core.dashboard import controls
from attention_core.dashboard.bars import bars
from attention_core.dashboard.frame import Setting
from attention_core.dashboard.own_heads.computing import head_of, mask_of, weights_of
from attention_core.dashboard.own_heads.token_names import token_names
from attention_core.dashboard.own_heads.weights_map import (
    Name,
    dots_across,
    largest_at,
    weights_map,
)
from attention_core.dashboard.picture import Picture, show, show_tables
from attention_core.dashboard.tensor_files.loaded import Loaded, Projections

LONGEST = 2000  # characters of names: more would not fit the address
MOST_KEYS = 12  # of one query, as bars


@dataclass(frozen=True, eq=False)
class Chosen:
    """The head that is looked at, and the mask of the learner's rule, None for none."""

    tensors: Loaded
    b: int
    h: int
    rule: Tensor | None
    setting: Setting

    @property
    def mask(self) -> Tensor | None:
        """Which pairs are allowed, (n_q, n_k); None for all, and for finished weights."""
        if not isinstance(self.tensors, Projections):
            return None
        return mask_of(self.tensors, self.b, self.h, self.rule, self.setting)

    def weights(self, rows: slice) -> Tensor:
        """The weights of some queries, (rows, n_k)."""
        return weights_of(self.tensors, self.b, self.h, self.rule, self.setting, rows)


@st.fragment
def show_head(head: Chosen) -> None:
    """Zoom, names and cell; the picture; the numbers of the cell."""
    _, _, n_q, n_k = head.tensors.shape
    queries, keys = st.columns(2)
    with queries:
        top, bottom = controls.span("Queries in view", n_q, key="own_rows")
    with keys:
        left, right = controls.span("Keys in view", n_k, key="own_columns")
    names = _choose_names(n_q, n_k)
    with st.container(horizontal=True):
        i = controls.position("Look at query i", n_q, key="own_i", default=4, labels=names[0])
        j = controls.position("and key j", n_k, key="own_j", default=3, labels=names[1])

    weights = head.weights(slice(top, bottom + 1))[:, left : right + 1]
    mask = None if head.mask is None else head.mask[top : bottom + 1, left : right + 1]
    row, column = largest_at(weights)
    where = f"head {head.h}" if head.tensors.shape[1] > 1 else "the head"
    picture = weights_map(
        weights,
        first=(top, left),
        chosen=(i, j),
        names=names,
        mask=mask,
        title=f"Weights of {where}",
        alt_text=f"Weights of {where} of batch element {head.b}: queries {top} to {bottom}, keys "
        f"{left} to {right}. The largest, {float(weights[row, column]):.3g}, is of query "
        f"{names[0](top + row)} on key {names[1](left + column)}.",
    )
    of_query = head.weights(slice(i, i + 1))[0]
    wide, narrow = st.columns([3, 2])
    with wide.container(key="own_weights_box"):
        show(picture, key="own_weights", on_select=partial(_choose_cell, top, left))
        _say_what_a_dot_is(bottom + 1 - top, right + 1 - left)
    with narrow:
        show(_query_picture(of_query, i, names), key="own_query")
    _show_cell(head, of_query, i, j)
    show_tables({"Weights in view": picture}, key="own_head_tables")


def _choose_names(n_q: int, n_k: int) -> tuple[Name, Name]:
    """What the learner calls the tokens; one line is enough where both sequences are as long."""
    hint = "separated by spaces or commas"
    if n_q == n_k:
        line = controls.text(f"Names of the tokens, {hint}", "", key="own_names", limit=LONGEST)
        names, note = token_names(line, n_q)
        if note:
            st.caption(note)
        return names, names
    found: list[Name] = []
    sides = (("queries", n_q, "own_names"), ("keys", n_k, "own_key_names"))
    for place, (side, n, key) in zip(st.columns(2), sides, strict=True):
        with place:
            line = controls.text(f"Names of the {side}, {hint}", "", key=key, limit=LONGEST)
            names, note = token_names(line, n)
            if note:
                st.caption(note)
            found.append(names)
    return found[0], found[1]


def _say_what_a_dot_is(n_rows: int, n_columns: int) -> None:
    high, wide = dots_across(n_rows), dots_across(n_columns)
    if max(high, wide) > 1:
        st.caption(
            f"One dot is the largest of {high} × {wide} weights. Zoom in to see them one by one."
        )


def _query_picture(weights: Tensor, i: int, names: tuple[Name, Name]) -> Picture:
    """The keys that one query gives the most, as bars."""
    any_weight = max(1, int((weights > 0).sum()))
    most = weights.topk(min(MOST_KEYS, any_weight))
    labels = [names[1](int(key)) for key in most.indices]
    return bars(
        most.values,
        labels,
        title=f"Where query {i} looks most",
        alt_text=f"The largest weights of query {names[0](i)}: {float(most.values[0]):.3g} on key "
        f"{labels[0]}; {len(labels) - 1} more follow.",
    )


def _show_cell(head: Chosen, of_query: Tensor, i: int, j: int) -> None:
    """The exact numbers of one cell."""
    weight, share, rank = st.columns(3)
    weight.metric(f"Weight of query {i} on key {j}", f"{float(of_query[j]):.9g}")
    larger = int((of_query > of_query[j]).sum())
    rank.metric("Keys with a larger weight", f"{larger} of {len(of_query)}")
    if isinstance(head.tensors, Projections):
        q, k, v = head_of(head.tensors, head.b, head.h, head.setting)
        mask = None if head.mask is None else head.mask[i : i + 1]
        steps = attention_steps(q[i : i + 1], k, v, mask)
        hidden = mask is not None and not bool(mask[0, j])
        share.metric("Score", f"{float(steps.scores[0, j]):.6g}{' (hidden)' if hidden else ''}")
    else:
        share.metric(f"Row sum of query {i}", f"{float(of_query.double().sum()):.6g}")


def _choose_cell(top: int, left: int) -> None:
    """A click on a cell moves the two selectors; the cells know their place in the view."""
    for cell in st.session_state["own_weights"]["selection"]["cell"]:
        st.session_state["own_i"], st.session_state["own_j"] = top + cell["i"], left + cell["j"]
