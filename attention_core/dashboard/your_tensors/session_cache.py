"""Results that are not computed again while nothing has changed: in the session, for it alone.

A cache of Streamlit's would be shared by all learners, or keep what it holds for some time after
the session has ended. Here one result is kept for each slot, and goes with the session.
"""

from collections.abc import Callable, Hashable
from typing import TypeVar, cast

import streamlit as st

Result = TypeVar("Result")

SLOTS = MASK, OVERVIEW, AGREEMENT, SUMS = "own_mask", "own_overview", "own_agreement", "own_sums"


def remembered(slot: str, key: Hashable, compute: Callable[[], Result]) -> Result:
    """What `compute` returned for this key, if that was the last one of this slot."""
    held = st.session_state.get(slot)
    if held is None or held[0] != key:
        st.session_state.pop(slot, None)  # before the next one takes its memory
        held = key, compute()
        st.session_state[slot] = held
    return cast(Result, held[1])
