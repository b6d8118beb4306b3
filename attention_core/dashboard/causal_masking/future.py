"""Change the future: does an edited token move the outputs before it?"""

from functools import partial

import streamlit as st
from torch import Tensor

from attention_core.dashboard import controls
from attention_core.dashboard.causal_masking.notebook import future_section
from attention_core.dashboard.causal_masking.token_edit import QKV, Moved, change_chart, edit, moved
from attention_core.dashboard.charts.chart import show, show_tables
from attention_core.dashboard.export.page_export import keep_section
from attention_core.dashboard.questions.ask import check, choose
from attention_core.dashboard.questions.question import Question
from attention_core.dashboard.questions.verdict import Verdict, judged
from attention_core.dashboard.words import listed

NONE, ONLY, ONWARD, ALL = (
    "None",
    "Only the edited row",
    "The edited row and rows after it",
    "All rows",
)
FUTURE = Question("mask_guess", at_once=True)
ANSWERS = (NONE, ONLY, ONWARD, ALL)
TASK = (
    "Does the mask keep its promise? Put another token at one position, so that its query, key "
    "and value are all new, compute everything again, and compare the outputs row by row."
)


@st.fragment
def change_the_future(qkv: QKV, mask: Tensor) -> None:
    """Predict which outputs an edited token moves, then see, with the mask (n, n) and without."""
    n = len(mask)
    st.markdown(TASK)
    at, content, size = st.columns(3)
    with at:
        position = controls.position("Position to edit", n, key="mask_edit", default=3)
    with content:
        seed = controls.slider("Seed of its new content", 0, 99, 0, key="mask_content")
    with size:
        strength = controls.slider("Strength of its new content", 0.0, 10.0, 1.0, key="mask_size")
    asked = "Predict first: which outputs move **with the mask**?"
    answer = choose(FUTURE, asked, ANSWERS)
    section = partial(future_section, TASK, position=position, seed=seed, strength=strength)
    keep_section(section())
    if answer is None or answer.guess is None:
        return
    edited = edit(qkv, position, seed, strength)
    masked, unmasked = moved(qkv, edited, mask), moved(qkv, edited)
    said, says = answer.guess, _summary(masked, unmasked, position)
    rows = listed([str(i) for i in sorted(masked.rows)] or ["none"])
    verdict = check(
        FUTURE,
        answer,
        _judge(said, masked, position),
        said=said,
        result=f"rows that move with the mask: {rows}",
    )
    keep_section(section(guess=said, verdict=verdict))
    chart = change_chart(masked, unmasked, position)
    show(chart, key="mask_changes")
    st.markdown(says)
    show_tables({"Change of each output row": chart}, key="mask_change_tables")


def _judge(guess: str, masked: Moved, position: int) -> Verdict:
    """Is the prediction right, and why; judged by the rows that moved."""
    rows = masked.rows
    n = len(masked.identical)
    right = {
        NONE: not rows,
        ONLY: rows == {position},
        ONWARD: bool(rows) and min(rows) >= position,
        ALL: len(rows) == n,
    }
    if not right[ONWARD]:
        return judged(right[guess], "Look at the bars: which rows moved?")
    if right[guess]:
        seen = "A token is seen by its own query and by later ones, and by nobody else."
        return judged(True, seen)
    look = "Look at the bars: which rows moved?"
    why = {
        NONE: "The edited position has a new query and sees its own new value.",
        ONLY: "Every later query sees the edited key and value too.",
        ONWARD: look,
        ALL: look
        if position == 0
        else "That would be so without a mask. With it, no query before the edit sees the edit.",
    }
    return judged(False, why[guess])


def _summary(masked: Moved, unmasked: Moved, position: int) -> str:
    """What happened to the rows before the edit, in words that hold for every edit."""
    if position == 0:
        return "Position 0 has no past: there is no earlier output that the mask could protect."
    with_mask, without = (sum(result.identical[:position]) for result in (masked, unmasked))
    largest = max(unmasked.changes[:position])
    return (
        f"Outputs before position {position} that stayed **bit-identical** (`torch.equal`): "
        f"**{with_mask} of {position}** with the mask, {without} of {position} without it. "
        f"Without it they moved by up to {largest:.2g}."
    )
