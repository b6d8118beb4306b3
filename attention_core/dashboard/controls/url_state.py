"""What a learner sets, and how it stands in the address: one object in the session.

Every control is bound to the address, known to “Reset”, and hidden by some links. A value that
comes from an address is a stranger's: what is returned is always legal.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, TypeVar

import streamlit as st

from attention_core.dashboard.controls.out_of_view import OutOfView
from attention_core.dashboard.controls.shared_link import SOLUTIONS, SharedLink

Value = TypeVar("Value")
_STATE = "url_state"


@dataclass
class Control:
    """A control that was drawn, or that could have been.

    label, default  how it is called, and the lesson's value
    drawn           whether it stands on the page in this run
    said            what stands for its value in an address, None if it was never drawn
    options         the labels of its options, as the browser knows them; empty for other controls
    """

    label: str
    default: object
    drawn: bool = False
    said: list[str] | None = None
    options: list[str] = field(default_factory=list)


@dataclass
class UrlState:
    """controls  by key, which begins with the prefix of its page
    link         what the link that the learner followed hides
    out_of_view  what was set in controls that are not drawn now
    slid         whether a slider has moved since the last run: the browser may be ahead by now
    """

    controls: dict[str, Control] = field(default_factory=dict)
    link: SharedLink = field(default_factory=SharedLink)
    out_of_view: OutOfView = field(default_factory=OutOfView)
    slid: bool = False

    @classmethod
    def here(cls) -> "UrlState":
        """That of this session."""
        state: UrlState = st.session_state.setdefault(_STATE, cls())
        return state

    def begin(self, prefix: str) -> None:
        """At the head of a page: take up the address; no control stands there yet."""
        self.link.take_up()
        self.out_of_view.take_up(prefix)
        self.slid = False
        for control in self.controls.values():
            control.drawn = False

    def end(self, prefix: str) -> None:
        """At the end of a page: keep in the address what is out of view now.

        Not while a slider moves: what is written is the address as this run found it, and in the
        browser a held key may have moved the slider on.
        """
        if self.slid:
            return
        here = {key: c for key, c in self.controls.items() if key.startswith(f"{prefix}_")}
        said = {key: c.said for key, c in here.items() if c.said is not None and self._is_set(key)}
        settled = [key for key, c in here.items() if c.said is not None and key not in said]
        self.out_of_view.keep(prefix, said, settled)

    def _is_set(self, key: str) -> bool:
        """Whether a control holds something that is not in the address for all to see."""
        control = self.controls[key]
        value = st.session_state.get(key, control.default)
        return not (control.drawn or self.hides(key) or value == control.default)

    def know(self, key: str, label: str, default: object) -> Control:
        """Know the control with this key from now on."""
        control = self.controls.setdefault(key, Control(label, default))
        control.label, control.default = label, default
        return control

    def bind(
        self,
        widget: Callable[..., Any],
        key: str,
        label: str,
        default: Value,
        read: Callable[[list[str]], Value],
        /,
        **options: Any,
    ) -> Value:
        """Know a control and draw it, where its default is always the lesson's."""
        self.know(key, label, default)
        return self.draw(widget, key, default, read, **options)

    def draw(
        self,
        widget: Callable[..., Any],
        key: str,
        default: Value,
        read: Callable[[list[str]], Value],
        /,
        **options: Any,
    ) -> Value:
        """What the learner has set with the widget; what the link says where it hides the control.

        `read` makes a legal value of an address, or raises LookupError or ValueError.
        """
        if self.hides(key):
            return self._fixed(key, default, read)
        control = self.controls[key]
        labels = options.get("format_func", str)
        values = self.out_of_view.kept.pop(key, None)
        if values and key not in st.session_state and key not in st.query_params:
            with suppress(LookupError, ValueError):
                st.session_state[key] = read(values)
                st.query_params[key] = _as_in_an_address(st.session_state[key], labels)
        value: Value = widget(control.label, key=key, bind="query-params", **options)
        said = _as_in_an_address(value, labels)
        self.slid |= widget is st.slider and control.said is not None and control.said != said
        control.drawn, control.said = True, said
        return value

    def reset(self, prefix: str) -> None:
        """Return what has this prefix, a page's or a question's, to the lesson's values."""
        for key, control in self.controls.items():
            if f"{key}_".startswith(f"{prefix}_") and not self.hides(key):
                st.session_state[key] = control.default
        self.out_of_view.forget(prefix.partition("_")[0], prefix)

    def drawn(self, prefix: str) -> dict[str, str]:
        """The label of every control that stands on the page with this prefix, by key."""
        here = ((key, c) for key, c in self.controls.items() if key.startswith(f"{prefix}_"))
        return {key: control.label for key, control in here if control.drawn}

    def hides(self, name: str) -> bool:
        """Whether the link hides the control with this key, or all SOLUTIONS."""
        return name in self.link.names

    def _fixed(self, key: str, default: Value, read: Callable[[list[str]], Value]) -> Value:
        """The value of a hidden control: a button's, else the link's if legal, else the default."""
        if key in st.session_state:
            value: Value = st.session_state[key]
            return value
        try:
            return read(self.link.fixed.get(key, []))
        except (LookupError, ValueError):
            return default


def hides(name: str) -> bool:
    """Whether the link that the learner followed hides the control with this key."""
    return UrlState.here().hides(name)


def hides_solutions() -> bool:
    """Whether the link that the learner followed hides solutions and hints."""
    return hides(SOLUTIONS)


def number(values: list[str]) -> float:
    """The finite number that the address gives."""
    found = float(values[-1])
    if not isfinite(found):
        raise ValueError(f"a finite number is needed: {found}")
    return found


def _as_in_an_address(value: object, labels: Callable[[Any], str]) -> list[str]:
    """What Streamlit writes for this value: of an option its label."""
    values = value if isinstance(value, list | tuple) else [value]
    return [str(one).lower() if isinstance(one, bool) else labels(one) for one in values]
