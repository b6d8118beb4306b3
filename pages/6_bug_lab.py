"""Beyond the lesson: thirteen implementations, twelve of them wrong; name the fault."""

import streamlit as st

from first_screen import first_screen

with first_screen():
    from attention_core.dashboard.bug_lab.case import examine
    from attention_core.dashboard.bug_lab.conditions import choose_conditions
    from attention_core.dashboard.bug_lab.diagnosis import diagnose
    from attention_core.dashboard.bug_lab.place import choose_place
    from attention_core.dashboard.bug_lab.specimens import LETTERS, SPECIMEN
    from attention_core.dashboard.bug_lab.symptoms_notebook import symptoms_section
    from attention_core.dashboard.bug_lab.symptoms_panel import show_symptoms
    from attention_core.dashboard.lesson import BUG_LAB as PAGE
    from attention_core.dashboard.page import Matrix, close_page, controls, keep_section, open_page

settings = open_page(PAGE)

intro = (
    "Each letter stands for a *specimen*: an implementation of attention. Twelve have one fault "
    "each, of the kind that people really make; one is right. You see what a specimen **does**, "
    "never its code, and say what is wrong with it. Some faults do not show under every setting: "
    "change the settings until the fault shows."
)
st.markdown(intro)
letter = controls.segments("Specimen", LETTERS, key=SPECIMEN)
conditions = choose_conditions(settings)

st.header(f"Symptoms of specimen {letter}")
case = examine(letter, conditions, choose_place(conditions))
show_symptoms(case)
shown = {f"Weights of specimen {letter}": case.seen, "Weights of the right one": case.reference}
keep_section(
    symptoms_section(intro, case),
    {name: Matrix(s.weights[case.place]) for name, s in shown.items() if not isinstance(s, str)},
)

st.header("Your diagnosis")
diagnose(case, settings)
close_page(PAGE)
