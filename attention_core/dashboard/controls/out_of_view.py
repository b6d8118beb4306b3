"""Controls that are out of view stay in the address, so that a refresh or a link brings them back.

Streamlit takes a control that is not drawn, as of a part that is not chosen, out of the address.
Here it stands under a name of its own, kept.KEY, until it is drawn again.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import streamlit as st

BEFORE = "kept."  # the key of a control, in an address
MOST = 64  # such parameters that are read, of one address


@dataclass
class OutOfView:
    """kept  by key, what the learner set in controls that are out of view, as an address says it"""

    kept: dict[str, list[str]] = field(default_factory=dict)

    def take_up(self, prefix: str) -> None:
        """At the head of a page: know what the address keeps of it."""
        names = _names(prefix)
        if beyond := set(names[MOST:]):  # a stranger's; all go at once, as each would be a message
            given = st.query_params
            given.from_dict({n: given.get_all(n) for n in given if n not in beyond})
        for name in names[:MOST]:
            key = name.removeprefix(BEFORE)
            if key not in st.session_state:
                self.kept[key] = st.query_params.get_all(name)

    def keep(self, prefix: str, said: Mapping[str, list[str]], settled: Iterable[str]) -> None:
        """At the end of a page: write into the address what was set and is not drawn now.

        said     what stands for the values of controls that are set and out of view
        settled  the other controls: in view, as the lesson has them, or hidden by a link
        """
        for key in settled:
            self.kept.pop(key, None)
        self.kept.update(said)
        self._write(prefix)

    def forget(self, prefix: str, within: str) -> None:
        """Drop what starts with `within`, a page's prefix or a question's."""
        for key in [key for key in self.kept if _is_of(key, within)]:
            del self.kept[key]
        self._write(prefix)

    def _write(self, prefix: str) -> None:
        here = {BEFORE + key: values for key, values in self.kept.items() if _is_of(key, prefix)}
        for name in set(_names(prefix)) - set(here):
            del st.query_params[name]
        new = {n: values for n, values in here.items() if st.query_params.get_all(n) != values}
        if new:
            st.query_params.update(new)


def _names(prefix: str) -> list[str]:
    """The parameters of the address that keep a control with this prefix."""
    return [name for name in st.query_params if name.startswith(f"{BEFORE}{prefix}_")]


def _is_of(key: str, prefix: str) -> bool:
    return f"{key}_".startswith(f"{prefix}_")
