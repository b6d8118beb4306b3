"""The code that ran, as it stands in the library."""

import inspect
from collections.abc import Callable
from typing import Any

import streamlit as st


def show_source(*functions: Callable[..., Any], key: str) -> None:
    """The source of the functions behind a fold; nothing is sent while it is closed."""
    fold = st.expander("The code that ran", icon=":material/code:", key=key, on_change="rerun")
    with fold:
        if fold.open:
            for function in functions:
                st.code(inspect.getsource(function), language="python", wrap_lines=True)
