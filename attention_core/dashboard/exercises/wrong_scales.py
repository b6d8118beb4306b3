"""Exercise 2, last part: the scales that are often written instead of 1/sqrt(d_k)."""

import streamlit as st

from attention_core.dashboard import controls
from attention_core.dashboard.charts.chart import show
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.exercises.scaling_lines import (
    RULE_NAMES,
    SCALED,
    WRONG_RULES,
    largest_weights,
    study,
)
from attention_core.scaling import Tokens


def compare_scales(settings: ComputeSettings) -> list[str]:
    """Let the learner add wrong scales to the picture, and say what each does; the rules in it."""
    st.markdown(
        "**Is any scale good enough?** Two wrong ones are often written: $1/D$, without the root, "
        "and $1/\\sqrt{d_\\text{model}}$, the width of the whole model in place of one head's "
        "(here 4 heads, so $d_\\text{model} = 4D$). Which of them keeps the largest weight steady, "
        "and which keeps it where it should be?"
    )
    wrong = controls.several_segments(
        "Wrong scales to add", list(WRONG_RULES.values()), key="ex_scale_wrong"
    )
    rules = RULE_NAMES | {rule: name for rule, name in WRONG_RULES.items() if name in wrong}
    kinds: tuple[tuple[Tokens, str], ...] = (("normal", "Dense"), ("one_hot", "One-hot"))
    for column, (tokens, name) in zip(st.columns(2, gap="large"), kinds, strict=True):
        with column:
            up_to = list(study(settings, tokens, SCALED))
            title = f"{name} tokens: mean largest weight"
            chart = largest_weights(settings, tokens, up_to, rules, title)
            show(chart, key=f"ex_scale_rules_{tokens}")
    dense = {rule: study(settings, "normal", rule)[1024] for rule in (*WRONG_RULES, SCALED)}
    if "1/D" in wrong:
        st.markdown(
            "1/D divides by too much: the scores spread like $\\sqrt{D}/D = 1/\\sqrt{D}$ and die "
            "away, and the weights become even: at D = 1024 the largest of the five is "
            f"{dense['1/d_k'].mean_largest_weight:.2f}, an even share is 0.20."
        )
    if WRONG_RULES["1/sqrt(d_model)"] in wrong:
        st.markdown(
            "1/√d_model is steady too, but each head's scores are √4 = 2 times too small: "
            f"{dense['1/sqrt(d_model)'].mean_largest_weight:.2f} instead of "
            f"{dense[SCALED].mean_largest_weight:.2f} at D = 1024. A dot product of one head has "
            "D terms, so D is what counts."
        )
    return list(rules)
