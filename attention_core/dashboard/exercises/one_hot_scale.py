"""Exercise 2, first part: the retrieval demo without the scale, as the lesson asks."""

from functools import partial

import streamlit as st

from attention_core.dashboard import controls
from attention_core.dashboard.charts.bars import bars
from attention_core.dashboard.charts.chart import show
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.exercises.digits import fixed
from attention_core.dashboard.exercises.no_scale_notebook import one_hot_section
from attention_core.dashboard.exercises.scaling_lines import (
    RULE_NAMES,
    SCALED,
    SIZES,
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
from attention_core.devices import DTYPES
from attention_core.retrieval import blend, retrieve, vocabulary
from attention_core.scaling import scale_for

N_KEYS, TOKEN, SHARPNESS = 5, 2, 5.0

ONE_HOT = Question(
    "ex_scale_onehot",
    (
        "Write down the dot product of token 2 with itself for D = 8. How many of its terms are "
        "not 0?",
        "How many are there for D = 128?",
        "Without a scale, the weights depend on the dot products and on nothing else.",
    ),
)
TASK = (
    "The lesson's task: take the scale out (`scale=1`), raise D from 8 to 128 and watch the "
    "weights. **D** is how many entries a query or a key has, $d_k$ in the formula. First with "
    "the retrieval demo: five one-hot tokens of sharpness 5 (a single entry of each is 5, all "
    "others are 0), and the query is token 2. **Without** the scale, what happens to the "
    "weight on the match?"
)


def show_one_hot(settings: ComputeSettings) -> bool:
    """Predict what D does to a look-up among one-hot tokens, then look at every D."""
    st.markdown(TASK)
    formula(r"w = \mathrm{softmax}(q K^\top)")
    st.markdown("instead of")
    formula(r"w = \mathrm{softmax}\!\left(q K^\top / \sqrt{D}\right)")
    section = partial(one_hot_section, ONE_HOT.title, TASK)
    keep_section(section())
    answer = predict(
        ONE_HOT,
        lambda locked: controls.choice(
            "From D = 8 to D = 128, without the scale, the weight on the match:",
            {
                RISES: "More dimensions, larger dot products.",
                SAME: "More dimensions change nothing here.",
                FALLS: "More dimensions dilute the match.",
            },
            key=f"{ONE_HOT.key}_guess",
            disabled=locked,
        ),
    )
    if answer is None:
        return False
    undivided, divided = (_on_match(settings, rule) for rule in (UNSCALED, SCALED))
    measured = study(settings, "one_hot", UNSCALED)
    before, after = (measured[d].mean_largest_weight for d in (8, 128))
    guess = answer.guess
    verdict = check(
        ONE_HOT,
        answer,
        judge_trend(guess, before, after, FEEDBACK, usual=SAME),
        said=f"“{guess}”",
        result=f"{undivided[8]} at D = 8 and {undivided[128]} at D = 128",
    )
    explore, learn = st.columns(2, gap="large")
    with explore:
        up_to = sizes("ex_scale_onehot_to")
        title = "One-hot tokens: weight on the match"
        show(
            largest_weights(settings, "one_hot", up_to, RULE_NAMES, title), key="ex_scale_onehot_w"
        )
    with learn:
        st.markdown("**Why.** Each dot product is a sum of D terms, and for one-hot tokens:")
        formula(r"\sum_{d=1}^{D} q_d\,k_{2,d} = 5 \cdot 5 + 0 + \dots + 0 = 25")
        st.markdown(
            "25 at every D. It is the scale that brings D in: scores of $25/\\sqrt{D}$ shrink, and "
            f"the weight on the match falls from {divided[8]} at D = 8 to {divided[128]} at "
            f"D = 128 and {divided[1024]} at D = 1024. Here **the scale flattens a look-up** that "
            "was sharp, and nothing called for it."
        )
    keep_section(section(guess, verdict, up_to, _show_all_weights(settings)))
    return True


def _on_match(settings: ComputeSettings, rule: str) -> dict[int, str]:
    found = study(settings, "one_hot", rule)
    return {d: fixed(found[d].mean_largest_weight, DTYPES[settings.dtype], 5) for d in SIZES}


FEEDBACK = {
    RISES: "Dot products grow with D where the terms are random and none is 0. Here all but one "
    "are 0, and they stay 0 however many are added.",
    SAME: "Adding zeros to a dot product leaves it what it was.",
    FALLS: "That is what happens *with* the scale, which divides 25 by √D. It was taken out.",
}


def _show_all_weights(settings: ComputeSettings) -> int:
    st.markdown("All five weights at one D, without and with the scale:")
    d = controls.select("D", SIZES, key="ex_scale_d")
    dtype = DTYPES[settings.dtype]
    vocab = vocabulary(d, SHARPNESS, device=settings.device, dtype=dtype)
    labels = [f"token {j}" for j in range(N_KEYS)]
    for column, rule in zip(st.columns(2, gap="large"), (UNSCALED, SCALED), strict=True):
        found = retrieve(blend(vocab, {TOKEN: 1.0}), vocab, range(N_KEYS), scale=scale_for(rule, d))
        weight = fixed(found.weights[TOKEN].item(), dtype, 5)
        says = f"D = {d}, {RULE_NAMES[rule]}: {weight} on token 2."
        with column:
            chart = bars(found.weights, labels, title=f"Weights, {RULE_NAMES[rule]}", alt_text=says)
            show(chart, key=f"ex_scale_bars_{'scaled' if rule == SCALED else 'unscaled'}")
    return d
