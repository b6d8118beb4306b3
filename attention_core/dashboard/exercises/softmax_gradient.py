"""Exercise 2, third part: what a saturated softmax does to the gradient."""

from functools import partial

import streamlit as st

from attention_core.dashboard import controls
from attention_core.dashboard.charts.chart import Chart, show
from attention_core.dashboard.charts.lines import lines
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.exercises.no_scale_notebook import gradient_section
from attention_core.dashboard.exercises.scaling_lines import (
    RULE_NAMES,
    SCALED,
    UNSCALED,
    sizes,
    study,
)
from attention_core.dashboard.exercises.wrong_scales import compare_scales
from attention_core.dashboard.export.page_export import keep_section
from attention_core.dashboard.questions.ask import check, predict
from attention_core.dashboard.questions.question import Question
from attention_core.dashboard.questions.verdict import Verdict, judged
from attention_core.scaling import Tokens

GRADIENT = Question(
    "ex_scale_gradient",
    (
        "The derivative of the softmax is the matrix $\\mathrm{diag}(w) - w w^\\top$. What is it "
        "when one weight is 1 and the others are 0?",
        "It is large only while at least two weights are. Without the scale the two largest "
        "scores lie apart by something like √D.",
        "So the chance that two scores are near each other falls like 1/√D, once D is large. From "
        "8 to 128, √D grows fourfold.",
    ),
)
TASK = (
    "Learning needs a gradient through the softmax. How each weight answers to each score is "
    "a matrix of derivatives, the **Jacobian** $J = \\mathrm{diag}(w) - w w^\\top$; its size "
    "is the root of the sum of its squared entries. For dense tokens **without** the scale, "
    "how much of its size at D = 8 is left at D = 128?"
)


def show_gradient(settings: ComputeSettings) -> bool:
    """Predict how far the softmax gradient shrinks, then compare all scales."""
    st.subheader("What it does to learning")
    st.markdown(TASK)
    section = partial(gradient_section, GRADIENT.title, TASK)
    keep_section(section())
    answer = predict(
        GRADIENT,
        lambda locked: controls.slider(
            "Left of the Jacobian's size at D = 8, in percent",
            *(0, 200, 100),
            key=f"{GRADIENT.key}_guess",
            disabled=locked,
        ),
    )
    if answer is None:
        return False
    without, scaled = (study(settings, "normal", rule) for rule in (UNSCALED, SCALED))
    left = 100 * without[128].mean_jacobian_norm / without[8].mean_jacobian_norm
    guess = answer.guess
    verdict = check(
        GRADIENT,
        answer,
        Verdict(None, "")
        if guess is None
        else judged(abs(guess - left) <= 10, feedback(guess, left)),
        said=f"{guess} %",
        result=f"{left:.0f} % ({without[8].mean_jacobian_norm:.3f} at D = 8, "
        f"{without[128].mean_jacobian_norm:.3f} at D = 128)",
    )
    up_to = sizes("ex_scale_gradient_to")
    columns = st.columns(2, gap="large")
    with columns[0]:
        show(_jacobians(settings, "normal", up_to, "Dense tokens"), key="ex_scale_jacobian_dense")
    with columns[1]:
        show(_jacobians(settings, "one_hot", up_to, "One-hot tokens"), key="ex_scale_jacobian_hot")
    st.markdown(
        "**Why.** If one weight is 1 and the rest 0, the softmax is **saturated**: every entry of "
        "$J$ is 0, and no gradient passes. With the scale its size stays at "
        f"{scaled[8].mean_jacobian_norm:.2f}, {scaled[128].mean_jacobian_norm:.2f} and "
        f"{scaled[1024].mean_jacobian_norm:.2f} for D = 8, 128, 1024. The sharp one-hot look-up "
        "has no gradient to lose: unscaled, 25 against 0 saturates the softmax at every D. It is "
        "not trained, so it does not matter there."
    )
    keep_section(section(guess, verdict, up_to, compare_scales(settings)))
    return True


def feedback(percent: int, left: float) -> str:
    """What this guess of the part that is left overlooks."""
    if abs(percent - left) <= 10:
        return "The gradient vanishes about as fast as the scores spread apart, like 1/√D."
    if percent > 110:
        return "Larger scores do not make larger gradients: J depends on the weights alone."
    if percent >= 90:
        return "The same size would need the same weights, and they have moved towards 0 and 1."
    if percent < left:
        return (
            "It does vanish, but not as fast: some draws still have two scores near each other. "
            "In proportion to 1/D it would be 6 %; the spread grows like √D only."
        )
    return "It falls further: most draws have one weight near 1 by then, and hardly a gradient."


def _jacobians(settings: ComputeSettings, tokens: Tokens, up_to: list[int], title: str) -> Chart:
    series = {
        name: [study(settings, tokens, rule)[d].mean_jacobian_norm for d in up_to]
        for rule, name in RULE_NAMES.items()
    }
    says = "; ".join(f"{name}: {row[0]:.2g}, then {row[-1]:.2g}" for name, row in series.items())
    return lines(
        series,
        up_to,
        title=f"{title}: size of the softmax Jacobian",
        alt_text=f"Jacobian norm at D = {up_to[0]} and at D = {up_to[-1]}. {says}.",
        x="D",
        y="mean norm of J",
        domain=(0.0, 0.5),
        logarithmic="x",
    )
