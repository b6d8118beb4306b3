"""Controls whose values live in the URL, so that a link or a refresh opens the same picture.

Every key starts with its page's prefix. A value from the URL or from a browser is a stranger's:
each control returns a legal one whatever arrives. The defaults are the lesson's, and are noted
so that `reset` can bring them back.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar

import streamlit as st

Option = TypeVar("Option")
Number = TypeVar("Number", int, float)

_DEFAULTS = "control_defaults"
_LABELS = "control_labels"
_BIND: Literal["query-params"] = "query-params"


def reset(prefix: str) -> None:
    """Return every control of the page with this prefix to the lesson's value."""
    for key, default in st.session_state.get(_DEFAULTS, {}).items():
        if key.startswith(f"{prefix}_"):
            st.session_state[key] = default


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
    _note_default(key, default)
    if low == high:
        return low
    value = st.slider(
        label,
        low,
        high,
        min(default, high),
        step,
        key=key,
        help=help,
        disabled=disabled,
        bind=_BIND,
    )
    return max(low, min(high, value))


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
    _note_default(key, options[default])
    if st.session_state.get(key, options[default]) not in options:
        st.session_state[key] = options[default]
    return st.selectbox(label, options, default, format_func=labels, key=key, help=help, bind=_BIND)


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
    if st.session_state.get(key, 0) >= n:
        st.session_state[key] = n - 1
    drawn = min(default, n - 1)
    chosen = select(label, range(n), key=key, default=drawn, labels=labels, help=help)
    _note_default(key, default)  # the lesson's, for a reset that changes n as well
    return chosen


def position_to_be(n: int, *, key: str, default: int = 0) -> int:
    """What `position` will return, for a picture that is sent before its control is drawn."""
    value = str(st.session_state.get(key, st.query_params.get(key, default)))
    return min(int(value) if value.isdecimal() and len(value) < 9 else default, n - 1)


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
    _note_default(key, options[default])
    value = st.segmented_control(
        label,
        options,
        default=options[default],
        required=True,
        key=key,
        help=help,
        disabled=disabled,
        bind=_BIND,
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
    _note_default(key, None)
    value = st.radio(
        label,
        list(options),
        None,
        captions=list(options.values()) if any(options.values()) else None,
        key=key,
        help=help,
        disabled=disabled,
        bind=_BIND,
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
    _note_default(key, list(default))
    values = st.pills(
        label,
        options,
        selection_mode="multi",
        default=list(default),
        key=key,
        help=help,
        disabled=disabled,
        bind=_BIND,
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
    _note_default(key, list(default))
    legal = [option for option in default if option in options] or list(options[-1:])
    if not set(st.session_state.get(key, [])) <= set(options):
        st.session_state[key] = legal
    _keep_choice(key, [labels(option) for option in options])
    return st.multiselect(
        label,
        options,
        legal,
        format_func=labels,
        key=key,
        max_selections=most,
        help=help,
        bind=_BIND,
    )[:most]


def toggle(label: str, *, key: str, default: bool = False, help: str | None = None) -> bool:
    """A switch."""
    _note_default(key, default)
    return st.toggle(label, default, key=key, help=help, bind=_BIND)


def text(label: str, default: str, *, key: str, limit: int = 200, help: str | None = None) -> str:
    """A line of the learner's own text, `limit` characters at most; show it as data only."""
    _note_default(key, default)
    value: Any = st.text_input(label, default, limit, key=key, help=help, bind=_BIND)
    return (value or "")[:limit]


def _keep_choice(key: str, labels: list[str]) -> None:
    """Choose the same options again when their labels change: a browser knows only the labels."""
    shown = st.session_state.setdefault(_LABELS, {})
    if key in st.session_state and shown.get(key, labels) != labels:
        st.session_state[key] = st.session_state[key]
    shown[key] = labels


def _note_default(key: str, default: object) -> None:
    st.session_state.setdefault(_DEFAULTS, {})[key] = default
