"""Three biases with their controls: a slope (ALiBi), a table by distance (T5), a soft cap.

Each is a function of the tensors in hand, of the mask that is kept, and of what counts as far.
"""

from dataclasses import dataclass, field

import streamlit as st
import torch
from torch import Tensor

from attention_core.attention import attention, attention_steps
from attention_core.biases import (
    alibi,
    alibi_slopes,
    bias_tensor,
    relative_bias,
    relative_bucket,
    soft_cap,
    soft_cap_bias,
)
from attention_core.dashboard import controls
from attention_core.dashboard.charts.bars import bars
from attention_core.dashboard.charts.chart import Chart
from attention_core.dashboard.charts.lines import lines
from attention_core.dashboard.mask_workshop.bias_notebook import (
    BiasRecipe,
    buckets_recipe,
    cap_recipe,
    slope_recipe,
)
from attention_core.dashboard.mask_workshop.current_mask import CurrentMask
from attention_core.measures import far_weight

# Made up, to show the idea: buckets 0-3 for keys up to the query, 4-7 for later ones.
T5_TABLE, T5_FURTHEST = (1.0, 0.5, -0.5, -1.5, 0.0, -1.0, -2.0, -3.0), 16
T5_SHOWN = 20  # distances to each side in the picture of the buckets
STEEPEST = 2.0  # slope that can be chosen
HEADS = 8
ENDS = 6.0  # the curve of the soft cap reaches from -ENDS to ENDS


@dataclass(frozen=True, eq=False)
class ChosenBias:
    """A bias (n_q, n_k), what made it, in words and as a recipe, and pictures that explain it, by
    their titles."""

    bias: Tensor
    idea: str
    recipe: BiasRecipe
    charts: dict[str, Chart] = field(default_factory=dict)


def slope(current: CurrentMask, mask: Tensor, distance: int) -> ChosenBias:
    """ALiBi: the learner's slope, and what the slopes of 8 heads do."""
    st.markdown(
        "**ALiBi** subtracts from each score the distance between query and key, times a *slope*. "
        "The slopes are fixed, not learned, and it works at lengths that training never saw (Press "
        "et al. 2022). The paper's models are causal; the later keys here are our addition."
    )
    chosen = controls.slider("Slope", 0.0, STEEPEST, 0.5, step=0.05, key="work_bias_slope")
    n_q, n_k = current.mask.shape
    device, dtype = current.q.device, current.q.dtype
    slopes = alibi_slopes(HEADS)
    far = [
        far_weight(attention(current.q, current.k, current.v, mask, bias=head)[1], distance)
        for head in (bias_tensor(alibi(m), n_q, n_k, device, dtype) for m in slopes)
    ]
    names = [f"head {head}: 1/{round(1 / m)}" for head, m in enumerate(slopes)]
    chart = bars(
        torch.tensor(far),
        names,
        title=f"Weight more than {distance} away, head by head",
        alt_text=f"Share of the weight more than {distance} positions away, for {HEADS} heads: "
        f"from {far[0]:.3f} at the slope 1/2 to {far[-1]:.3f} at 1/256.",
        x="slope",
        y="share of the weight",
        decimals=3,
    )
    idea = (
        f"A model has a slope for each head; with {HEADS} heads, 1/2, 1/4 and so on to 1/256. So "
        "some heads look near, and others far."
    )
    bias = bias_tensor(alibi(chosen), n_q, n_k, device, dtype)
    return ChosenBias(bias, idea, slope_recipe(chosen), {"Slopes of the heads": chart})


def buckets(current: CurrentMask, mask: Tensor, distance: int) -> ChosenBias:
    """T5: a small table, one number for each bucket of distances."""
    st.markdown(
        "**T5** learns a number for each distance, and adds it. Far distances share a number: they "
        "fall into one *bucket*, and the buckets grow with the distance (Raffel et al. 2020). T5 "
        "itself does not divide by √d_k."
    )
    n_q, n_k = current.mask.shape
    device, dtype = current.q.device, current.q.dtype
    table = torch.tensor(T5_TABLE, device=device)
    away = torch.arange(-T5_SHOWN, T5_SHOWN + 1)
    numbers: list[int] = relative_bucket(away, len(T5_TABLE), T5_FURTHEST).tolist()
    before, after = numbers[T5_SHOWN - 1 :: -1], numbers[T5_SHOWN + 1 :]
    chart = lines(
        {"bucket": numbers},
        away.tolist(),
        title="The bucket of each distance j − i",
        alt_text="The bucket of each distance j − i. An earlier key falls into bucket "
        f"{before[0]} at the distance 1 and {before[-1]} at {T5_SHOWN}; a later key into bucket "
        f"{after[0]} at 1 and {after[-1]} at {T5_SHOWN}.",
        x="distance j − i",
        y="bucket",
    )
    written = ", ".join(f"{b}: {number:g}".replace("-", "−") for b, number in enumerate(T5_TABLE))
    idea = (
        f"This table is made up; a model learns one for each head. Bucket and number: {written}. "
        "Buckets 0 to 3 are for the query's own position and earlier keys, 5 to 7 for later ones; "
        "nothing falls into 4, as a later key is at least 1 away."
    )
    bias = bias_tensor(relative_bias(table, T5_FURTHEST), n_q, n_k, device, dtype)
    recipe = buckets_recipe(T5_TABLE, T5_FURTHEST)
    return ChosenBias(bias, idea, recipe, {"Buckets": chart})


def cap(current: CurrentMask, mask: Tensor, distance: int) -> ChosenBias:
    """The soft cap: a bias that depends on the score itself, and not on the distance."""
    st.markdown(
        "**A soft cap** bends large scores back, so that none goes beyond a *cap*: the score s "
        "becomes cap · tanh(s / cap). The change it makes is a bias too, one that depends on the "
        "score and not on the distance (Gemma 2, 2024, whose cap is 50)."
    )
    chosen = controls.slider("Cap", 0.25, 10.0, 1.5, step=0.25, key="work_bias_cap")
    scores = attention_steps(current.q, current.k, current.v).scores
    at = torch.linspace(-ENDS, ENDS, 49)
    capped = soft_cap(at, chosen)
    curve = lines(
        {"score": at.tolist(), "capped score": capped.tolist()},
        at.tolist(),
        title=f"Scores under a cap of {chosen:g}",
        alt_text=f"The capped score follows the score near 0 and levels off at {chosen:g}; a score "
        f"of {ENDS:g} becomes {float(capped[-1]):.2f}.",
        x="score",
        y="score after the cap",
        points=False,
    )
    idea = (
        f"The largest |score| here is {float(scores.abs().max()):.2f}; after the cap it is "
        f"{float(soft_cap(scores, chosen).abs().max()):.2f}. A cap makes weights more even, and "
        "keeps the training stable. It knows nothing of positions."
    )
    bias = soft_cap_bias(scores, chosen)
    return ChosenBias(bias, idea, cap_recipe(chosen), {"Curve": curve})
