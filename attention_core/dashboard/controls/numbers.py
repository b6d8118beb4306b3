"""Numbers and positions in the address: sliders, and token positions as options of a list."""

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from attention_core.dashboard.controls.choices import select
from attention_core.dashboard.controls.url_state import UrlState, number

Number = TypeVar("Number", int, float)


def slider(
    label: str,
    low: Number,
    high: Number,
    default: Number,
    *,
    key: str,
    step: Number | None = None,
    help: str | None = None,
    disabled: bool = False,
) -> Number:
    """A slider from `low` to `high`, both included; one legal value needs no slider.

    A default above `high` is drawn there, and is the lesson's again when there is room for it.
    """
    UrlState.here().know(key, label, default)
    if low == high:
        return low
    if not low <= st.session_state.get(key, low) <= high:
        del st.session_state[key]  # set by a reset while out of view, or when there was more room
    value = UrlState.here().draw(
        st.slider,
        key,
        min(default, high),
        lambda values: max(low, min(high, type(default)(number(values)))),
        min_value=low,
        max_value=high,
        value=min(default, high),
        step=step,
        help=help,
        disabled=disabled,
    )
    return max(low, min(high, value))


def span(label: str, n: int, *, key: str, help: str | None = None) -> tuple[int, int]:
    """Neighbouring positions: the first and the last of them, from 0 to n - 1; at first, all.

    The key ends with n: what was in view of one sequence means nothing for a longer one.
    """
    key, whole = f"{key}_{n}", (0, n - 1)
    UrlState.here().know(key, label, whole)
    if n == 1:
        return whole
    first, last = UrlState.here().draw(
        st.slider,
        key,
        whole,
        lambda values: _within(n, int(values[0]), int(values[1])),
        min_value=0,
        max_value=n - 1,
        value=whole,
        help=help,
    )
    return (first, last) if 0 <= first <= last < n else whole


def _within(n: int, first: int, last: int) -> tuple[int, int]:
    if not 0 <= first <= last < n:
        raise ValueError(f"not neighbours among {n} positions: {first} to {last}")
    return first, last


def position(
    label: str,
    n: int,
    *,
    key: str,
    default: int = 0,
    labels: Callable[[int], str] = str,
    help: str | None = None,
) -> int:
    """A token position from 0 to n - 1; a position past the end becomes the last one."""
    held = _held_position(key, n)
    if held != st.session_state.get(key):
        st.session_state[key] = held
    drawn = min(default, n - 1)
    chosen = select(label, range(n), key=key, default=drawn, labels=labels, help=help)
    UrlState.here().know(key, label, default)  # the lesson's, for a reset that changes n as well
    return chosen


def position_to_be(n: int, *, key: str, default: int = 0) -> int:
    """What `position` will return, for a picture that is sent before its control is drawn."""
    held = _held_position(key, n)
    if held is not None:
        return held
    legal = {str(position): position for position in range(n)}
    return legal.get(st.query_params.get(key, ""), min(default, n - 1))


def _held_position(key: str, n: int) -> int | None:
    """The position that the session holds, None if none; past the end it is the last one.

    A run that comes before the last one has drawn all its controls finds a label there, which
    is none of the positions that were left.
    """
    held = st.session_state.get(key)
    return held if held is None or held in range(n) else n - 1
