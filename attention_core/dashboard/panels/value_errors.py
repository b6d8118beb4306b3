"""A ValueError on a page: one friendly message, and the rest of the page stays alive."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st


@contextmanager
def show_value_errors(headline: str = "This cannot be computed.") -> Iterator[None]:
    """Show a ValueError as a message, as plain text, and keep the rest of the page alive."""
    try:
        yield
    except ValueError as error:
        with st.container(border=True):
            st.markdown(f":material/error: **{headline}**")
            st.text(str(error))
