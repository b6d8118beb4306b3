"""A question that many get wrong: what answers when nothing fits?"""

import streamlit as st
from torch import Tensor

from attention_core.dashboard.charts.bars import bars, short_number
from attention_core.dashboard.charts.chart import show
from attention_core.dashboard.export.page_export import keep_section
from attention_core.dashboard.questions.gate import predict_first
from attention_core.dashboard.retrieval.findings import headline, verdict
from attention_core.dashboard.retrieval.notebook import absent_section
from attention_core.dashboard.words import Tokens
from attention_core.retrieval import blend, retrieve

EVENLY = "Evenly, to all keys"
ANSWERS = {
    "Nowhere: all weights are 0": "**Not quite.** Weights sum to 1, so they cannot all be 0.",
    "To key 0, because it is the first": "**Not quite.** Dots do not know who is first.",
    "To the key that is most like it": "**Not quite.** No key is more like it than another.",
    EVENLY: "**Right.**",
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
    guess = predict_first(asked, ANSWERS, key="ret_absent")
    if guess is None:
        return
    found = retrieve(blend(vocab, {absent: 1.0}), vocab, tokens.sequence)
    weight = short_number(found.weights.max().item())
    equals = "=" if float(weight) * n == 1 else "≈"
    why = (
        f"{ANSWERS[guess]} The token has nothing in common with any key, so all {n} dots are 0 and "
        f"all scores are equal. The softmax turns equal scores into equal weights: 1/{n} "
        f"{equals} {weight} for each. It has no way to say *none of you*."
    )
    st.markdown(why)
    keep_section(absent_section(absent, guess, why))
    chart = bars(
        found.weights,
        [tokens.position(j) for j in range(n)],
        title="Weights for the token that is not there",
        alt_text=headline(found, tokens),
    )
    show(chart, key="ret_absent_weights")
    st.text(f"What comes back? {verdict(found, tokens, {absent: 1.0})}")
