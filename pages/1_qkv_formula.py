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
from attention_core.dashboard.formula import formula
from attention_core.dashboard.formula_pictures import signed_pictures, weights_picture
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
def follow_the_formula(batch: int, shown: int, other_n_k: int | None) -> None:
    """Sliders, pictures, numbers. What the slider's picture need not wait for comes after it."""
    first, second, third = st.columns(3)
    with first:
        n_q = controls.slider("Number of queries", 1, MAX_N, 5, key="qkv_n")
    with second:
        d_k = controls.slider("Dimensions d_k", 1, MAX_D, 8, key="qkv_d")
    with third:
        seed = controls.slider("Seed", 0, 99, 0, key="qkv_seed")
    n_k = other_n_k or n_q
    q, k, v = cached_qkv(batch, n_q, n_k, d_k, seed, setting.dtype, setting.device)
    steps = attention_steps(q, k, v)

    above, below, question = st.columns(3), st.columns(3), st.container()
    with st.container(horizontal=True):
        i = controls.position("Query i", n_q, key="qkv_i")
        j = controls.position("Key j", n_k, key="qkv_j")
    weights = weights_picture(steps.weights[shown], (i, j))
    with below[0].container(key="qkv_weights_box"):
        show(weights, key="qkv_weights", on_select=choose_cell)

    agreement = compare_with_torch(q, k, v)
    pictures = {"Weights": weights}
    head = (q[shown], k[shown], v[shown], steps.scores[shown], steps.output[shown])
    for place, (name, picture) in zip((*above, *below[1:]), signed_pictures(*head), strict=True):
        with place:
            show(picture, key=f"qkv_{name.lower()}")
        pictures[name] = picture

    click = "click it, or choose it here" if n_q * n_k <= MARKED_CELLS else "choose it here"
    question.markdown(
        f"Query {i} puts **{float(steps.weights[shown, i, j]):.1%}** of its weight on key {j}. "
        f"Where does such a number come from? Take any weight: {click}."
    )
    if controls.toggle("Show how this weight comes about", key="qkv_story"):
        trace = trace_cell(q[shown], k[shown], v[shown], i, j)
        show_cell_story(trace, q[shown], k[shown], key="qkv")

    st.subheader("Is it right?")
    show_overflow(steps.overflow, setting.dtype)
    show_agreement(steps.output, agreement, setting.dtype)
    show_tables(pictures, key="qkv_tables")


setting = open_page(PAGE)
st.markdown(
    "Each token plays three parts. As a **query** it asks, as a **key** it offers to answer, as a "
    "**value** it is what the answer brings. All three are vectors. Dot products compare each "
    "query with each key; the softmax turns the comparisons of one query into weights that sum "
    "to 1; the output is the average of the values under these weights."
)
formula(r"\text{Attention}(Q, K, V) = \text{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right) V")
st.markdown(
    "Read the pictures as the formula reads: above, **Q** meets **K** and makes the scores; below, "
    "the softmax has turned the scores into weights, and they mix the rows of **V**. *Predict "
    "first:* which pictures change shape when there are more queries? When there are more "
    "dimensions?"
)
with st.expander("Batch, and another number of keys", icon=":material/tune:"):
    batch = controls.slider("Batch size", 1, MAX_BATCH, 2, key="qkv_batch")
    shown = controls.position("Element of the batch to show", batch, key="qkv_b")
    cross = controls.toggle("Keys of another sequence", key="qkv_cross")
    other_n_k = controls.slider("Number of keys", 1, MAX_N, 7, key="qkv_nk") if cross else None
follow_the_formula(batch, shown, other_n_k)

with st.expander("The code that ran", icon=":material/code:"):
    st.code(inspect.getsource(attention_steps), language="python")
    st.code(inspect.getsource(attention), language="python")

st.subheader("A question before you go on")
ask_about_symmetry(setting.dtype, setting.device)
close_page(PAGE)
