"""Controls bound to the address: what a learner sets is in the link, and every value is legal."""

from attention_core.dashboard.controls.widgets import (
    assign,
    choice,
    position,
    position_to_be,
    segments,
    select,
    several,
    several_segments,
    slider,
    span,
    text,
    toggle,
)

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
