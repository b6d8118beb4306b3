"""What the retrieval page lets a learner choose: the tokens, and the query made of them."""

import streamlit as st

from attention_core.dashboard import controls
from attention_core.dashboard.words import LESSON, MAX_WORDS, Tokens, read_words

SHARPEST = 10.0  # a hard look-up: the token that is asked for leaves others a few billionths
MOST_ASKED = 4
OWN_WORDS = "My own words"


def choose_tokens() -> Tokens:
    """The lesson's tokens, or the words that the learner types."""
    if controls.segments("Tokens", ("The lesson's", OWN_WORDS), key="ret_from") != OWN_WORDS:
        return LESSON
    sequence, further = st.columns([2, 1])
    with sequence:
        text = controls.text(
            f"Your sequence, {MAX_WORDS} words at most", "the cat sat on the mat", key="ret_words"
        )
    with further:
        more = controls.text("Also in the vocabulary", "dog", key="ret_further", limit=20)
    tokens = read_words(text, more)
    if tokens.note:
        st.info(tokens.note, icon=":material/edit:")
    st.markdown(
        "*Predict:* if a word stands in two positions, which of them answers when you ask for it: "
        "the first, the last, or both? And does the whole word get more weight than another would? "
        "Then ask."
    )
    return tokens


def choose_query(tokens: Tokens) -> dict[int, float]:
    """Any tokens of the vocabulary, MOST_ASKED at most, each with a coefficient."""
    size = len(tokens.names)
    asked = controls.several(
        "Ask for these tokens of the vocabulary",
        range(size),
        [2],
        key="ret_tokens",
        labels=tokens.token,
        most=MOST_ASKED,
    )
    coefficients: dict[int, float] = {}
    for token, place in zip(asked, st.columns(MOST_ASKED), strict=False):
        with place, st.container(gap="xxsmall"):
            if tokens.names[token]:
                st.text(tokens.token(token))  # not in the slider's label, which is Markdown
            coefficients[token] = controls.slider(
                f"Coefficient of token {token}", -2.0, 2.0, 1.0, step=0.1, key=f"ret_c{token}"
            )
    return coefficients
