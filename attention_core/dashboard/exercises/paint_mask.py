"""Two ways to make a mask by hand: paint its cells, or pick the rule that paints them."""

import streamlit as st
import torch
from torch import Tensor

from attention_core.dashboard import controls
from attention_core.dashboard.charts.chart import Chart, show
from attention_core.dashboard.charts.heatmap import heatmap
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.exercises.known_masks import RULES, N
from attention_core.masks import mask_tensor

PAINT, PICK = "Paint the cells", "Pick a rule"
KEYS = [str(j) for j in range(N)]


def build_mask(settings: ComputeSettings, locked: bool) -> Tensor | None:
    """The learner's mask; None while a rule is still to be picked, or nothing is painted yet."""
    way = controls.segments("How", (PAINT, PICK), key="ex_window_how", disabled=locked)
    build, see = st.columns(2, gap="large")
    with build:
        mask = _painted(locked) if way == PAINT else _picked(locked)
    if mask is None:
        return None
    mask = mask.to(settings.device)
    with see:
        show(mask_chart(mask, "Your mask"), key="ex_window_yours")
    return mask if mask.any() or way == PICK else None


def _painted(locked: bool) -> Tensor:
    rows = [
        controls.several_segments(
            f"Query {i} may attend to keys", KEYS, key=f"ex_window_q{i}", disabled=locked
        )
        for i in range(N)
    ]
    return torch.tensor([[key in row for key in KEYS] for row in rows])


def _picked(locked: bool) -> Tensor | None:
    rule = controls.choice(
        "Which keys may a query attend to? Distance is how many positions they are apart.",
        dict.fromkeys(RULES, ""),
        key="ex_window_rule",
        disabled=locked,
    )
    return None if rule is None else mask_tensor(RULES[rule], N, N)


def mask_chart(mask: Tensor, title: str) -> Chart:
    """The mask as a heatmap, with how many cells are on in its alt text."""
    on = int(mask.sum())
    says = f"{title}: {on} of {mask.numel()} cells may be attended to."
    return heatmap(mask.float(), title=title, alt_text=says, mask=mask, colour_bar=False)
