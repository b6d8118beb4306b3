"""Lesson section 3: hide the future, prove that it is hidden, and know when not to."""

import streamlit as st

from first_screen import first_screen

with first_screen():
    from attention_core import (
        attention_steps,
        causal,
        compare_with_is_causal,
        compare_with_torch,
        future_weight,
        mask_tensor,
        trace_cell,
    )
    from attention_core.dashboard import controls
    from attention_core.dashboard.causal_masking.future import change_the_future
    from attention_core.dashboard.causal_masking.generation import cached_decoding, generate
    from attention_core.dashboard.causal_masking.image_attention import look_at_an_image
    from attention_core.dashboard.causal_masking.mask_story import (
        mask_charts,
        softmax_with_numbers,
        weights_heatmaps,
        why_before_the_softmax,
    )
    from attention_core.dashboard.causal_masking.notebook import causal_mask_section
    from attention_core.dashboard.charts.chart import show, show_tables
    from attention_core.dashboard.charts.hidden_cells import hidden_cells
    from attention_core.dashboard.export.notebook_section import displayed
    from attention_core.dashboard.export.page_export import keep
    from attention_core.dashboard.export.weight_files import Matrix
    from attention_core.dashboard.frame import close_page, open_page
    from attention_core.dashboard.lesson import CAUSAL_MASKING as PAGE
    from attention_core.dashboard.panels.agreement import show_agreement, show_overflow
    from attention_core.dashboard.panels.formula import formula
    from attention_core.dashboard.panels.source import show_source
    from attention_core.dashboard.tensors import MAX_N, cached_qkv

BATCH, D = 2, 8  # the lesson's

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
left, right = st.columns(2)
with left:
    n = controls.slider("Sequence length", 1, MAX_N, 5, key="mask_n")
with right:
    seed = controls.slider("Seed", 0, 99, 0, key="mask_seed")
q, k, v = cached_qkv(BATCH, n, n, D, seed, settings.dtype, settings.device)
mask = mask_tensor(causal, n, n, settings.device)
masked, unmasked = attention_steps(q, k, v, mask[None]), attention_steps(q, k, v)
both = {"without": unmasked, "with": masked}
charts = {**mask_charts(mask), **weights_heatmaps(unmasked.weights[0], masked.weights[0], mask)}
for place, (name, chart) in zip((*st.columns(2), *st.columns(2)), charts.items(), strict=True):
    with place:
        show(chart, key=f"mask_{name}")

st.markdown(
    f"Query 0 sees key 0 only, and gives it the weight {float(masked.weights[0, 0, 0]):g}, "
    f"whatever the score. Query {n - 1} sees {int(mask[-1].sum())} of {n} keys. The pictures show "
    f"the first of {BATCH} sequences, the numbers below hold for all. {hidden_cells(n)}"
)
ahead, behind, fused = st.columns(3)
ahead.metric("Largest weight on a future key, unmasked", f"{future_weight(unmasked.weights):.4f}")
behind.metric("Largest weight on a future key, masked", f"{future_weight(masked.weights):g}")
fused.metric("Max abs diff to is_causal=True", f"{compare_with_is_causal(q, k, v):.2e}")
show_overflow(masked.overflow, settings.dtype)
agreement = compare_with_torch(q, k, v, mask[None])
show_agreement(masked.output, agreement, settings.dtype)

st.markdown(
    "**Why exactly 0, and not just very little?** The softmax takes the exponential of each score, "
    "less the largest, m, that the query may see. The exponential of −∞ is exactly 0, "
    "so a hidden key adds nothing to the sum, and 0 divided by the sum is 0. The sum itself is "
    "never 0: a query always sees itself. One weight of this sequence, in numbers:"
)
row = min(1, max(0, n - 2))  # its last key is in the future, if there is a future at all
formula(softmax_with_numbers(trace_cell(q[0], k[0], v[0], row, n - 1, mask)))
show_tables(charts, key="mask_tables")
show_source(causal, mask_tensor, attention_steps, compare_with_is_causal, key="mask_source")

keep(
    causal_mask_section((intro, displayed(masked_tex), displayed(mask_tex)), n=n, seed=seed),
    {f"Weights {how} the mask": Matrix(steps.weights[0]) for how, steps in both.items()},
)

st.header("Change the future")
change_the_future((q[0], k[0], v[0]), mask)

st.header("Generate")
steps = cached_decoding(BATCH, n, D, seed, settings.dtype, settings.device)
generate(k[0], steps, masked.output[0], agreement.tolerance)

st.header("No future in an image")
look_at_an_image(settings.dtype, settings.device)

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
