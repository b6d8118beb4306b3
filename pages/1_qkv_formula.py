"""Lesson section 1: every number between queries, keys, values and the output."""

import streamlit as st

from first_screen import first_screen

with first_screen():
    from attention_core import attention, attention_steps
    from attention_core.dashboard.lesson import QKV_FORMULA as PAGE
    from attention_core.dashboard.page import (
        close_page,
        displayed,
        formula,
        open_page,
        show_source,
    )
    from attention_core.dashboard.qkv_formula.explore import choose_batch, follow_the_formula
    from attention_core.dashboard.qkv_formula.symmetry import ask_about_symmetry

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
batch, shown, other_n_k = choose_batch()
words = (intro, displayed(attention_tex), reading)
follow_the_formula(settings, words, batch, shown, other_n_k)

show_source(attention_steps, attention, key="qkv_source")

st.subheader("A question before you go on")
ask_about_symmetry(settings)
close_page(PAGE)
