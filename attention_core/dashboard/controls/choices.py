"""Choices in the address: one of several, some of several, yes or no, a line of text."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import streamlit as st

from attention_core.dashboard.controls.url_state import Control, UrlState

Option = TypeVar("Option")


def assign(key: str, value: object) -> None:
    """Set a control from a button: its `on_click`, which runs before the page does."""
    st.session_state[key] = value


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
    UrlState.here().know(key, label, options[default])
    if st.session_state.get(key, options[default]) not in options:
        st.session_state[key] = options[default]
    return UrlState.here().draw(
        st.selectbox,
        key,
        options[default],
        lambda values: {labels(option): option for option in options}[values[-1]],
        options=options,
        index=default,
        format_func=labels,
        help=help,
    )


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
    value = UrlState.here().bind(
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
    value = UrlState.here().bind(
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
    values = UrlState.here().bind(
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
    control = UrlState.here().know(key, label, list(default))
    legal = [option for option in default if option in options] or list(options[-1:])
    if not set(st.session_state.get(key, [])) <= set(options):
        st.session_state[key] = legal
    _keep_choice(control, key, [labels(option) for option in options])
    return UrlState.here().draw(
        st.multiselect,
        key,
        legal,
        lambda values: [option for option in options if labels(option) in values][:most] or legal,
        options=options,
        default=legal,
        format_func=labels,
        max_selections=most,
        help=help,
    )[:most]


def _keep_choice(control: Control, key: str, labels: list[str]) -> None:
    """Choose the same options again when their labels change: a browser knows only the labels."""
    if key in st.session_state and control.options not in ([], labels):
        st.session_state[key] = st.session_state[key]
    control.options = labels


def toggle(label: str, *, key: str, default: bool = False, help: str | None = None) -> bool:
    """A switch."""
    return UrlState.here().bind(
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
    value = UrlState.here().bind(
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
