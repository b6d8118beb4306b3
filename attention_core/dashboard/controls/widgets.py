"""Controls whose values live in the URL, so that a link or a refresh opens the same picture.

Every key starts with its page's prefix. A value from the URL or from a browser is a stranger's:
each control returns a legal one whatever arrives. The defaults are the lesson's, and are noted
so that `reset` can bring them back. A control that a shared link hides is not drawn: its value is
the link's.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import streamlit as st

from attention_core.dashboard.controls.bound import draw, note
from attention_core.dashboard.controls.shared_link import number

Option = TypeVar("Option")
Number = TypeVar("Number", int, float)

_LABELS = "control_labels"


def assign(key: str, value: object) -> None:
    """Set a control from a button: its `on_click`, which runs before the page does."""
    st.session_state[key] = value


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
    note(key, label, default)
    if low == high:
        return low
    if not low <= st.session_state.get(key, low) <= high:
        del st.session_state[key]  # set by a reset while out of view, or when there was more room
    value = draw(
        st.slider,
        key,
        label,
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
    note(key, label, whole)
    if n == 1:
        return whole
    first, last = draw(
        st.slider,
        key,
        label,
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


def select(
    label: str,
    options: Sequence[Option],
    *,
    key: str,
    default: int = 0,
    labels: Callable[[Option], str] = str,
    help: str | None = None,
) -> Option:
    """One of `options` from a list; `default` is a position in it. Labels are plain text."""
    note(key, label, options[default])
    if st.session_state.get(key, options[default]) not in options:
        st.session_state[key] = options[default]
    return draw(
        st.selectbox,
        key,
        label,
        options[default],
        lambda values: {labels(option): option for option in options}[values[-1]],
        options=options,
        index=default,
        format_func=labels,
        help=help,
    )


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
    note(key, label, default)  # the lesson's, for a reset that changes n as well
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


def segments(
    label: str,
    options: Sequence[str],
    *,
    key: str,
    default: int = 0,
    disabled: bool = False,
    help: str | None = None,
) -> str:
    """One of a few options, all in view. For our own words only: the labels are Markdown."""
    note(key, label, options[default])
    value = draw(
        st.segmented_control,
        key,
        label,
        options[default],
        lambda values: options[options.index(values[-1])],
        options=options,
        default=options[default],
        required=True,
        help=help,
        disabled=disabled,
    )
    return value if value in options else options[default]


def choice(
    label: str,
    options: Mapping[str, str],
    *,
    key: str,
    disabled: bool = False,
    help: str | None = None,
) -> str | None:
    """One of `options` (what to choose: a caption), listed below each other; None until chosen.

    For our own words only: both are Markdown.
    """
    note(key, label, None)
    value = draw(
        st.radio,
        key,
        label,
        None,
        lambda values: {option: option for option in options}[values[-1]],
        options=list(options),
        index=None,
        captions=list(options.values()) if any(options.values()) else None,
        help=help,
        disabled=disabled,
    )
    return value if value in options else None


def several_segments(
    label: str,
    options: Sequence[str],
    default: Sequence[str] = (),
    *,
    key: str,
    disabled: bool = False,
    help: str | None = None,
) -> list[str]:
    """Any number of a few options, all in view. For our own words only: the labels are Markdown."""
    note(key, label, list(default))
    values = draw(
        st.pills,
        key,
        label,
        list(default),
        lambda values: [option for option in options if option in values] or list(default),
        options=options,
        selection_mode="multi",
        default=list(default),
        help=help,
        disabled=disabled,
    )
    return [option for option in options if option in values]


def several(
    label: str,
    options: Sequence[Option],
    default: Sequence[Option],
    *,
    key: str,
    labels: Callable[[Option], str] = str,
    most: int | None = None,
    help: str | None = None,
) -> list[Option]:
    """Any number of `options`, or `most` at most, in the order in which they were chosen."""
    note(key, label, list(default))
    legal = [option for option in default if option in options] or list(options[-1:])
    if not set(st.session_state.get(key, [])) <= set(options):
        st.session_state[key] = legal
    _keep_choice(key, [labels(option) for option in options])
    return draw(
        st.multiselect,
        key,
        label,
        legal,
        lambda values: [option for option in options if labels(option) in values][:most] or legal,
        options=options,
        default=legal,
        format_func=labels,
        max_selections=most,
        help=help,
    )[:most]


def toggle(label: str, *, key: str, default: bool = False, help: str | None = None) -> bool:
    """A switch."""
    note(key, label, default)
    return draw(
        st.toggle,
        key,
        label,
        default,
        lambda values: {"true": True, "false": False}[values[-1].lower()],
        value=default,
        help=help,
    )


def text(label: str, default: str, *, key: str, limit: int = 200, help: str | None = None) -> str:
    """A line of the learner's own text, `limit` characters at most; show it as data only."""
    note(key, label, default)
    value = draw(
        st.text_input,
        key,
        label,
        default,
        lambda values: values[-1][:limit],
        value=default,
        max_chars=limit,
        help=help,
    )
    return (value or "")[:limit]


def _keep_choice(key: str, labels: list[str]) -> None:
    """Choose the same options again when their labels change: a browser knows only the labels."""
    shown = st.session_state.setdefault(_LABELS, {})
    if key in st.session_state and shown.get(key, labels) != labels:
        st.session_state[key] = st.session_state[key]
    shown[key] = labels
