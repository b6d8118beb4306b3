"""What all controls share: bound to the URL, known to “Reset”, and hidden by some links."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import streamlit as st

from attention_core.dashboard import shared_link

Value = TypeVar("Value")

_NOTED = "controls"


class Noted(NamedTuple):
    """What is known of a control that was drawn: how it is called, and the lesson's value."""

    label: str
    default: object


def reset(prefix: str) -> None:
    """Return every control with this prefix, a page's or a question's, to the lesson's value."""
    for key, control in st.session_state.get(_NOTED, {}).items():
        if f"{key}_".startswith(f"{prefix}_") and not shared_link.hides(key):
            st.session_state[key] = control.default


def drawn(prefix: str) -> dict[str, str]:
    """The label of every control that stands on the page with this prefix, by key."""
    noted: dict[str, Noted] = st.session_state.get(_NOTED, {})
    here = (key for key in noted if key.startswith(f"{prefix}_") and key in st.session_state)
    return {key: noted[key].label for key in here if not shared_link.hides(key)}


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
    """What the learner has set with the widget; what the link says where it hides the control."""
    if shared_link.hides(key):
        return shared_link.fixed(key, default, read)
    value: Value = widget(label, key=key, bind="query-params", **options)
    return value
