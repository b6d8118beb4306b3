"""Controls bound to the address: what a learner sets is in the link, and every value is legal."""

from attention_core.dashboard.controls.choices import (
    assign,
    choice,
    segments,
    select,
    several,
    several_segments,
    text,
    toggle,
)
from attention_core.dashboard.controls.numbers import position, position_to_be, slider, span

__all__ = [
    "assign",
    "choice",
    "position",
    "position_to_be",
    "segments",
    "select",
    "several",
    "several_segments",
    "slider",
    "span",
    "text",
    "toggle",
]
