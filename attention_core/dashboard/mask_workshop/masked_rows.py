"""A query that may attend to nothing: three answers side by side, and which of them can learn."""

import streamlit as st
import torch
from torch import Tensor

from attention_core.agreement import compare_with_torch
from attention_core.dashboard import controls
from attention_core.dashboard.charts.chart import Chart, show, show_tables
from attention_core.dashboard.charts.heatmap import heatmap
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.export.page_export import keep_section
from attention_core.dashboard.mask_workshop.current_mask import CurrentMask
from attention_core.dashboard.mask_workshop.mask_view import masked_rows_in_words
from attention_core.dashboard.mask_workshop.masked_row_gradients import (
    SHOWN,
    TITLES,
    ask_which_can_learn,
)
from attention_core.dashboard.mask_workshop.masked_rows_notebook import masked_rows_section
from attention_core.dashboard.panels.source import show_source
from attention_core.devices import DTYPES
from attention_core.masked_rows import WAYS, MaskedRowAnswer, finite_stand_in, masked_row_answers

TASK = (
    "A **dead row** belongs to a query that may attend to no key: a padding token, which belongs "
    "to no text, or the first token under a rule such as `j < i`. The softmax divides by the sum "
    "of the exponentials, and here that sum is 0. What should the answer be?"
)


def show_masked_rows(current: CurrentMask, settings: ComputeSettings) -> None:
    """Three answers to a dead row: weights, output, and after a prediction the gradients."""
    mask = _with_a_dead_row(current)
    query = int((~mask.any(-1)).nonzero()[0])
    answers = {a.name: a for a in masked_row_answers(current.q, current.k, current.v, mask)}
    charts = {TITLES[name]: _weights(answers[name], mask, query) for name in SHOWN}
    says = _met_in_practice(current, mask, settings)
    for place, name in zip(st.columns(len(SHOWN)), SHOWN, strict=True):
        with place:
            show(charts[TITLES[name]], key=f"work_dead_{name}")
            st.markdown(says[name])
    charts["Outputs"] = _outputs([answers[name] for name in SHOWN], query)
    show(charts["Outputs"], key="work_dead_outputs")
    hidden = float(answers["uniform"].weights[query][~mask[query]].sum())
    st.markdown(
        "The uniform answer is the most dangerous one, because it looks alive. Its weights sum to "
        f"1, so a check of the row sums does not find it, but **{100 * hidden:.0f} %** of query "
        f"{query}'s weight lies on keys that the mask hides. Its output is the mean of all values, "
        "hidden ones too."
    )
    ask_which_can_learn(answers, mask)
    show_tables(charts, key="work_dead_tables")
    show_source(masked_row_answers, *WAYS.values(), key="work_dead_source")


def _with_a_dead_row(current: CurrentMask) -> Tensor:
    """The mask in hand, with one query silenced if it has no dead row of its own."""
    st.markdown(TASK)
    if not current.mask.any(-1).all():
        st.markdown(masked_rows_in_words(current.mask))
        keep_section(masked_rows_section(TASK, None))
        return current.mask
    query = controls.position(
        "Your mask has no dead row. Silence one query:",
        len(current.mask),
        key="work_dead_i",
        default=3,
    )
    keep_section(masked_rows_section(TASK, query))
    mask = current.mask.clone()
    mask[query] = False
    return mask


def _met_in_practice(
    current: CurrentMask, mask: Tensor, settings: ComputeSettings
) -> dict[str, str]:
    fill = finite_stand_in(DTYPES[settings.dtype])
    lowest = f"−{-fill:g}, the lowest number of {settings.dtype},"
    number = "−10⁹" if fill == -1e9 else lowest
    difference = compare_with_torch(current.q, current.k, current.v, mask).torch_difference
    return {
        "NaN": "The formula as it stands: 0 divided by 0. Met in softmax written by hand, in "
        "PyTorch before 2.5, and still in `nn.MultiheadAttention` when it returns its weights.",
        "uniform": f"{number} in place of −∞: all keys are equally bad, so each gets the same. Met "
        "in much published code, because it never gives NaN.",
        "zero": "No key, no weight, no output. Met here, and in PyTorch's "
        f"`F.scaled_dot_product_attention` today: largest difference {difference:.1e}.",
    }


def _weights(answer: MaskedRowAnswer, mask: Tensor, query: int) -> Chart:
    """One answer's weights (n_q, n_k); in dead rows, which are compared, hidden cells show too."""
    row = answer.weights[query]
    value = "NaN" if row.isnan().all() else f"{float(row.max()):.3g}"
    return heatmap(
        answer.weights,
        title=TITLES[answer.name],
        alt_text=f"{TITLES[answer.name]}. Each weight of query {query}, a dead row, is {value}.",
        mask=mask | ~mask.any(-1, keepdim=True),
    )


def _outputs(answers: list[MaskedRowAnswer], query: int) -> Chart:
    """The output of the dead query, one row for each answer."""
    rows = torch.stack([answer.output[query] for answer in answers])
    return heatmap(
        rows,
        title=f"Output of query {query}, a dead row",
        alt_text=f"Output of query {query} in three ways: NaN everywhere, the mean of all values, "
        "0 everywhere.",
        scale="signed",
        rows="answer",
        columns="dimension",
        row_labels=[answer.name for answer in answers],
        height=200,
        colour_bar=False,
    )
