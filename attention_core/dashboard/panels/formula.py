"""A formula on a line of its own."""

import streamlit as st

# Streamlit cuts off what stands more than a line above or below the middle of a formula; an
# invisible rule of this depth and height makes the room.
STRUT = r"\rule[-0.8em]{0pt}{2.1em}"


def formula(tex: str) -> None:
    """Show LaTeX, fractions and exponents included, with nothing cut off."""
    st.latex(STRUT + tex)
