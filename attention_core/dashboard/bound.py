"""What all controls share: bound to the URL, known to “Reset”, and hidden by some links.

Streamlit takes a control that is not drawn, as of a part that is out of view, out of the address.
There `keep_in_address` writes it under a name of its own, kept.KEY, so that a refresh or a link
brings it back when the part is drawn again.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

import streamlit as st

from attention_core.dashboard import shared_link

Value = TypeVar("Value")

_NOTED, _DRAWN, _KEPT = "controls", "drawn_controls", "kept_controls"
_OUT_OF_VIEW = re.compile(r"kept\.([a-z]+_\w{1,40})", re.ASCII)
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
    kept = _kept()
    for key in [key for key in kept if f"{key}_".startswith(f"{prefix}_")]:
        del kept[key]


def take_up_address() -> None:
    """At the head of a page: nothing is drawn yet; know what the address keeps out of view."""
    st.session_state[_DRAWN] = set()
    kept = _kept()
    for name in st.query_params:
        found = _OUT_OF_VIEW.fullmatch(name)
        if found and len(kept) < _MOST and found[1] not in st.session_state:
            kept[found[1]] = st.query_params.get_all(name)


def keep_in_address(prefix: str) -> None:
    """At the end of a page: write into the address what was set and is not drawn now."""
    kept, in_view = _kept(), st.session_state[_DRAWN]
    for key, control in st.session_state.get(_NOTED, {}).items():
        value = st.session_state.get(key, control.default)
        if key in in_view or shared_link.hides(key) or value == control.default:
            kept.pop(key, None)
        else:
            kept[key] = _as_in_an_address(value)
    wanted = {f"kept.{key}": kept[key] for key in kept if key.startswith(f"{prefix}_")}
    for name in [name for name in st.query_params if _OUT_OF_VIEW.fullmatch(name)]:
        if name not in wanted:
            del st.query_params[name]
    for name, values in wanted.items():
        if st.query_params.get_all(name) != values:
            st.query_params[name] = values


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
    values = _kept().pop(key, None)
    if values and key not in st.session_state and key not in st.query_params:
        with suppress(LookupError, ValueError):
            st.session_state[key] = read(values)
            st.query_params[key] = values
    value: Value = widget(label, key=key, bind="query-params", **options)
    return value


def _kept() -> dict[str, list[str]]:
    """By key, what the learner set in controls that are out of view, as an address says it."""
    kept: dict[str, list[str]] = st.session_state.setdefault(_KEPT, {})
    return kept


def _as_in_an_address(value: object) -> list[str]:
    values = value if isinstance(value, list | tuple) else [value]
    return [str(one).lower() if isinstance(one, bool) else str(one) for one in values]
