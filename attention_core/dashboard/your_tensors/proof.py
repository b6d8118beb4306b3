"""Is it right? Agreement with PyTorch for q, k, v; sums of rows for finished weights."""

from collections.abc import Hashable

import streamlit as st

from attention_core.agreement import Agreement
from attention_core.dashboard.panels.agreement import show_agreement, show_overflow
from attention_core.dashboard.your_tensors.computing import head_of
from attention_core.dashboard.your_tensors.selected_head import SelectedHead
from attention_core.dashboard.your_tensors.session_cache import AGREEMENT, SUMS, remembered
from attention_core.dashboard.your_tensors.tensor_files.loaded import Weights
from attention_core.heads.blockwise import compare_blockwise
from attention_core.heads.precomputed import ABOUT, RowSums, row_sums


def show_proof(head: SelectedHead, key: Hashable) -> None:
    """The numbers that prove what is on screen; `key` tells the tensors, mask and setting apart."""
    if isinstance(head.tensors, Weights):
        weights = head.tensors.weights
        _show_row_sums(remembered(SUMS, key, lambda: row_sums(weights)))
        return
    q, k, v = head_of(head.tensors, head.b, head.h, head.settings)

    def compare() -> tuple[Agreement, str | None]:
        return compare_blockwise(q, k, v, head.mask)

    agreement, overflow = remembered(AGREEMENT, (key, head.b, head.h), compare)
    show_overflow(overflow, head.settings.dtype)
    show_agreement((len(q), v.shape[-1]), agreement, head.settings.dtype)


def _show_row_sums(sums: RowSums) -> None:
    """Finished weights have nothing to be compared with: PyTorch would need q, k and v."""
    st.markdown(
        "Finished weights cannot be computed again without q and k. But each row must sum to 1, "
        "or to 0 for a query that may attend to nothing. These rows are those of all heads:"
    )
    farthest, right, fully_masked = st.columns(3)
    farthest.metric("Row sum farthest from 1", f"{sums.worst_sum:.5g}")
    right.metric(
        "Rows that sum to about 1", f"{sums.rows - sums.wrong - sums.fully_masked} of {sums.rows}"
    )
    fully_masked.metric("Rows that sum to 0", str(sums.fully_masked))
    if not sums.wrong:
        st.markdown(
            ":green[:material/check_circle:] All rows sum to 1 or to 0, up to "
            f"{ABOUT:g} for rounding."
        )
        return
    b, h, i = sums.worst
    why = (
        "All *columns* sum to 1, so the file may hold them transposed: rows must be queries."
        if sums.columns
        else "They may come from a model in training mode (dropout), or some of the keys may have "
        "been cut off."
    )
    st.warning(
        f"{sums.wrong} of {sums.rows} rows sum to neither 1 nor 0. The farthest: query {i} in head "
        f"{h} of batch element {b} sums to {sums.worst_sum:.5g}. {why} The pictures show the "
        "numbers as they are; the measures divide each row by its sum.",
        icon=":material/warning:",
    )
