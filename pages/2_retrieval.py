"""Lesson section 2: attention as a look-up by content, which may answer with a blend."""

import inspect

import streamlit as st

from first_screen import first_screen

with first_screen():
    from attention_core import DTYPES, blend, compare_with_torch, retrieve, vocabulary
    from attention_core.dashboard import controls
    from attention_core.dashboard.charts.bars import bars
    from attention_core.dashboard.charts.chart import show, show_tables
    from attention_core.dashboard.charts.heatmap import heatmap
    from attention_core.dashboard.export.notebook_section import displayed
    from attention_core.dashboard.export.page_export import keep
    from attention_core.dashboard.export.weight_files import Matrix
    from attention_core.dashboard.frame import close_page, open_page
    from attention_core.dashboard.lesson import RETRIEVAL as PAGE
    from attention_core.dashboard.panels.agreement import show_agreement, show_overflow
    from attention_core.dashboard.panels.formula import formula
    from attention_core.dashboard.panels.value_errors import show_value_errors
    from attention_core.dashboard.retrieval.absent_token import ask_about_absent_token
    from attention_core.dashboard.retrieval.choices import SHARPEST, choose_query, choose_tokens
    from attention_core.dashboard.retrieval.findings import as_code, headline, reasons, verdict
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
    vocab = vocabulary(
        len(tokens.names), sharpness, device=settings.device, dtype=DTYPES[settings.dtype]
    )
    query, keys = blend(vocab, asked), vocab[list(tokens.sequence)]
    found = retrieve(query, vocab, tokens.sequence)
    seen, positions = headline(found, tokens), [tokens.position(j) for j in range(len(keys))]
    row = heatmap(
        found.weights[None],
        title="Weights: one query, one row",
        alt_text=seen,
        rows="query",
        row_labels=["q"],
        column_labels=positions,
        height=150,
        colour_bar=False,
    )
    weights = bars(found.weights, positions, title="Weights", alt_text=seen)
    output = bars(
        found.output,
        [tokens.token(token) for token in range(len(vocab))],
        title="Output = weights · V",
        alt_text=f"Output, one entry for each token. {verdict(found, tokens, asked)}",
        y="entry",
        x="token",
        limit=SHARPEST,
    )
    show(row, key="ret_row")
    for place, chart, key in zip(
        st.columns(2, gap="large"), (weights, output), ("w", "o"), strict=True
    ):
        with place:
            show(chart, key=f"ret_{key}_bars")
    with st.container(border=True):
        st.markdown("**What comes back?** The token with the largest entry in the output.")
        st.text(verdict(found, tokens, asked))
        if not query.any():
            st.caption("The query is the zero vector: it asks for nothing in particular.")

    st.subheader("Why these weights?")
    st.markdown(
        f"Equal dots give equal weights, and the softmax turns a lead of a few points in the score "
        f"into almost everything. Here scale = 1/√{len(vocab)} = {found.steps.scale:.4f}."
    )
    st.dataframe(
        reasons(found, tokens),
        hide_index=True,
        column_config={"weight": st.column_config.TextColumn(alignment="right")},
        alt="How each key came to its weight",
    )
    show_overflow(found.steps.overflow, settings.dtype)
    show_agreement(found.steps.output, compare_with_torch(query, keys, keys), settings.dtype)
    show_tables({"Weights": weights, "Output": output}, key="ret_tables")
    with st.expander("The code that ran", icon=":material/code:"):
        st.code(as_code(sharpness, tokens, asked), language="python", wrap_lines=True)
        for function in (vocabulary, blend, retrieve):
            st.code(inspect.getsource(function), language="python", wrap_lines=True)

    keep(
        retrieval_section((intro, displayed(look_up_tex)), tokens, asked, sharpness),
        {"Weights": Matrix(found.weights[None], ["query"], key_labels(tokens))},
    )

    st.subheader("A question before you go on")
    ask_about_absent_token(tokens, vocab)
close_page(PAGE)
