"""Lesson section 1: every number between queries, keys, values and the output."""

import inspect

import streamlit as st

from attention_core import (
    attention,
    attention_steps,
    compare_with_torch,
    trace_cell,
)
from attention_core.dashboard import controls
from attention_core.dashboard.agreement_panel import show_agreement, show_overflow
from attention_core.dashboard.cell_story import show_cell_story
from attention_core.dashboard.formula_pictures import formula_pictures
from attention_core.dashboard.frame import close_page, open_page
from attention_core.dashboard.heatmap import MARKED_CELLS
from attention_core.dashboard.lesson import QKV_FORMULA as PAGE
from attention_core.dashboard.picture import show, show_tables
from attention_core.dashboard.symmetry import ask_about_symmetry
from attention_core.dashboard.tensors import MAX_BATCH, MAX_D, MAX_N, cached_qkv


def choose_cell() -> None:
    """A click on the weights moves the two selectors."""
    for cell in st.session_state["qkv_weights"]["selection"]["cell"]:
        st.session_state["qkv_i"], st.session_state["qkv_j"] = cell["i"], cell["j"]
        st.session_state["qkv_story"] = True


@st.fragment
def follow_the_formula(dtype: str, device: str) -> None:
    st.markdown(
        "Read the pictures as the formula reads: above, **Q** meets **K** and makes the scores; "
        "below, the softmax has turned the scores into weights, and they mix the rows of **V**. "
        "*Predict first:* which pictures change shape when there are more queries? When there are "
        "more dimensions?"
    )
    first, second, third = st.columns(3)
    with first:
        n_q = controls.slider("Number of queries", 1, MAX_N, 5, key="qkv_n")
    with second:
        d_k = controls.slider("Dimensions d_k", 1, MAX_D, 8, key="qkv_d")
    with third:
        seed = controls.slider("Seed", 0, 99, 0, key="qkv_seed")
    with st.expander("Batch, and another number of keys", icon=":material/tune:"):
        batch = controls.slider("Batch size", 1, MAX_BATCH, 2, key="qkv_batch")
        shown = controls.position("Element of the batch to show", batch, key="qkv_b")
        own_n_k = controls.toggle("Keys of another sequence", key="qkv_cross")
        n_k = controls.slider("Number of keys", 1, MAX_N, 7, key="qkv_nk") if own_n_k else n_q

    q, k, v = cached_qkv(batch, n_q, n_k, d_k, seed, dtype, device)
    steps = attention_steps(q, k, v)
    above, below = st.columns(3), st.columns(3)
    click = "click a weight, or choose it here" if n_q * n_k <= MARKED_CELLS else "choose a weight"
    st.markdown(f"**Where does one number come from?** To see it, {click}:")
    with st.container(horizontal=True):
        i = controls.position("Query i", n_q, key="qkv_i")
        j = controls.position("Key j", n_k, key="qkv_j")
    story = controls.toggle(f"Show how weight ({i}, {j}) comes about", key="qkv_story")

    pictures = formula_pictures(q, k, v, steps, shown, (i, j))
    order = ("Q", "K", "Scores", "Weights", "V", "Output")
    places = dict(zip(order, (*above, *below), strict=True))
    for name, picture in pictures.items():
        with places[name].container(key=f"qkv_{name.lower()}_box"):
            show(picture, key=f"qkv_{name.lower()}", on_select=choose_cell)
    if story:
        trace = trace_cell(q[shown], k[shown], v[shown], i, j)
        show_cell_story(trace, q[shown], k[shown], key="qkv")

    st.subheader("Is it right?")
    show_overflow(steps.overflow, dtype)
    show_agreement(steps.output, compare_with_torch(q, k, v), dtype)
    show_tables(pictures, key="qkv_tables")


setting = open_page(PAGE)
st.markdown(
    "Each token plays three parts. As a **query** it asks, as a **key** it offers to answer, as a "
    "**value** it is what the answer brings. All three are vectors. Dot products compare each "
    "query with each key; the softmax turns the comparisons of one query into weights that sum "
    "to 1; the output is the average of the values under these weights."
)
st.latex(r"\text{Attention}(Q, K, V) = \text{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right) V")
follow_the_formula(setting.dtype, setting.device)

with st.expander("The code that ran", icon=":material/code:"):
    st.code(inspect.getsource(attention_steps), language="python")
    st.code(inspect.getsource(attention), language="python")

st.subheader("A question before you go on")
ask_about_symmetry(setting.dtype, setting.device)
close_page(PAGE)
