"""A question that many get wrong: what answers when nothing fits?"""

import streamlit as st
from torch import Tensor

from attention_core.dashboard.charts.bars import bars, short_number
from attention_core.dashboard.charts.chart import show
from attention_core.dashboard.export.page_export import keep_section
from attention_core.dashboard.questions.ask import check, choose
from attention_core.dashboard.questions.question import Question
from attention_core.dashboard.questions.verdict import judged
from attention_core.dashboard.retrieval.findings import headline, verdict
from attention_core.dashboard.retrieval.notebook import absent_section
from attention_core.dashboard.words import Tokens
from attention_core.retrieval import blend, retrieve, tie_tolerance

ABSENT = Question("ret_absent", at_once=True)
NOWHERE, FIRST, LIKEST, EVENLY = (
    "Nowhere: all weights are 0",
    "To key 0, because it is the first",
    "To the key that is most like it",
    "Evenly, to all keys",
)
OVERLOOKED = {
    NOWHERE: "Weights sum to 1, so they cannot all be 0.",
    FIRST: "Dots do not know who is first.",
    LIKEST: "No key is more like it than another.",
    EVENLY: "",
}


def ask_about_absent_token(tokens: Tokens, vocab: Tensor) -> None:
    """Predict, then see: the query is a token of the vocabulary that the sequence does not hold."""
    n, absent = len(tokens.sequence), tokens.absent
    if n == 1:
        st.markdown("One key gets all the weight, whatever you ask. Add a word, and it must share.")
        return
    if absent is None:
        st.markdown("Every word of the vocabulary is in the sequence. Add one that is not.")
        return
    keep_section(absent_section(absent))
    st.text(f"Token {tokens.quoted(absent)} is in the vocabulary, but nowhere in the sequence.")
    asked = "You ask for it. Where does the weight go?"
    answer = choose(ABSENT, asked, tuple(OVERLOOKED))
    if answer is None:
        return
    found = retrieve(blend(vocab, {absent: 1.0}), vocab, tokens.sequence)
    says, largest = headline(found, tokens), short_number(found.weights.max().item())
    right = where_it_goes(found.weights)
    guess = str(answer.guess)
    text = _why(guess, n, largest) if right == EVENLY else says
    told = check(ABSENT, answer, judged(guess == right, text), said=guess, result=says)
    keep_section(absent_section(absent, answer.guess, told))
    chart = bars(
        found.weights,
        [tokens.position(j) for j in range(n)],
        title="Weights for the token that is not there",
        alt_text=says,
    )
    show(chart, key="ret_absent_weights")
    st.text(f"What comes back? {verdict(found, tokens, {absent: 1.0})}")


def where_it_goes(weights: Tensor) -> str:
    """Which of the four answers the weights (n_k,) are."""
    if not weights.any():
        return NOWHERE
    if float(weights.max() - weights.min()) <= tie_tolerance(weights.dtype) * float(weights.max()):
        return EVENLY
    return FIRST if int(weights.argmax()) == 0 else LIKEST


def _why(guess: str, n: int, weight: str) -> str:
    equals = "=" if float(weight) * n == 1 else "≈"
    return (
        f"{OVERLOOKED[guess]} The token has nothing in common with any key, so all {n} dots are 0 "
        f"and all scores are equal. The softmax turns equal scores into equal weights: 1/{n} "
        f"{equals} {weight} for each. It has no way to say *none of you*."
    ).strip()
