"""What happens to a mask that is read the other way round: guess, then see."""

import streamlit as st
from torch import Tensor

from attention_core.agreement import compare_with_torch
from attention_core.attention import attention
from attention_core.conventions import MixUp, mix_up
from attention_core.conventions.calls import blocked
from attention_core.dashboard.charts.chart import Chart, show, show_tables
from attention_core.dashboard.charts.heatmap import heatmap
from attention_core.dashboard.export.page_export import keep_section
from attention_core.dashboard.mask_workshop.conventions_notebook import mix_up_section
from attention_core.dashboard.mask_workshop.current_mask import CurrentMask
from attention_core.dashboard.questions.ask import check, choose
from attention_core.dashboard.questions.question import Question
from attention_core.dashboard.questions.verdict import Verdict, judged

POLARITY = Question("work_conv_guess", at_once=True)
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


def show_mix_up(current: CurrentMask) -> None:
    """The mask that every other convention wants, given to `nn.MultiheadAttention`."""
    keep_section(mix_up_section(TASK))
    answer = choose(POLARITY, TASK, ANSWERS)
    if answer is None:
        return
    guess = str(answer.guess)
    q, k, v, mask = current.q, current.k, current.v, current.mask
    found = mix_up(q, k, v, mask)
    verdict = check(
        POLARITY,
        answer,
        judge(guess, found, compare_with_torch(q, k, v).tolerance),
        said=guess,
        result=f"{found.from_meant:.2g} away from the output that was meant, "
        f"{found.from_opposite:.1e} from that of the opposite mask",
    )
    keep_section(mix_up_section(TASK, guess, verdict))
    charts = {
        "Meant": _weights("Weights that were meant", attention(q, k, v, mask)[1], mask),
        "Mixed up": _weights(
            "Weights after the mix-up", attention(q, k, v, blocked(mask))[1], blocked(mask)
        ),
    }
    for place, (name, chart) in zip(st.columns(2), charts.items(), strict=True):
        with place:
            show(chart, key=f"work_conv_{name.split()[0].lower()}")
    show_tables(charts, key="work_conv_tables")


def judge(guess: str, found: MixUp, tolerance: float) -> Verdict:
    """Is the prediction right, and the two differences that decide it."""
    opposite = found.from_opposite <= tolerance
    right = OPPOSITE if opposite else SAME if found.from_meant <= tolerance else ""
    fully_masked = ""
    if found.fully_masked:
        who = "1 query that saw every key sees" if found.fully_masked == 1 else None
        who = who or f"{found.fully_masked} queries that saw every key see"
        fully_masked = f" {who} none now: a dead row, with the output 0."
    correction = f"{right}. " if right and guess != right else ""
    return judged(
        guess == right,
        f"{correction}No error, and no warning: the shapes fit. The output is "
        f"{found.from_meant:.2g} away from the one that was meant, and {found.from_opposite:.1e} "
        f"from attention with the *opposite* mask.{fully_masked}",
    )


def _weights(title: str, weights: Tensor, mask: Tensor) -> Chart:
    hidden = int((~mask).sum())
    alt_text = f"{title}: {hidden} of {mask.numel()} pairs are hidden."
    return heatmap(weights, title=title, alt_text=alt_text, mask=mask)
