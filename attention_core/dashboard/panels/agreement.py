"""The numbers that prove a result: its shape, its row sums, its distance to PyTorch."""

import math
from collections.abc import Sequence

import streamlit as st

from attention_core.agreement import Agreement


def show_agreement(shape: Sequence[int], agreement: Agreement, dtype: str) -> None:
    """The shape of the output, two numbers and a verdict, in the lesson's words."""
    output, sums, difference = st.columns(3)
    output.metric("output.shape", str(tuple(shape)))
    sums.metric("Largest |row sum − 1|", f"{agreement.row_sum_deviation:.2e}")
    difference.metric("Max abs diff to PyTorch", f"{agreement.torch_difference:.2e}")
    tolerance = f"{agreement.tolerance:.1e}"
    if agreement.agrees:
        st.markdown(
            f":green[:material/check_circle:] Agrees with `F.scaled_dot_product_attention`: for "
            f"{dtype} and values of this size, rounding explains differences up to {tolerance}."
        )
    elif not math.isfinite(agreement.torch_difference + agreement.float64_difference):
        st.markdown(  # any tolerance for numbers of this size would explain everything
            ":red[:material/error:] **Cannot be compared** with `F.scaled_dot_product_attention`: "
            f"numbers this large leave the range of {dtype}, and no difference is left to measure."
        )
    else:
        st.markdown(
            f":red[:material/error:] Does **not** agree with `F.scaled_dot_product_attention`: "
            f"for {dtype} rounding would explain differences up to {tolerance} only."
        )


def show_overflow(step: str | None, dtype: str) -> None:
    """Say which step left the range of the dtype; nothing if none did."""
    if step:
        st.warning(
            f"Overflow: `{step}` holds values too large for {dtype}, and every later step "
            "inherits them. Choose a wider dtype under Computation.",
            icon=":material/warning:",
        )
