"""A question that many get wrong: if the keys are the queries, what is symmetric?"""

import streamlit as st

from attention_core.attention import attention_steps
from attention_core.dashboard import controls
from attention_core.dashboard.charts.chart import show
from attention_core.dashboard.charts.heatmap import heatmap
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.controls.shared_link import SOLUTIONS, hides
from attention_core.dashboard.export.page_export import keep_section
from attention_core.dashboard.qkv_formula.notebook import symmetry_section
from attention_core.dashboard.questions.exercise import say_hidden
from attention_core.dashboard.tensors import cached_qkv
from attention_core.measures import asymmetry

UNDECIDED = "Not yet"
ANSWERS = (UNDECIDED, "Both", "Only the scores", "Only the weights", "Neither")
TASK = (
    "Let the keys be the queries, **K = Q**. Then query 1 compares itself with key 3 just as "
    "query 3 does with key 1. Which is symmetric: the scores, the weights, both? (The pictures "
    "will show the five tokens with which this page begins.)"
)


def ask_about_symmetry(settings: ComputeSettings) -> None:
    """Predict, then see: scores and weights of the lesson's queries with K = Q."""
    keep_section(symmetry_section(TASK))
    st.markdown(TASK)
    guess = controls.segments("Your prediction", ANSWERS, key="qkv_symmetry")
    if guess == UNDECIDED:
        return
    if hides(SOLUTIONS):
        say_hidden()
        return
    q, _, v = (tensor[0] for tensor in cached_qkv(2, 5, 5, 8, 0, settings.dtype, settings.device))
    steps = attention_steps(q, q, v)
    scores, weights = st.columns(2)
    with scores:
        off = asymmetry(steps.scores)
        alt_text = f"Scores with K = Q; across the diagonal they differ by {off:.1e} at most."
        show(
            heatmap(steps.scores, title="Scores, K = Q", alt_text=alt_text, scale="signed"),
            key="qkv_symmetric_scores",
        )
        st.metric("Largest |s_ij − s_ji|", f"{off:.2g}")
    with weights:
        off = asymmetry(steps.weights)
        alt_text = f"Weights with K = Q; across the diagonal they differ by up to {off:.2f}."
        show(
            heatmap(steps.weights, title="Weights, K = Q", alt_text=alt_text),
            key="qkv_symmetric_weights",
        )
        st.metric("Largest |w_ij − w_ji|", f"{off:.2g}")
    verdict = (
        f"{'**Right.**' if guess == 'Only the scores' else '**Not quite.**'} The scores are "
        "symmetric, because the dot product is. The weights are not: the softmax divides each "
        "row by its own sum, so query 1 and query 3 share out differently what they have in "
        "common. Attention is a relation with a direction."
    )
    st.markdown(verdict)
    keep_section(symmetry_section(TASK, guess, verdict))
