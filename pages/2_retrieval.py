"""Lesson section 2: attention as a look-up by content, which may answer with a blend."""

import streamlit as st

from first_screen import first_screen

with first_screen():
    from attention_core.dashboard.lesson import RETRIEVAL as PAGE
    from attention_core.dashboard.page import (
        Matrix,
        close_page,
        controls,
        displayed,
        formula,
        keep_section,
        open_page,
        show_value_errors,
    )
    from attention_core.dashboard.retrieval.absent_token import ask_about_absent_token
    from attention_core.dashboard.retrieval.choices import SHARPEST, choose_query, choose_tokens
    from attention_core.dashboard.retrieval.look_up import look_up, show_answer, show_reasons
    from attention_core.dashboard.retrieval.notebook import key_labels, retrieval_section

settings = open_page(PAGE)
intro = (
    "A dictionary answers only if a key matches exactly. Attention always answers: the query asks, "
    "every key is compared with it, and the values come back mixed, each in the proportion in "
    "which its key matched. Here keys and values are the same: the *tokens*, "
    "the pieces such as words, of a short sequence. A token is *one-hot*: a row as long as the "
    "*vocabulary*, the list of all tokens, with zeros but for one entry, the *sharpness*, at the "
    "token's own place. The query is a sum of tokens, each times its coefficient. The *softmax* "
    "turns scores into weights that sum to 1, and $d_k$ is the length of a query or key:"
)
look_up_tex = r"""\begin{gathered}
    \text{weights} = \text{softmax}\!\left(\frac{q K^\top}{\sqrt{d_k}}\right) \\
    \text{output} = \text{weights} \cdot V, \qquad K = V
    \end{gathered}"""
st.markdown(intro)
formula(look_up_tex)

st.subheader("Ask, and see what answers")
tokens = choose_tokens()
st.markdown(
    "*Predict first:* with sharpness 0, what can the query still tell apart? If you ask for two "
    "tokens at once, do you get one of them, or both? And with a coefficient below 0?"
)
sharpness = controls.slider(
    "Sharpness: the entry of a token at its own place",
    0.0,
    SHARPEST,
    5.0,
    step=0.1,
    key="ret_sharpness",
)
asked = choose_query(tokens)

with show_value_errors():
    answer = look_up(tokens, asked, sharpness, settings)
    charts = show_answer(answer)

    st.subheader("Why these weights?")
    show_reasons(answer, charts, settings)
    keep_section(
        retrieval_section((intro, displayed(look_up_tex)), tokens, asked, sharpness),
        {"Weights": Matrix(answer.found.weights[None], ["query"], key_labels(tokens))},
    )

    st.subheader("A question before you go on")
    ask_about_absent_token(tokens, answer.vocab)
close_page(PAGE)
