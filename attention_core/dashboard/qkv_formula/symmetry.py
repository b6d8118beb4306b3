"""A question that many get wrong: if the keys are the queries, what is symmetric?"""

import streamlit as st

from attention_core.agreement import compare
from attention_core.attention import attention_steps
from attention_core.dashboard import controls
from attention_core.dashboard.charts.chart import show
from attention_core.dashboard.charts.heatmap import heatmap
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.export.page_export import keep_section
from attention_core.dashboard.qkv_formula.notebook import symmetry_section
from attention_core.dashboard.questions.ask import check, predict
from attention_core.dashboard.questions.question import Question
from attention_core.dashboard.questions.verdict import judged
from attention_core.dashboard.tensors import cached_qkv
from attention_core.measures import asymmetry

SYMMETRY = Question("qkv_symmetry", at_once=True)
UNDECIDED = "Not yet"
ANSWERS = {  # by which of the two are symmetric: scores, weights
    (True, True): "Both",
    (True, False): "Only the scores",
    (False, True): "Only the weights",
    (False, False): "Neither",
}
WHY = (
    "The scores are symmetric, because the dot product is. The weights are not: the softmax "
    "divides each row by its own sum, so query 1 and query 3 share out differently what they have "
    "in common. Attention is a relation with a direction."
)
TASK = (
    "Let the keys be the queries, **K = Q**. Then query 1 compares itself with key 3 just as "
    "query 3 does with key 1. Which is symmetric: the scores, the weights, both? (The pictures "
    "will show the five tokens with which this page begins.)"
)


def ask_about_symmetry(settings: ComputeSettings) -> None:
    """Predict, then see: scores and weights of the lesson's queries with K = Q."""
    keep_section(symmetry_section(TASK))
    st.markdown(TASK)
    answer = predict(SYMMETRY, _choose)
    if answer is None:
        return
    q, _, v = (tensor[0] for tensor in cached_qkv(2, 5, 5, 8, 0, settings.dtype, settings.device))
    steps = attention_steps(q, q, v)
    of_scores, of_weights = asymmetry(steps.scores), asymmetry(steps.weights)
    scores, weights = st.columns(2)
    with scores:
        off = of_scores
        alt_text = f"Scores with K = Q; across the diagonal they differ by {off:.1e} at most."
        show(
            heatmap(steps.scores, title="Scores, K = Q", alt_text=alt_text, scale="signed"),
            key="qkv_symmetric_scores",
        )
        st.metric("Largest |s_ij − s_ji|", f"{off:.2g}")
    with weights:
        off = of_weights
        alt_text = f"Weights with K = Q; across the diagonal they differ by up to {off:.2f}."
        show(
            heatmap(steps.weights, title="Weights, K = Q", alt_text=alt_text),
            key="qkv_symmetric_weights",
        )
        st.metric("Largest |w_ij − w_ji|", f"{off:.2g}")
    rounding = compare(steps, q, q, v).tolerance
    right = ANSWERS[of_scores <= rounding, of_weights <= rounding]
    verdict = check(
        SYMMETRY,
        answer,
        judged(answer.guess == right, WHY if right == "Only the scores" else ""),
        said=str(answer.guess),
        result=f"across the diagonal scores differ by {of_scores:.2g} at most, weights by "
        f"{of_weights:.2g}",
    )
    keep_section(symmetry_section(TASK, answer.guess, verdict))


def _choose(_: bool) -> str | None:
    options = (UNDECIDED, *ANSWERS.values())
    guess = controls.segments("Your prediction", options, key=SYMMETRY.key)
    return None if guess == UNDECIDED else guess
