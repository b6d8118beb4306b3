"""Attention between the patches of a picture, beside what a convolution can reach."""

import streamlit as st
import torch
from torch import Tensor

from attention_core.attention import AttentionSteps
from attention_core.dashboard import controls
from attention_core.dashboard.causal_masking.notebook import image_section
from attention_core.dashboard.causal_masking.own_image import learner_image
from attention_core.dashboard.causal_masking.patch_chart import patch_chart
from attention_core.dashboard.charts.chart import Chart, show, show_tables
from attention_core.dashboard.charts.heatmap import HEIGHT, heatmap
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.export.page_export import keep_section
from attention_core.dashboard.panels.source import show_source
from attention_core.dashboard.panels.value_errors import show_value_errors
from attention_core.devices import DTYPES
from attention_core.masks import grid_neighbourhood, mask_tensor
from attention_core.patches import patch_attention, sample_image, to_patches

SIZE = 48  # pixels on each side of the picture
PATCHES = (4, 6, 8, 12)  # sides of patches that cut it evenly
WIDTH = 3  # of the convolution's neighbourhood
COLOUR_BAR = 58  # pixels that it takes below its picture: so the three grids are equally high
SAMPLE, OWN = "The sample", "My own"
TASK = (
    "Cut a picture into patches, and each patch is a token. None of them comes *later*, so "
    "there is nothing to hide: every patch may attend to every other. Here queries and keys "
    "are the patches themselves, so a patch attends to what **looks like it**. A convolution "
    "with a 3×3 kernel reaches only its neighbours, whatever they show. In the "
    "sample, a patch inside one red disc looks at the other disc, however far away. *Predict "
    "first:* where does a patch of plain blue look? And one on the edge of a disc?"
)


@st.fragment
def look_at_an_image(settings: ComputeSettings) -> None:
    """Choose a picture and a patch, and see where it looks, and where a convolution would."""
    st.markdown(TASK)
    with st.container(horizontal=True, vertical_alignment="top"):
        source = controls.segments("Picture", (SAMPLE, OWN), key="mask_picture")
        side = controls.select("Side of a patch, in pixels", PATCHES, key="mask_patch", default=2)
        sharpness = controls.slider("Sharpness", 0.0, 30.0, 10.0, key="mask_sharpness")
    own = learner_image("mask_upload") if source == OWN else None
    if source == OWN and own is None:
        st.caption("Until you choose a picture, the sample is shown.")
    image = sample_image(SIZE) if own is None else own
    with show_value_errors():
        patches = to_patches(image.to(settings.device, DTYPES[settings.dtype]), side)
        row, column = _compare(image, patch_attention(patches, sharpness), SIZE // side)
        patch = {"side": side, "row": row, "column": column}
        keep_section(image_section(TASK, image=own, sharpness=sharpness, **patch))
    show_source(to_patches, patch_attention, grid_neighbourhood, key="mask_image_source")


def _compare(image: Tensor, steps: AttentionSteps, columns: int) -> tuple[int, int]:
    """`columns` patches a row and as many rows; which one of them the learner has chosen."""
    st.markdown("**Which patch asks?** Click it in the picture, or choose it here.")
    with st.container(horizontal=True):
        row = controls.position("Row", columns, key="mask_row", default=1)
        column = controls.position("Column", columns, key="mask_column", default=1)
    query = row * columns + column
    near = mask_tensor(grid_neighbourhood(columns, WIDTH), columns**2, columns**2)[query]
    weights = steps.weights[query].cpu()
    outside = float(weights[~near].double().sum())
    largest, at = weights.masked_fill(near, -1).max(dim=0)
    grid = weights.reshape(columns, columns)
    reach = near.reshape(columns, columns)
    charts = {
        "Picture": patch_chart(
            image, grid, (row, column), title="The picture in patches", height=HEIGHT
        ),
        "Weights": _on_grid(
            grid,
            f"Weights of patch ({row}, {column})",
            f"Weights of the patch in row {row}, column {column}: {_percent(outside)} of them lie "
            "outside the 3×3 neighbourhood.",
            (row, column),
        ),
        "Neighbourhood": _on_grid(
            torch.ones_like(grid),
            "In reach of a 3×3 convolution",
            f"The {int(near.sum())} patches in reach of a convolution at row {row}, column "
            f"{column}; the other {int((~near).sum())} are grey.",
            (row, column),
            reach,
        ),
    }
    for place, (name, chart) in zip(st.columns(3), charts.items(), strict=True):
        with place:
            show(chart, key=f"mask_image_{name}", on_select=_choose_patch)
    st.markdown(
        f"Patch ({row}, {column}) puts **{_percent(outside)}** of its weight outside its 3×3 "
        f"neighbourhood, up to {_percent(float(largest))} on a single patch, such as "
        f"({int(at) // columns}, {int(at) % columns}). The convolution puts nothing there: "
        "what is grey is out of its reach. "
        "Outlined in yellow: the patches with at least half of the largest weight."
    )
    show_tables(charts, key="mask_image_tables")
    return row, column


def _on_grid(
    values: Tensor,
    title: str,
    alt_text: str,
    chosen: tuple[int, int],
    mask: Tensor | None = None,
) -> Chart:
    return heatmap(
        values,
        title=title,
        alt_text=alt_text,
        rows="patch row",
        columns="patch column",
        chosen=chosen,
        mask=mask,
        height=HEIGHT if mask is not None else HEIGHT + COLOUR_BAR,
        colour_bar=mask is None,
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _choose_patch() -> None:
    """A click on the picture moves the two selectors."""
    for cell in st.session_state["mask_image_Picture"]["selection"]["cell"]:
        st.session_state["mask_row"], st.session_state["mask_column"] = cell["i"], cell["j"]
