"""Lesson section 3: hide the future, prove that it is hidden, and know when not to."""

import streamlit as st

from first_screen import first_screen

with first_screen():
    from attention_core import attention_steps, causal, is_causal_difference, mask_tensor
    from attention_core.dashboard.causal_masking.explore import (
        BATCH,
        D,
        choose_sequence,
        show_mask,
        show_one_row,
    )
    from attention_core.dashboard.causal_masking.future import change_the_future
    from attention_core.dashboard.causal_masking.generation import cached_decoding, generate
    from attention_core.dashboard.causal_masking.image_attention import look_at_an_image
    from attention_core.dashboard.causal_masking.mask_story import why_before_the_softmax
    from attention_core.dashboard.causal_masking.notebook import causal_mask_section
    from attention_core.dashboard.lesson import CAUSAL_MASKING as PAGE
    from attention_core.dashboard.page import (
        Matrix,
        close_page,
        displayed,
        formula,
        keep_section,
        open_page,
        show_source,
        show_tables,
    )

settings = open_page(PAGE)
intro = (
    "A language model learns by predicting every next token of a text at once. If the query at "
    "position *i* could attend to position *i* + 1, it would read the answer instead of predicting "
    "it. The **causal mask** lets query *i* attend to keys 0 to *i* and to no later key."
)
masked_tex = r"\text{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}} + M\right) V"
mask_tex = r"M_{ij} = \begin{cases} 0 & j \le i \\ -\infty & j > i \end{cases}"
st.markdown(intro)
formula(masked_tex)
formula(mask_tex)

st.header("The mask")
st.markdown(
    "The same mask in its two forms: what a query **may attend** to, and what is **added** to its "
    "score. *Predict, then move the sliders:* with 12 tokens, how many of the 144 pairs are left? "
    "Which weight is the same for every seed?"
)
found = choose_sequence(settings)
charts = show_mask(found, settings)

st.markdown(
    "**Why exactly 0, and not just very little?** The softmax takes the exponential of each score, "
    "less the largest, m, that the query may see. The exponential of −∞ is exactly 0, "
    "so a hidden key adds nothing to the sum, and 0 divided by the sum is 0. The sum itself is "
    "never 0: a query always sees itself. One weight of this sequence, in numbers:"
)
show_one_row(found)
show_tables(charts, key="mask_tables")
show_source(causal, mask_tensor, attention_steps, is_causal_difference, key="mask_source")
words = (intro, displayed(masked_tex), displayed(mask_tex))
keep_section(
    causal_mask_section(words, n=found.n, seed=found.seed),
    {
        "Weights without the mask": Matrix(found.unmasked.weights[0]),
        "Weights with the mask": Matrix(found.masked.weights[0]),
    },
)

st.header("Change the future")
change_the_future(found.first, found.mask)

st.header("Generate")
steps = cached_decoding(BATCH, found.n, D, found.seed, settings.dtype, settings.device)
generate(found.k[0], steps, found.masked.output[0], found.agreement.tolerance)

st.header("No future in an image")
look_at_an_image(settings)

st.header("Who needs the mask?")
st.markdown(
    "- **GPT-style models** are *autoregressive*: they write one token after the other, each from "
    "those before it. The mask makes training match writing, at all positions at once.\n"
    "- **BERT** fills in words that were blanked out of a finished text, and may look at both "
    "sides of the gap. What it must not see is removed from the input, not from the attention.\n"
    "- **Vision transformers** that classify see the whole picture at once. The patches have "
    "places, but no order in time: no patch comes after another."
)
why_before_the_softmax()
close_page(PAGE)
