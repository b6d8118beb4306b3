"""Lesson section 1: every number between queries, keys, values and the output."""

import streamlit as st

from first_screen import first_screen

with first_screen():
    from attention_core import attention, attention_steps, compare_with_torch, trace_cell
    from attention_core.dashboard import controls
    from attention_core.dashboard.charts.chart import show, show_tables, yield_to_browser
    from attention_core.dashboard.charts.heatmap import MARKED_CELLS
    from attention_core.dashboard.export.notebook_section import displayed
    from attention_core.dashboard.export.page_export import keep
    from attention_core.dashboard.export.weight_files import Matrix
    from attention_core.dashboard.frame import close_page, open_page
    from attention_core.dashboard.lesson import QKV_FORMULA as PAGE
    from attention_core.dashboard.panels.agreement import show_agreement, show_overflow
    from attention_core.dashboard.panels.formula import formula
    from attention_core.dashboard.panels.source import show_source
    from attention_core.dashboard.qkv_formula.cell_story import show_cell_story
    from attention_core.dashboard.qkv_formula.formula_charts import signed_charts, weights_heatmap
    from attention_core.dashboard.qkv_formula.notebook import formula_section
    from attention_core.dashboard.qkv_formula.symmetry import ask_about_symmetry
    from attention_core.dashboard.tensors import MAX_BATCH, MAX_D, MAX_N, cached_qkv

KEY = 4  # to begin with: query 0 gives it most of its weight
SEED = "Where the random numbers start: the same seed gives the same Q, K and V everywhere."


def choose_cell() -> None:
    """A click on the weights moves the two selectors."""
    for cell in st.session_state["qkv_weights"]["selection"]["cell"]:
        st.session_state["qkv_i"], st.session_state["qkv_j"] = cell["i"], cell["j"]
        st.session_state["qkv_story"] = True


@st.fragment
def follow_the_formula(batch: int, shown: int, other_n_k: int | None) -> None:
    """Sliders, pictures, numbers. What the slider's picture need not wait for comes after it."""
    first, second, third = st.columns(3)
    with first:
        label = "Number of queries" if other_n_k else "Sequence length"
        n_q = controls.slider(label, 1, MAX_N, 5, key="qkv_n")
    with second:
        d_k = controls.slider("Dimensions d_k", 1, MAX_D, 8, key="qkv_d")
    with third:
        seed = controls.slider("Seed", 0, 99, 0, key="qkv_seed", help=SEED)
    n_k = other_n_k or n_q
    q, k, v = cached_qkv(batch, n_q, n_k, d_k, seed, settings.dtype, settings.device)
    steps = attention_steps(q, k, v)

    choice, above, below = st.container(horizontal=True), st.columns(3), st.columns(3)
    chosen = (
        controls.position_to_be(n_q, key="qkv_i"),
        controls.position_to_be(n_k, key="qkv_j", default=KEY),
    )
    weights = weights_heatmap(steps.weights[shown], chosen)
    with below[0].container(key="qkv_weights_box"):
        show(weights, key="qkv_weights", on_select=choose_cell)
    yield_to_browser()

    head = (q[shown], k[shown], v[shown], steps.scores[shown], steps.output[shown])
    charts = {"Weights": weights, **dict(signed_charts(*head))}
    agreement = compare_with_torch(q, k, v)
    sizes = {"batch": batch, "shown": shown, "n_q": n_q, "n_k": n_k, "d_k": d_k, "seed": seed}
    keep(
        formula_section((intro, displayed(attention_tex), reading), **sizes, chosen=chosen),
        {"Weights": Matrix(steps.weights[shown])},
    )

    with choice:
        i = controls.position("Look at query i", n_q, key="qkv_i")
        j = controls.position("and key j", n_k, key="qkv_j", default=KEY)
    for place, name in zip((*above, *below[1:]), ("Q", "K", "Scores", "V", "Output"), strict=True):
        with place:
            show(charts[name], key=f"qkv_{name.lower()}")
    click = ", or click on it" if n_q * n_k <= MARKED_CELLS else ""
    st.markdown(
        f"Query {i} puts **{100 * float(steps.weights[shown, i, j]):.1f} %** of its weight on key "
        f"{j}; an even share among {n_k} {'keys' if n_k > 1 else 'key'} is {100 / n_k:.3g} %. "
        f"Where does this number come from? Choose another one in the lists above{click}."
    )
    if controls.toggle("Show how this weight comes about", key="qkv_story"):
        trace = trace_cell(q[shown], k[shown], v[shown], i, j)
        show_cell_story(trace, q[shown], k[shown], key="qkv")

    st.subheader("Is it right?")
    if batch > 1:
        st.markdown(f"For all {batch} sequences of the *batch*, of which the pictures show one:")
    show_overflow(steps.overflow, settings.dtype)
    show_agreement(steps.output, agreement, settings.dtype)
    show_tables(charts, key="qkv_tables")


settings = open_page(PAGE)
intro = (
    "A text comes as *tokens*, words or pieces of words, and each token plays three parts. As a "
    "**query** it asks, as a **key** it offers to answer, as a **value** it is what the answer "
    "brings. All three are vectors: rows of Q, K and V. Dot products compare each query with each "
    "key, entry by entry over their d_k dimensions; divided by √d_k, so that they do not grow with "
    "the dimensions, they are the *scores*. The *softmax* turns the scores of one query "
    "into weights: exponentials, divided by their sum, so that they add up to 1. The output is the "
    "average of the values under these weights."
)
attention_tex = (
    r"\text{Attention}(Q, K, V) = \text{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right) V"
)
reading = (
    "A trained model computes Q, K and V from its tokens. Here they are random numbers, so that "
    "nothing but the formula decides. Read the pictures as it reads: above, **Q** meets **K** and "
    "makes the scores; below, the weights mix the rows of **V**. *Predict first:* which pictures "
    "change shape when the sequence grows? When there are more dimensions?"
)
st.markdown(intro)
formula(attention_tex)
st.markdown(reading)
with st.expander("Batch, and keys of another sequence", icon=":material/tune:"):
    st.markdown("A batch is several sequences, computed at once. The pictures show one of them.")
    batch = controls.slider("Batch size", 1, MAX_BATCH, 2, key="qkv_batch")
    shown = controls.position("Element of the batch to show", batch, key="qkv_b")
    cross = controls.toggle("Keys of another sequence", key="qkv_cross")
    other_n_k = controls.slider("Number of keys", 1, MAX_N, 7, key="qkv_nk") if cross else None
follow_the_formula(batch, shown, other_n_k)

show_source(attention_steps, attention, key="qkv_source")

st.subheader("A question before you go on")
ask_about_symmetry(settings.dtype, settings.device)
close_page(PAGE)
