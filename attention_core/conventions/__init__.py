"""One mask, told to PyTorch in the five ways in which it wants to be told."""

from attention_core.conventions.calls import additive, blocked
from attention_core.conventions.comparison import (
    CONVENTIONS,
    MixUp,
    cannot_say,
    difference_in,
    mix_up,
    output_in,
    outputs,
)
from attention_core.conventions.snippets import snippets

__all__ = [
    "CONVENTIONS",
    "MixUp",
    "additive",
    "blocked",
    "cannot_say",
    "difference_in",
    "mix_up",
    "output_in",
    "outputs",
    "snippets",
]
