"""Exercise 1, second half: two tokens with unequal coefficients."""

import math
from functools import partial

import streamlit as st
import torch
from torch import Tensor

from attention_core.dashboard import controls
from attention_core.dashboard.charts.chart import show
from attention_core.dashboard.charts.lines import lines
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.exercises.blended_query_notebook import unequal_section
from attention_core.dashboard.exercises.digits import fixed, percent
from attention_core.dashboard.exercises.two_tokens import (
    FIRST,
    SECOND,
    SEQUENCE,
    ask,
    show_weights,
    tokens,
)
from attention_core.dashboard.export.page_export import keep_section
from attention_core.dashboard.export.weight_files import Matrix
from attention_core.dashboard.panels.formula import formula
from attention_core.dashboard.questions.ask import check, predict
from attention_core.dashboard.questions.question import Question
from attention_core.dashboard.questions.verdict import Verdict, judged
from attention_core.devices import DTYPES
from attention_core.retrieval import coefficient_for_share

SHARE = 0.9
STEP = 0.05  # of the slider: a guess is right at the marks on either side of the answer
COEFFICIENTS = tuple(step / 20 for step in range(10, 41))  # 0.5 to 2

UNEQUAL = Question(
    "ex_blend_share",
    (
        "90 % to 10 % is 9 to 1. It is the *exponentials* of two scores that are in this ratio.",
        "So the two scores must differ by ln 9 ≈ 2.2. By how much does the score of key 2 grow "
        "when its coefficient grows by 1?",
        "The score of key 2 is $a \\cdot 25/\\sqrt{6} \\approx 10.2\\,a$, that of key 4 is 10.2.",
    ),
)
TASK = (
    "Token 4 keeps the coefficient 1, token 2 gets the coefficient $a$: "
    "$q = a \\cdot 5\\,e_2 + 5\\,e_4$. How large must $a$ be before token 2 takes **90 %** of "
    "the weight?"
)


def show_unequal_query(settings: ComputeSettings) -> bool:
    """Predict the coefficient at which one token takes 90 %, then move it."""
    st.subheader("Now make them unequal")
    st.markdown(TASK)
    section = partial(unequal_section, UNEQUAL.title, TASK)
    keep_section(section())
    answer = predict(
        UNEQUAL,
        lambda locked: controls.slider(
            "The coefficient a of token 2",
            *(1.0, 10.0, 1.0),
            step=STEP,
            key=f"{UNEQUAL.key}_guess",
            disabled=locked,
        ),
    )
    if answer is None:
        return False
    dtype = DTYPES[settings.dtype]
    right = coefficient_for_share(tokens(settings), SEQUENCE, FIRST, SECOND, SHARE)
    guess = answer.guess
    verdict = check(
        UNEQUAL,
        answer,
        judge(guess, right, settings),
        said="" if guess is None else f"a = {guess:.2f}",
        result=f"a = {fixed(right, dtype, 4)}",
    )
    explore, learn = st.columns(2, gap="large")
    with explore:
        a = _explore(settings, fixed(right, dtype, 4))
        weights = Matrix(ask(settings, a, 1.0).weights[None], ["query"])
        keep_section(section(guess, verdict, a), {"Weights of the unequal query": weights})
    with learn:
        score = ask(settings, 1.0, 1.0).steps.scores[0, SECOND].item()
        _explain(fixed(score, dtype, 3), fixed(right, dtype, 4))
    return True


def judge(guess: float | None, right: float, settings: ComputeSettings) -> Verdict:
    """The guess against the coefficient that was computed."""
    if guess is None:
        return Verdict(None, "")
    taken = ask(settings, guess, 1.0).weights[FIRST]
    return judged(abs(guess - right) < STEP, feedback(guess, right, taken))


def feedback(guess: float, right: float, export: Tensor) -> str:
    """What a guess of the coefficient overlooks; with it token 2 takes the share `taken`."""
    outcome = f"With a = {guess:.2f} token 2 takes {percent(export.item(), export.dtype)}."
    if abs(guess - right) < STEP:
        return f"{outcome} A little inequality goes a long way: the softmax is exponential."
    if 8.5 <= guess <= 9.5:
        reason = "9 to 1 is the ratio of the weights, that is of the exponentials of the scores."
    elif abs(guess - math.log(9)) <= 0.1 or abs(guess - 1 - math.log(9)) <= 0.1:
        reason = "ln 9 is the difference of the *scores*: a unit of a is already 10.2 of them."
    elif guess == 1:
        reason = "Equal coefficients give equal weights."
    elif guess < right:
        reason = "Near, but the difference is still scaled down by √6: a little more is needed."
    elif guess < right + 6 * STEP:
        reason = "Near, but less is enough: the softmax is exponential."
    else:
        reason = "Far less will do: what counts is the difference of the scores, not their ratio."
    return f"{reason} {outcome}"


@st.cache_resource(max_entries=16, show_spinner=False)
def share_curve(dtype: str, device: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The weights on token 2 and token 4 for each of COEFFICIENTS."""
    found = [ask(ComputeSettings(device, dtype), a, 1.0).weights for a in COEFFICIENTS]
    weights = torch.stack(found).double().cpu()
    return tuple(weights[:, FIRST].tolist()), tuple(weights[:, SECOND].tolist())


def _explore(settings: ComputeSettings, right: str) -> float:
    st.markdown("Where does token 2 take 90 %? And what happens below 1? Move its coefficient.")
    a = controls.slider(
        "Coefficient a", COEFFICIENTS[0], COEFFICIENTS[-1], 1.0, step=STEP, key="ex_blend_a"
    )
    found = ask(settings, a, 1.0)
    on_first, on_second = share_curve(settings.dtype, settings.device)
    curve = lines(
        {"token 2": on_first, "token 4": on_second},
        COEFFICIENTS,
        title="Weight against the coefficient of token 2",
        alt_text=f"The weight on token 2 climbs steeply where a passes 1 and reaches 90 % at "
        f"a = {right}; at a = {a:.2f} it is "
        f"{percent(found.weights[FIRST].item(), found.weights.dtype)}.",
        x="coefficient a",
        y="weight",
        domain=(0.0, 1.0),
        level=SHARE,
        chosen=a,
        points=False,
    )
    show(curve, key="ex_blend_curve")
    show_weights(found, key="ex_blend_unequal")
    return a


def _explain(score: str, right: str) -> None:
    st.markdown(
        f"**Why.** One unit of coefficient is a score of $s = 25/\\sqrt6 = {score}$, and only "
        "the difference of two scores counts:"
    )
    formula(r"\frac{w_2}{w_4} = \frac{e^{a s}}{e^{s}} = e^{(a - 1)\,s} = 9")
    formula(r"a = 1 + \frac{\ln 9}{s}")
    st.markdown("That is nearly all. The other three keys take a little; with them, exactly:")
    formula(rf"a = \frac{{1}}{{s}} \ln\!\left(9\,(e^{{s}} + 3)\right) \approx {right}")
