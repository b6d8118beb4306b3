"""Exercise 2, second part: dense random tokens, where the lesson's intuition holds."""

from functools import partial

import streamlit as st

from attention_core.dashboard import controls
from attention_core.dashboard.charts.chart import show
from attention_core.dashboard.charts.lines import lines
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.exercises.no_scale_notebook import dense_section
from attention_core.dashboard.exercises.scaling_lines import (
    RULE_NAMES,
    SCALED,
    UNSCALED,
    largest_weights,
    sizes,
    study,
)
from attention_core.dashboard.exercises.trend import FALLS, RISES, SAME, judge_trend
from attention_core.dashboard.export.page_export import keep_section
from attention_core.dashboard.panels.formula import formula
from attention_core.dashboard.questions.ask import check, predict
from attention_core.dashboard.questions.question import Question

DENSE = Question(
    "ex_scale_dense",
    (
        "Every entry of q and k is now a random number. How many terms of their dot product are "
        "not 0?",
        "The variance of a sum of independent terms is the sum of their variances. Here each term "
        "has the variance 1.",
        "Five scores that lie √D apart: what does a softmax make of the largest one as D grows?",
    ),
)
FEEDBACK = {
    RISES: "The scores spread like √D, so the largest one pulls away from the others.",
    SAME: "So it was for one-hot tokens, where all terms but one were 0. Here all D terms count, "
    "and the scores spread like √D.",
    FALLS: "Falling would mean that the scores come closer. They spread, like √D, as nothing "
    "divides them.",
}
TASK = (
    "Trained queries and keys are not one-hot: all their entries are in use. Take one query "
    "and five keys with entries from a standard normal distribution, 500 times. **Without** "
    "the scale, what happens to the largest of the five weights, on average?"
)


def show_dense(settings: ComputeSettings) -> bool:
    """Predict what D does to the weights of random queries and keys, then measure it."""
    st.subheader("The same with dense random tokens")
    st.markdown(TASK)
    section = partial(dense_section, DENSE.title, TASK)
    keep_section(section())
    answer = predict(
        DENSE,
        lambda locked: controls.choice(
            "From D = 8 to D = 128, without the scale, the largest weight:",
            {RISES: "", SAME: "", FALLS: ""},
            key=f"{DENSE.key}_guess",
            disabled=locked,
        ),
    )
    if answer is None:
        return False
    without, scaled = (study(settings, "normal", rule) for rule in (UNSCALED, SCALED))
    before, after = (without[d].mean_largest_weight for d in (8, 128))
    guess = answer.guess
    verdict = check(
        DENSE,
        answer,
        judge_trend(guess, before, after, FEEDBACK, usual=RISES),
        said=f"“{guess}”",
        result=f"{without[8].mean_largest_weight:.2f} at D = 8 and "
        f"{without[128].mean_largest_weight:.2f} at D = 128",
    )
    up_to = sizes("ex_scale_dense_to")
    keep_section(section(guess, verdict, up_to))
    weights, variances = st.columns(2, gap="large")
    with weights:
        title = "Dense tokens: mean largest weight"
        show(largest_weights(settings, "normal", up_to, RULE_NAMES, title), key="ex_scale_dense_w")
    with variances:
        one_hot = study(settings, "one_hot", UNSCALED)
        last = up_to[-1]
        chart = lines(
            {
                "dense tokens": [without[d].dots_variance for d in up_to],
                "one-hot tokens": [one_hot[d].dots_variance for d in up_to],
            },
            up_to,
            title="Variance of the dots q·k, before the scale",
            alt_text=f"The variance of the dots of dense tokens grows with D, to "
            f"{without[last].dots_variance:.0f} at D = {last}; that of one-hot tokens stays "
            f"{one_hot[last].dots_variance:.0f}.",
            x="D",
            y="variance",
            domain=(5.0, 2000.0),
            logarithmic="xy",
        )
        show(chart, key="ex_scale_variance")
    st.markdown("**Why the two differ.** The dot product is a sum of D terms:")
    formula(r"\mathrm{Var}(q \cdot k) = \sum_{d=1}^{D} \mathrm{Var}(q_d\,k_d) = D")
    formula(r"\mathrm{Var}\!\left(q \cdot k / \sqrt{D}\right) = 1")
    st.markdown(
        "Dense random tokens add D terms that all count, so their dot products spread like √D, and "
        "dividing by √D undoes exactly that: the largest weight stays at "
        f"{scaled[8].mean_largest_weight:.2f}, {scaled[128].mean_largest_weight:.2f}, "
        f"{scaled[1024].mean_largest_weight:.2f} for D = 8, 128, 1024. One-hot tokens add D terms "
        "of which one counts: their spread does not grow with D, and dividing by √D makes the "
        "look-up blunter with every D. **The scale is made for dense vectors**, which is what a "
        "trained model has."
    )
    return True
