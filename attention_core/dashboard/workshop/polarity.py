"""What happens to a mask that is read the other way round: guess, then see."""

import streamlit as st
from torch import Tensor

from attention_core.agreement import compare_with_torch
from attention_core.attention import attention
from attention_core.conventions import MixUp, mix_up
from attention_core.dashboard.gate import predict_first
from attention_core.dashboard.heatmap import heatmap
from attention_core.dashboard.notebooks.workshop_conventions import mix_up_chapter
from attention_core.dashboard.picture import Picture, show, show_tables
from attention_core.dashboard.take_away import keep
from attention_core.dashboard.workshop.in_hand import MaskInHand
from attention_core.torch_calls import blocked

SAME, ERROR, OPPOSITE, NOTHING = ANSWERS = (
    "The same output",
    "An error",
    "Each query attends to just what was hidden from it",
    "NaN in every row",
)
TASK = (
    "Predict first: somebody takes the program for `MultiheadAttention` and writes "
    "`attn_mask=mask` without the `~`. What comes out?"
)


def show_mix_up(hand: MaskInHand) -> None:
    """The mask that every other convention wants, given to `nn.MultiheadAttention`."""
    keep(mix_up_chapter(TASK))
    guess = predict_first(TASK, ANSWERS, key="work_conv_guess")
    if guess is None:
        return
    q, k, v, mask = hand.q, hand.k, hand.v, hand.mask
    found = mix_up(q, k, v, mask)
    verdict = feedback(guess, found, compare_with_torch(q, k, v).tolerance)
    st.markdown(verdict)
    keep(mix_up_chapter(TASK, guess, verdict))
    pictures = {
        "Meant": _weights("Weights that were meant", attention(q, k, v, mask)[1], mask),
        "Mixed up": _weights(
            "Weights after the mix-up", attention(q, k, v, blocked(mask))[1], blocked(mask)
        ),
    }
    for place, (name, picture) in zip(st.columns(2), pictures.items(), strict=True):
        with place:
            show(picture, key=f"work_conv_{name.split()[0].lower()}")
    show_tables(pictures, key="work_conv_tables")


def feedback(guess: str, found: MixUp, tolerance: float) -> str:
    """Is the prediction right, and the two differences that decide it."""
    opposite = found.from_opposite <= tolerance
    right = OPPOSITE if opposite else SAME if found.from_meant <= tolerance else ""
    dead = ""
    if found.dead:
        who = "1 query that saw every key sees" if found.dead == 1 else None
        who = who or f"{found.dead} queries that saw every key see"
        dead = f" {who} none now: a dead row, with the output 0."
    verdict = "**Right.**" if guess == right else "**Not quite.**" + f" {right}." * bool(right)
    return (
        f"{verdict} No error, and no warning: the shapes fit. The output is "
        f"{found.from_meant:.2g} away from the one that was meant, and {found.from_opposite:.1e} "
        f"from attention with the *opposite* mask.{dead}"
    )


def _weights(title: str, weights: Tensor, mask: Tensor) -> Picture:
    hidden = int((~mask).sum())
    alt_text = f"{title}: {hidden} of {mask.numel()} pairs are hidden."
    return heatmap(weights, title=title, alt_text=alt_text, mask=mask)
