"""The exercises: one at a time, each a prediction, an exploration, a check and an explanation."""

import inspect

import streamlit as st

from first_screen import first_screen

with first_screen():
    from attention_core.dashboard import controls, lesson
    from attention_core.dashboard.exercises.all_exercises import EXERCISES
    from attention_core.dashboard.lesson import EXERCISES as PAGE
    from attention_core.dashboard.lesson import OVERVIEW
    from attention_core.dashboard.page import close_page, open_page
    from attention_core.dashboard.questions.exercise import show_exercise

settings = open_page(PAGE)

st.markdown(
    "Each question asks for your **prediction first**. Lock it in, and the result is computed and "
    "held against it. Then move the controls until you can say why. Your predictions "
    "are in the address of this page, and what came of them on the Overview."
)
titles = [exercise.title for exercise in EXERCISES]
chosen = controls.segments("Exercise", titles, key=lesson.EXERCISE)
number = titles.index(chosen)
exercise = EXERCISES[number]

st.header(f"{number + 1} · {exercise.title}")
if show_exercise(exercise, settings):  # not earlier: the code gives results away
    with st.expander("The code behind this exercise", icon=":material/code:"):
        for function in exercise.sources:
            st.code(inspect.getsource(function), language="python", wrap_lines=True)
    for following in EXERCISES[number + 1 : number + 2]:
        st.button(
            f"Next exercise: {following.title}",
            icon=":material/arrow_forward:",
            key="ex_next",
            on_click=controls.assign,
            args=(lesson.EXERCISE, following.title),
        )

st.divider()
st.page_link(OVERVIEW.file, label="Your predictions and results", icon=OVERVIEW.icon)
st.markdown(
    f"This lesson stands between **{lesson.PREVIOUS_LESSON}**, where a network looks at an image "
    f"through local windows, and **{lesson.NEXT_LESSON}**, which is built from the attention you "
    "have now taken apart."
)
close_page(PAGE)
