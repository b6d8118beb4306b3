"""Which sequence and which head the pictures show."""

import streamlit as st

from attention_core.dashboard import controls
from attention_core.dashboard.bug_lab.conditions import Conditions


def choose_place(conditions: Conditions) -> tuple[int, int]:
    """The sequence and the head; of one alone there is nothing to choose."""
    sequence = head = 0
    with st.container(horizontal=True, width=420):
        if conditions.batch > 1:
            sequence = controls.position("Show sequence", conditions.batch, key="lab_sequence")
        if conditions.heads > 1:
            head = controls.position("Show head", conditions.heads, key="lab_head")
    return sequence, head
