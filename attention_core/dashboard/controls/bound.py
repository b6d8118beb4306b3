"""What all controls share: bound to the URL, known to “Reset”, and hidden by some links.

Streamlit takes a control that is not drawn, as of a part that is out of view, out of the address.
On a page in parts, `keep_in_address` writes it there under a name of its own, kept.KEY, so that a
refresh or a link brings it back when the part is drawn again.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

import streamlit as st

from attention_core.dashboard.controls import shared_link

Value = TypeVar("Value")

_NOTED, _DRAWN, _KEPT = "controls", "drawn_controls", "kept_controls"
_SAID = "controls_in_an_address"  # by key, what stands for the value that was last drawn
_OUT_OF_VIEW = "kept."  # before the name of a control, in an address
_MOST = 200  # controls that an address can keep


class Noted(NamedTuple):
    """What is known of a control that was drawn: how it is called, and the lesson's value."""

    label: str
    default: object


def reset(prefix: str) -> None:
    """Return every control with this prefix, a page's or a question's, to the lesson's value."""
    for key, control in st.session_state.get(_NOTED, {}).items():
        if f"{key}_".startswith(f"{prefix}_") and not shared_link.hides(key):
            st.session_state[key] = control.default
    for name in _kept_names(prefix):
        del st.query_params[name]
        _kept().pop(name.removeprefix(_OUT_OF_VIEW), None)


def begin() -> None:
    """At the head of a page: no control stands there yet."""
    st.session_state[_DRAWN] = set()


def take_up_address(prefix: str) -> None:
    """At the head of a page in parts: know what the address keeps out of view."""
    kept = _kept()
    for name in _kept_names(prefix)[:_MOST]:
        key = name.removeprefix(_OUT_OF_VIEW)
        if key not in st.session_state:
            kept[key] = st.query_params.get_all(name)


def keep_in_address(prefix: str) -> None:
    """At the end of a page in parts: write into the address what was set and is not drawn now.

    Not for controls that come and go with a slider: what is written is the address as this run
    found it, and in the browser a held key may have moved the slider on.
    """
    kept, in_view = _kept(), st.session_state[_DRAWN]
    said = st.session_state.get(_SAID, {})
    for key, control in st.session_state.get(_NOTED, {}).items():
        if not key.startswith(f"{prefix}_") or key not in said:
            continue
        value = st.session_state.get(key, control.default)
        if key in in_view or shared_link.hides(key) or value == control.default:
            kept.pop(key, None)
        else:
            kept[key] = said[key]
    for name in _kept_names(prefix):
        if name.removeprefix(_OUT_OF_VIEW) not in kept:
            del st.query_params[name]
    for key, values in kept.items():
        if key.startswith(f"{prefix}_") and st.query_params.get_all(_OUT_OF_VIEW + key) != values:
            st.query_params[_OUT_OF_VIEW + key] = values


def drawn(prefix: str) -> dict[str, str]:
    """The label of every control that stands on the page with this prefix, by key."""
    noted: dict[str, Noted] = st.session_state.get(_NOTED, {})
    in_view = st.session_state.get(_DRAWN, ())
    here = (key for key in noted if key.startswith(f"{prefix}_") and key in in_view)
    return {key: noted[key].label for key in here}


def note(key: str, label: str, default: object) -> None:
    """Know the control with this key from now on."""
    st.session_state.setdefault(_NOTED, {})[key] = Noted(label, default)


def draw(
    widget: Callable[..., Any],
    key: str,
    label: str,
    default: Value,
    read: Callable[[list[str]], Value],
    /,
    **options: Any,
) -> Value:
    """What the learner has set with the widget; what the link says where it hides the control.

    `read` makes a legal value of an address, or raises LookupError or ValueError.
    """
    if shared_link.hides(key):
        return shared_link.fixed(key, default, read)
    st.session_state.setdefault(_DRAWN, set()).add(key)
    labels = options.get("format_func", str)
    values = _kept().pop(key, None)
    if values and key not in st.session_state and key not in st.query_params:
        with suppress(LookupError, ValueError):
            st.session_state[key] = read(values)
            st.query_params[key] = _as_in_an_address(st.session_state[key], labels)
    value: Value = widget(label, key=key, bind="query-params", **options)
    st.session_state.setdefault(_SAID, {})[key] = _as_in_an_address(value, labels)
    return value


def _kept() -> dict[str, list[str]]:
    """By key, what the learner set in controls that are out of view, as an address says it."""
    kept: dict[str, list[str]] = st.session_state.setdefault(_KEPT, {})
    return kept


def _kept_names(prefix: str) -> list[str]:
    """The parameters of the address that keep a control with this prefix."""
    return [name for name in st.query_params if name.startswith(f"{_OUT_OF_VIEW}{prefix}_")]


def _as_in_an_address(value: object, labels: Callable[[Any], str]) -> list[str]:
    """What Streamlit writes for this value: of an option its label."""
    values = value if isinstance(value, list | tuple) else [value]
    return [str(one).lower() if isinstance(one, bool) else labels(one) for one in values]
