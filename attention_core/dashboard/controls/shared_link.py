"""What a link can hide from those who follow it: solutions, and controls whose values it fixes.

    /qkv_formula?qkv_seed=7&hide=qkv_seed&hide=solutions

The address stays in the learner's hands, so this keeps a class on track; it locks nothing away.
"""

import re
from collections.abc import Callable
from math import isfinite
from typing import TypeVar

import streamlit as st

Value = TypeVar("Value")

HIDE, SOLUTIONS = "hide", "solutions"
MOST = 50  # names that one link can hide
_LINK = "shared_link"
_NAME = re.compile(r"solutions|device|dtype|[a-z]+_\w{1,40}", re.ASCII)


def take_up_link() -> None:
    """Remember what the link hides, and write it back where a change of page has dropped it."""
    given = st.query_params
    if HIDE in given:
        names = [name for name in given.get_all(HIDE)[:MOST] if _NAME.fullmatch(name)]
        fixed = {name: given.get_all(name) for name in names if name in given}
        earlier = st.session_state.get(_LINK, {})
        st.session_state[_LINK] = {**earlier, **fixed, HIDE: names}
    for name, values in st.session_state.get(_LINK, {}).items():
        if name not in given and values:
            given[name] = values


def hides(name: str) -> bool:
    """Whether the link hides the control with this key, or all SOLUTIONS."""
    return name in st.session_state.get(_LINK, {}).get(HIDE, ())


def hides_anything() -> bool:
    """Whether the learner came by a link that hides something."""
    return bool(st.session_state.get(_LINK, {}).get(HIDE))


def fixed(key: str, default: Value, read: Callable[[list[str]], Value]) -> Value:
    """The value of a hidden control: a button's, else the link's if `read` takes it, else default.

    `read` gets all values of this name in the address, and raises LookupError or ValueError for
    what makes no sense.
    """
    if key in st.session_state:
        value: Value = st.session_state[key]
        return value
    try:
        return read(st.session_state[_LINK].get(key, []))
    except (LookupError, ValueError):
        return default


def number(values: list[str]) -> float:
    """The finite number that the address gives."""
    found = float(values[-1])
    if not isfinite(found):
        raise ValueError(f"a finite number is needed: {found}")
    return found
