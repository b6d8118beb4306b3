"""Exercise 3, second part: how far a stack of local layers can see."""

from functools import partial

import pandas as pd
import streamlit as st
import torch
from torch import Tensor

from attention_core.convolution import toeplitz
from attention_core.dashboard import controls
from attention_core.dashboard.charts.chart import show
from attention_core.dashboard.charts.heatmap import heatmap
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.exercises.local_window_notebook import reach_section
from attention_core.dashboard.export.page_export import keep_section
from attention_core.dashboard.panels.formula import formula
from attention_core.dashboard.questions.ask import check, predict
from attention_core.dashboard.questions.question import Question
from attention_core.dashboard.questions.verdict import Verdict, judged
from attention_core.masks import bidirectional, local, mask_tensor, reachable

N, LAYERS = 12, 3

REACH = Question(
    "ex_window_reach",
    (
        "In one layer, position 0 sees itself and position 1.",
        "In the second layer it sees position 1 again. What has position 1 seen by then?",
        "Each layer adds one more neighbour on each side.",
    ),
)
TASK = (
    f"Stack layers with this window on {N} positions, 0 to {N - 1}. After **{LAYERS} layers**, "
    "which is the farthest position that can have an influence on position 0? And is it "
    "another one for a convolution with a kernel of width 3?"
)


def show_receptive_field(settings: ComputeSettings) -> bool:
    """Predict how far position 0 sees, then count the layers."""
    st.subheader("How far can position 0 see?")
    st.markdown(TASK)
    section = partial(reach_section, REACH.title, TASK)
    keep_section(section())
    answer = predict(
        REACH,
        lambda locked: controls.slider(
            "The farthest position that position 0 sees",
            *(0, N - 1, 0),
            key=f"{REACH.key}_guess",
            disabled=locked,
        ),
    )
    if answer is None:
        return False
    masks = layer_masks(settings)
    window = masks["local attention"]
    right = farthest(window, LAYERS)
    guess = answer.guess
    verdict = check(
        REACH,
        answer,
        Verdict(None, "") if guess is None else judged(guess == right, feedback(guess, right)),
        said=f"position {guess}",
        result=f"position {right}, for attention and convolution alike",
    )
    explore, learn = st.columns(2, gap="large")
    with explore:
        st.markdown("How many layers until everybody sees everything?")
        layers = controls.slider("Layers", 1, N - 1, LAYERS, key="ex_window_layers")
        keep_section(section(guess, verdict, layers))
        seen = reachable(window, layers)
        chart = heatmap(
            seen.float(),
            title="What each position sees",
            alt_text=f"After {layers} layers position 0 sees positions 0 to "
            f"{farthest(window, layers)}: {int(seen.sum())} of {seen.numel()} pairs are connected.",
            rows="position",
            columns="input",
            mask=seen,
            colour_bar=False,
        )
        show(chart, key="ex_window_reachable")
        st.caption("Grey, hatched cells are out of reach.")
    with learn:
        table = pd.DataFrame(
            {"after layer": range(1, LAYERS + 1)}
            | {
                name: [farthest(mask, layers) for layers in range(1, LAYERS + 1)]
                for name, mask in masks.items()
            }
        )
        st.markdown("The farthest position that position 0 sees:")
        st.table(table)
        st.markdown("**Why.** Each layer goes one step further, whatever its weights are:")
        formula(r"\text{reach after } L \text{ layers} = L \cdot \tfrac{3 - 1}{2} = L")
        st.markdown(
            "Attention with this window has a convolution's field of view. Without the window "
            "every position sees every other after a single layer: that is what is given up."
        )
    return True


def layer_masks(settings: ComputeSettings) -> dict[str, Tensor]:
    """Which inputs one layer of each kind connects to which positions, (N, N)."""
    kernel = torch.ones(3, device=settings.device)
    return {
        "local attention": mask_tensor(local(3), N, N, device=settings.device),
        "convolution": toeplitz(kernel, N) != 0,
        "full attention": mask_tensor(bidirectional, N, N, device=settings.device),
    }


def farthest(mask: Tensor, layers: int) -> int:
    """The last position whose input reaches position 0 through that many layers."""
    return int(reachable(mask, layers)[0].nonzero().max())


def feedback(guess: int, right: int) -> str:
    """What this guess overlooks."""
    sides, field, tripled, doubled = 2 * right, 2 * right + 1, 3 * right, 2**right
    known = {
        right: "One step per layer, to the right only: there is nothing to the left of 0.",
        0: "Even a single layer shows it its neighbour, position 1.",
        1: "That is one layer. Position 1 has looked at position 2 by then, and passes it on.",
        sides: "Both sides together make 6 steps, but to each side it is 3.",
        field: "That is the size of the whole field, both sides counted, in the middle of a "
        "sequence. The farthest position is 3 steps away.",
        doubled: "The reach would have to double with every layer. Here it grows by one.",
        tripled: "Three layers of width 3 do not make 9: windows overlap, so each layer adds a "
        "single neighbour on each side.",
        N - 1: "Seeing everything is what attention *without* a window can do, in one layer.",
    }
    if guess in known:
        return known[guess]
    if guess < right:
        return "Each of the three layers adds one step."
    return "That is too far: three layers, one step each."
