"""What can be taken away of the part of a head that is in view."""

import streamlit as st
from torch import Tensor

from attention_core.dashboard.export.page_export import keep_section
from attention_core.dashboard.export.weight_files import Matrix
from attention_core.dashboard.your_tensors.view_notebook import view_section
from attention_core.dashboard.your_tensors.weights_map import Name

MOST_SAVED = 2**18  # weights in a file: about 5 MB of CSV


def keep_view(
    weights: Tensor, first: tuple[int, int], cell: tuple[int, int], names: tuple[Name, Name]
) -> None:
    """Note the weights in view, from query and key `first` on, the chosen cell, and the names."""
    (top, left), (n_rows, n_columns) = first, weights.shape
    rows, columns = (top, top + n_rows - 1), (left, left + n_columns - 1)
    queries = [names[0](top + row) for row in range(n_rows)]
    keys = [names[1](left + column) for column in range(n_columns)]
    labelled = [f"query {name}" for name in queries], [f"key {name}" for name in keys]
    few = weights.numel() <= MOST_SAVED
    keep_section(
        view_section(rows, columns, cell, (queries, keys)),
        {"Weights in view": Matrix(weights, *labelled)} if few else {},
    )
    if not few:
        st.caption(
            f"{weights.numel():,} weights are too many for a CSV file: zoom in to save a part."
        )
