"""Five masks to reproduce by a rule; any rule that draws the same mask is right."""

import streamlit as st
import torch

from attention_core.dashboard import controls
from attention_core.dashboard.charts.chart import show, show_tables
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.controls import shared_link
from attention_core.dashboard.export.page_export import keep_section
from attention_core.dashboard.mask_workshop.current_mask import CurrentMask
from attention_core.dashboard.mask_workshop.judging import Verdict, difference, judge
from attention_core.dashboard.mask_workshop.mask_view import mask_chart
from attention_core.dashboard.mask_workshop.notebook import challenge_section
from attention_core.dashboard.mask_workshop.targets import TARGETS, Target
from attention_core.dashboard.panels.rule_refusal import show_refusal
from attention_core.dashboard.progress import progress
from attention_core.dashboard.progress.browser import record
from attention_core.dashboard.questions.exercise import Question, give_hints
from attention_core.mask_rules import MaskRuleError

CHALLENGES: tuple[Question, ...] = tuple(target.question for target in TARGETS)


def show_challenges(current: CurrentMask, settings: ComputeSettings) -> None:
    """One challenge: the target, the learner's rule, what is wrong with it, and help."""
    st.markdown(
        "Here the picture is given, and the rule is yours to find. **Any** rule that draws the "
        "same mask is right, at the size shown and at another one that you do not see. *Predict* "
        "before you type: what have all the cells in one row in common?"
    )
    number = controls.select(
        "Challenge",
        range(len(TARGETS)),
        key="work_ch_number",
        labels=lambda n: f"{n + 1} of {len(TARGETS)}: {TARGETS[n].question.title}",
    )
    target = TARGETS[number]
    n_q, n_k = target.sizes
    wanted = target.mask(target.sizes).to(settings.device)
    charts = {"Target": mask_chart(wanted, f"Target: {n_q} queries, {n_k} keys")}
    see, answer = st.columns(2, gap="large")
    with see:
        show(charts["Target"], key="work_ch_target")
    with answer:
        st.markdown(target.task)
        rule = controls.text("Your rule for this target", "", key=target.question.key).strip()
        keep_section(challenge_section(target.question.title, target.task, wanted))
        verdict = _judge(target, rule, settings) if rule else None
        if verdict:
            _show_verdict(target, rule, verdict)
        elif _solved(target):
            st.caption("You have solved this one before.")
        _help(target)
    if verdict and not torch.equal(verdict.mask, wanted):
        charts["Your mask"] = mask_chart(verdict.mask, "The mask of your rule")
        charts["Difference"] = difference(verdict.mask, wanted)
        for place, name in zip(st.columns(2), ("Your mask", "Difference"), strict=True):
            with place:
                show(charts[name], key=f"work_ch_{name[:4].lower()}")
    show_tables(charts, key="work_ch_tables")


def _judge(target: Target, rule: str, settings: ComputeSettings) -> Verdict | None:
    try:
        verdict = judge(target, rule)
    except MaskRuleError as error:
        show_refusal(rule, error)
        return None
    on_device = verdict.mask.to(settings.device)
    return Verdict(verdict.right, verdict.result, verdict.says, on_device)


def _show_verdict(target: Target, rule: str, verdict: Verdict) -> None:
    """Say it, and note it."""
    if verdict.right:
        st.success(f"**Right.** {verdict.says}", icon=":material/check_circle:")
    else:
        st.warning(f"**Not quite.** {verdict.says}", icon=":material/cancel:")
    # The result, as what is said may quote the rule, and in a notebook that is data.
    told = f"{'**Right.**' if verdict.right else '**Not quite.**'} {verdict.result}"
    wanted = target.mask(target.sizes)
    keep_section(challenge_section(target.question.title, target.task, wanted, rule, told))
    key = target.question.key
    record(key, prediction=rule, result=verdict.result, right=verdict.right)


def _solved(target: Target) -> bool:
    done = (entry for entry in progress.entries() if entry.exercise == target.question.key)
    return any(entry.right for entry in done)


def _help(target: Target) -> None:
    """Hints, each after the one before, and a solution; none where the link hides solutions."""
    if shared_link.hides(shared_link.SOLUTIONS):
        return
    key = target.question.key
    give_hints(target.question)
    fold = st.expander(
        "A solution", icon=":material/key:", key=f"{key}_solution", on_change="rerun"
    )
    with fold:
        if fold.open:
            st.code(target.rule, language=None, wrap_lines=True)
            st.markdown(target.why)
            record(key, result=f"one solution is {target.rule}")
