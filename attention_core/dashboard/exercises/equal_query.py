"""Exercise 1, first half: a query that is the sum of two tokens."""

from functools import partial

import streamlit as st

from attention_core.agreement import compare
from attention_core.dashboard import controls
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.exercises.blended_query_notebook import equal_section
from attention_core.dashboard.exercises.digits import fixed
from attention_core.dashboard.exercises.two_tokens import (
    FIRST,
    OTHERS,
    SECOND,
    SEQUENCE,
    SHARPNESS,
    ask,
    show_weights,
    tokens,
)
from attention_core.dashboard.export.page_export import keep_section
from attention_core.dashboard.export.weight_files import Matrix
from attention_core.dashboard.panels.agreement import show_agreement
from attention_core.dashboard.panels.formula import formula
from attention_core.dashboard.panels.value_errors import show_value_errors
from attention_core.dashboard.questions.ask import check, predict
from attention_core.dashboard.questions.question import Question
from attention_core.dashboard.questions.verdict import Verdict, judged
from attention_core.devices import DTYPES
from attention_core.retrieval import blend

WEIGHT = Question(
    "ex_blend_weight",
    (
        "Which dot product does the query have with key 2? With key 4? With the other three?",
        "Equal dot products give equal scores, and equal scores give equal weights. And what do "
        "all five weights add up to?",
        "Two scores are 25/√6 ≈ 10.2, the other three are 0. Against $e^{10.2}$, $e^0$ is next to "
        "nothing.",
    ),
)
TASK = (
    "The retrieval demo asks for one token. Here the query asks for two at once, **token 2 + "
    "token 4**. There are six one-hot tokens of sharpness 5: token $t$ is $5\\,e_t$, where "
    "$e_t$ has six entries, a 1 at position $t$ and 0 elsewhere. Keys and values are tokens 0 "
    "to 4. How much weight goes to each of the two?"
)


def show_equal_query(settings: ComputeSettings) -> bool:
    """Predict the weight on each of the two tokens, then change the sharpness."""
    st.markdown(TASK)
    formula(r"q = 5\,e_2 + 5\,e_4")
    formula(r"w = \mathrm{softmax}\!\left(q K^\top / \sqrt{6}\right)")
    section = partial(equal_section, WEIGHT.title, TASK)
    keep_section(section())
    answer = predict(
        WEIGHT,
        lambda locked: controls.slider(
            "The weight on each of the two tokens, in percent",
            *(0, 100, 0),
            key=f"{WEIGHT.key}_guess",
            disabled=locked,
        ),
    )
    if answer is None:
        return False
    found, dtype = ask(settings, 1.0, 1.0), DTYPES[settings.dtype]
    weight = found.weights[FIRST].item()
    guess, others = answer.guess, found.weights[OTHERS].sum().item()
    verdict = check(
        WEIGHT,
        answer,
        judge(guess, weight, others),
        said=f"{guess} %",
        result=f"{fixed(100 * weight, dtype, 3)} % on each",
    )
    explore, learn = st.columns(2, gap="large")
    with explore:
        st.markdown("Does the result depend on how sharp the tokens are? Move the sharpness.")
        sharpness = controls.slider(
            "Sharpness: the entry of a token at its own position",
            *(0.0, 8.0, SHARPNESS),
            step=0.5,
            key="ex_blend_sharpness",
        )
        with show_value_errors():
            explored = ask(settings, 1.0, 1.0, sharpness)
            show_weights(explored, key="ex_blend_equal")
            weights = Matrix(explored.weights[None], ["query"])
            keep_section(
                section(guess, verdict, sharpness), {"Weights of the equal query": weights}
            )
    with learn:
        _explain(fixed(weight, dtype, 8))
    vocab = tokens(settings)
    q, k = blend(vocab, {FIRST: 1.0, SECOND: 1.0}), vocab[list(SEQUENCE)]
    agreement = compare(found.steps, q, k, k)
    show_agreement(found.steps.output.shape, agreement, settings.dtype)
    return True


def judge(percent: int | None, weight: float, others: float) -> Verdict:
    """The guess against the weight on each of the two, to the mark of the slider beside it."""
    if percent is None:
        return Verdict(None, "")
    right = abs(percent - 100 * weight) <= 1
    return judged(right, _agreed(others) if right else overlooked(percent, others))


def _agreed(others: float) -> str:
    return f"Two equal scores share the whole; the other three keys get {others:.2g} together."


def overlooked(percent: int, others: float) -> str:
    """What this guess overlooks; `others` is the weight on the three keys that do not match."""
    if percent > 50:
        return (
            f"Twice {percent} % is more than the whole: the softmax shares out 1, however many "
            "keys match. Two that match equally well get about half each."
        )
    if percent == 0:
        return "An exponential is never 0, and these two keys match best of all."
    if 17 <= percent <= 23:
        return (
            f"{percent} % is about an even share for all five keys. But two of them have the dot "
            "product 25 and three have 0: only equal scores share evenly."
        )
    return (
        f"That would leave {100 - 2 * percent} % to the three keys that do not match. Their score "
        f"is 0 against 10.2, and the exponential leaves them {others:.2g} in all."
    )


def _explain(weight: str) -> None:
    st.markdown("**Why.** The dot product of the query with each key, then the softmax:")
    formula(r"q \cdot k_2 = q \cdot k_4 = 5 \cdot 5 = 25, \quad \text{else } 0")
    formula(
        rf"w_2 = w_4 = \frac{{e^{{25/\sqrt6}}}}{{2\,e^{{25/\sqrt6}} + 3\,e^0}} \approx {weight}"
    )
    st.markdown(
        "The output is a blend of both tokens, half and half: its largest entry is shared, so no "
        "single token is retrieved. At sharpness 0 all tokens are alike, and all share evenly."
    )
