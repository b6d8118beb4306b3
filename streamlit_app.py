"""The Overview, and the entry point: what the lesson holds, and where you are in it."""

from itertools import groupby

import streamlit as st

from first_screen import first_screen

with first_screen():
    from attention_core.dashboard import lesson
    from attention_core.dashboard.lesson import OVERVIEW as PAGE
    from attention_core.dashboard.lesson import PAGES
    from attention_core.dashboard.overview.first_weights import show_first_weights
    from attention_core.dashboard.overview.notebook import overview_section
    from attention_core.dashboard.page import (
        Matrix,
        arriving,
        close_page,
        displayed,
        formula,
        keep_section,
        open_page,
        yield_to_browser,
    )
    from attention_core.dashboard.progress.copy import offer_progress_file
    from attention_core.dashboard.progress.table import show_progress

ADVICE = {
    "The lesson": "Best in this order; every page also stands on its own.",
    "Beyond the lesson": "For when you have seen the lesson, in any order.",
}

chart_is_new = arriving(PAGE)
settings = open_page(PAGE)

idea, chart = st.columns(2, gap="large")
with idea:
    intro = (
        "Attention lets every token look at every other one and take from it what it needs. It is "
        "one formula:"
    )
    attention_tex = r"\mathrm{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V"
    st.markdown(intro)
    formula(attention_tex)
    st.markdown(
        "Everything in this lesson is computed while you watch, by a few lines of PyTorch that you "
        "can read on every page, and held against PyTorch's own attention."
    )
    st.markdown("**Afterwards you will be able to**")
    st.markdown(
        "- say where every single number of an attention layer comes from\n"
        "- use attention as a soft look-up, and say what a blended query finds\n"
        "- hide the future with a mask, prove that it is hidden, and say when not to\n"
        "- say what the scale is for, and when it is in the way\n"
        "- tell a local window from a convolution\n"
        "- write any mask as a rule, and know a wrong implementation by its symptoms"
    )
with chart:
    steps = show_first_weights(settings)
    if chart_is_new:
        yield_to_browser(0.2)
    keep_section(
        overview_section((intro, displayed(attention_tex))), {"Weights": Matrix(steps.weights)}
    )

st.header("The parts")
for group, pages in groupby(PAGES[1:], key=lambda page: page.group):
    parts = list(pages)
    minutes = sum(page.minutes for page in parts)
    st.markdown(f"**{group}**, about {minutes} minutes. {ADVICE[group]}")
    for first in range(0, len(parts), 2):  # row by row, so that the order holds on a phone
        for column, page in zip(st.columns(2), parts[first : first + 2], strict=False):
            with column.container(border=True, height="stretch"):
                name = f"**{page.title}** · {page.minutes} min"
                st.page_link(page.file, label=name, icon=page.icon)
                st.markdown(page.objective)

st.header("Where you are")
show_progress()
offer_progress_file()

st.header("Before and after")
st.markdown(
    f"Before this lesson: **{lesson.PREVIOUS_LESSON}**. After it: **{lesson.NEXT_LESSON}**, which "
    "stacks what you see here, many heads wide and many layers deep."
)
close_page(PAGE)
