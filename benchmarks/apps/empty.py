"""The least that a Streamlit app can be: one slider, one text."""

import streamlit as st

st.text(f"value {st.slider('Value', 0, 1000, 500)}")
