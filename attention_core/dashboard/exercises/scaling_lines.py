"""The measurements of exercise 2, cached, and their lines against D."""

from collections.abc import Sequence

import streamlit as st

from attention_core.dashboard import controls
from attention_core.dashboard.charts.chart import Chart
from attention_core.dashboard.charts.lines import lines
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.devices import DTYPES
from attention_core.scaling import ScalingResult, Tokens, scaling_study

SIZES = (8, 16, 32, 64, 128, 256, 512, 1024)
LESSON_SIZES = ("128", "1024")  # the lesson goes to 128, and here it may go on
SCALED, UNSCALED = "1/sqrt(d_k)", "none"
RULE_NAMES = {SCALED: "scaled by 1/√D", UNSCALED: "no scale"}
WRONG_RULES = {"1/d_k": "1/D", "1/sqrt(d_model)": "1/√d_model"}


@st.cache_resource(max_entries=32, show_spinner=False)
def cached_study(rule: str, tokens: Tokens, dtype: str, device: str) -> dict[int, ScalingResult]:
    """The scaling study for all SIZES under one rule, by D; 500 draws of random tokens."""
    study = scaling_study(SIZES, rule=rule, tokens=tokens, device=device, dtype=DTYPES[dtype])
    return {result.d_k: result for result in study}


def study(settings: ComputeSettings, tokens: Tokens, rule: str) -> dict[int, ScalingResult]:
    """The same for the learner's device and dtype."""
    return cached_study(rule, tokens, settings.dtype, settings.device)


def sizes(key: str) -> list[int]:
    """How far D goes, a control."""
    largest = controls.segments("Largest D", LESSON_SIZES, key=key)
    return [d for d in SIZES if d <= int(largest)]


def largest_weights(
    settings: ComputeSettings,
    tokens: Tokens,
    up_to: Sequence[int],
    rules: dict[str, str],
    title: str,
) -> Chart:
    """The mean largest weight against D, one line for each rule."""
    series = {
        name: [study(settings, tokens, rule)[d].mean_largest_weight for d in up_to]
        for rule, name in rules.items()
    }
    first, last = up_to[0], up_to[-1]
    says = "; ".join(f"{name}: {row[0]:.2f}, then {row[-1]:.2f}" for name, row in series.items())
    return lines(
        series,
        up_to,
        title=title,
        alt_text=f"Largest weight at D = {first} and at D = {last}. {says}.",
        x="D",
        y="largest weight",
        domain=(0.0, 1.0),
        logarithmic="x",
    )
