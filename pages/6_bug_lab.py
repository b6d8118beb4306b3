"""Beyond the lesson: thirteen implementations, twelve of them wrong; name the fault."""

import streamlit as st

from attention_core.dashboard import controls
from attention_core.dashboard.all_questions import QUESTIONS
from attention_core.dashboard.browser_memory import remember_progress
from attention_core.dashboard.frame import close_page, open_page
from attention_core.dashboard.lab.case import examine
from attention_core.dashboard.lab.conditions import choose_conditions
from attention_core.dashboard.lab.diagnosis import diagnose
from attention_core.dashboard.lab.specimens import LETTERS
from attention_core.dashboard.lab.symptoms_panel import show_symptoms
from attention_core.dashboard.lesson import BUG_LAB as PAGE

setting = open_page(PAGE)

st.markdown(
    "Behind each letter is an implementation of attention. Twelve have one fault each, of the kind "
    "that people really make; one is right. You see what a specimen **does**, never its code, and "
    "say what is wrong with it. Some faults do not show under every setting: change the settings "
    "until the specimen gives itself away."
)
letter = controls.segments("Specimen", LETTERS, key="lab_specimen")
conditions = choose_conditions(setting)
case = examine(letter, conditions)

st.header(f"Symptoms of specimen {letter}")
show_symptoms(case)

st.header("Your diagnosis")
diagnose(case, setting)
remember_progress(QUESTIONS)
close_page(PAGE)
