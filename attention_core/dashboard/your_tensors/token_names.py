"""Names for positions, from a line that a learner types or pastes: data, shown as text only."""

import re
from collections.abc import Callable

import streamlit as st

from attention_core.dashboard import controls
from attention_core.dashboard.words import Tokens
from attention_core.dashboard.your_tensors.weights_map import Name

LONGEST = 2000  # characters: more would not fit the address
_BETWEEN = re.compile(r"[\s,]+")


def choose_names(n_q: int, n_k: int) -> tuple[Name, Name]:
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


def token_names(text: str, n: int) -> tuple[Callable[[int], str], str | None]:
    """The name of each position from 0 to n - 1, as in `4 · the`, and what to say about it.

    Names stand between white space or commas, and may repeat. Positions without one are numbers;
    names without a position are left out.
    """
    words = [word for word in _BETWEEN.split(text) if word]
    tokens = Tokens((*words[:n], *[""] * (n - len(words))), tuple(range(n)))
    if not words or len(words) == n:
        return tokens.position, None
    if len(words) < n:
        left = "1 position has" if n - len(words) == 1 else f"{n - len(words)} positions have"
        return tokens.position, f"{len(words)} of {n} positions are named: {left} a number only."
    return tokens.position, f"There are {n} positions: only the first {n} of {len(words)} are used."
