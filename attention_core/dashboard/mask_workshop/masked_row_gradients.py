"""Which treatment of a dead row can be trained: a prediction, and where the gradients hold NaN."""

import streamlit as st
from torch import Tensor

from attention_core.dashboard.export.page_export import keep_section
from attention_core.dashboard.mask_workshop.masked_rows_notebook import training_section
from attention_core.dashboard.questions.ask import check, choose
from attention_core.dashboard.questions.question import Question
from attention_core.dashboard.questions.verdict import judged
from attention_core.masked_rows import MaskedRowAnswer

SHOWN = ("NaN", "uniform", "zero")  # side by side; the fourth joins them in the gradients
TITLES = {
    "NaN": "NaN: plain softmax",
    "uniform": "Uniform: finite number",
    "zero": "Zero: defined as nothing",
    "patched": "NaN, replaced by 0 afterwards",
}
ANSWERS = {"Zero only": {"zero"}, "Uniform and zero": {"uniform", "zero"}, "All three": set(SHOWN)}
SPOILED = (
    " The loss never reads the dead row, and still one NaN in it is enough: on the way back it "
    "is multiplied by 0, and 0 · NaN is NaN. Every key and every value was part of that row, "
    "so all of them are spoiled; one step of training later, so is the model."
)
TRAINABLE = Question("work_dead_guess", at_once=True)
OVERLOOKED = {
    "Zero only": " The uniform answer is wrong, but every number in it is finite.",
    "All three": " Look at the first line of the table.",
}


def ask_which_can_learn(answers: dict[str, MaskedRowAnswer], mask: Tensor) -> None:
    """Predict, then see which gradients are finite; `mask` (n_q, n_k) has a dead row."""
    live = int(mask.any(-1).sum())
    task = (
        "**Which of them can be trained?** Nobody reads the output of a dead row, so let the loss, "
        "the number that training makes small, leave it out: the sum of all outputs of the queries "
        f"that see a key, {live} of {len(mask)}. Its *gradients* say how to change q, k and v."
    )
    st.markdown(task)
    asked = "Predict first: which answers give gradients without NaN?"
    answer = choose(TRAINABLE, asked, tuple(ANSWERS))
    keep_section(training_section(f"{task}\n\n{asked}"))
    if answer is None:
        return
    guess = str(answer.guess)
    trainable = {name for name in SHOWN if not answers[name].spoiled}
    why = OVERLOOKED.get(guess, "") if trainable == ANSWERS["Uniform and zero"] else ""
    if "NaN" not in trainable:
        why += SPOILED
    finite = ", ".join(name for name in SHOWN if name in trainable) or "none"
    verdict = check(
        TRAINABLE,
        answer,
        judged(ANSWERS[guess] == trainable, why.strip()),
        said=guess,
        result=f"gradients without NaN: {finite}",
    )
    keep_section(training_section(f"{task}\n\n{asked}", guess, verdict))
    st.markdown(gradient_table(answers))
    st.markdown(
        "The last line is the classic half-cure: the pictures look right, and the gradients are "
        "still NaN. A dead row must be kept out of the softmax, not cleaned up after it. "
        "**Why zero?** A query that saw nothing has nothing to say: its token keeps what it had, "
        "no hidden value leaks out, and every gradient is finite."
    )


def gradient_table(answers: dict[str, MaskedRowAnswer]) -> str:
    """Where each answer's gradients hold NaN, as a Markdown table."""
    lines = ["| answer | gradient of q | gradient of k | gradient of v |", "|---|---|---|---|"]
    for name in (*SHOWN, "patched"):
        answer = answers[name]
        cells = " | ".join(map(nan_in_words, (answer.dq, answer.dk, answer.dv)))
        lines.append(f"| {TITLES[name]} | {cells} |")
    return "\n".join(lines)


def nan_in_words(gradient: Tensor) -> str:
    """How many rows (n, d) hold NaN."""
    bad = int(gradient.isnan().any(-1).sum())
    return f"**NaN** in {bad} of {len(gradient)} rows" if bad else "finite"
