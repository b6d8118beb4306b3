"""Five masks to reproduce by a rule; any rule that draws the same mask is right."""

import streamlit as st
import torch

from attention_core.dashboard import controls
from attention_core.dashboard.charts.chart import show, show_tables
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.controls.url_state import hides_solutions
from attention_core.dashboard.export.page_export import keep_section
from attention_core.dashboard.mask_workshop.current_mask import CurrentMask
from attention_core.dashboard.mask_workshop.judging import JudgedRule, difference, judge
from attention_core.dashboard.mask_workshop.mask_view import mask_chart
from attention_core.dashboard.mask_workshop.notebook import challenge_section
from attention_core.dashboard.mask_workshop.targets import TARGETS, Target
from attention_core.dashboard.panels.rule_refusal import show_refusal
from attention_core.dashboard.progress.progress import Progress
from attention_core.dashboard.questions.ask import give_hints, note
from attention_core.dashboard.questions.question import Question
from attention_core.dashboard.questions.verdict import judged, show_verdict
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
        found = _judge(target, rule) if rule else None
        if found:
            _check(target, rule, found)
        elif _solved(target):
            st.caption("You have solved this one before.")
        _help(target)
    if found and not torch.equal(mask := found.mask.to(settings.device), wanted):
        charts["Your mask"] = mask_chart(mask, "The mask of your rule")
        charts["Difference"] = difference(mask, wanted)
        for place, name in zip(st.columns(2), ("Your mask", "Difference"), strict=True):
            with place:
                show(charts[name], key=f"work_ch_{name[:4].lower()}")
    show_tables(charts, key="work_ch_tables")


def _judge(target: Target, rule: str) -> JudgedRule | None:
    try:
        return judge(target, rule)
    except MaskRuleError as error:
        show_refusal(rule, error)
        return None


def _check(target: Target, rule: str, found: JudgedRule) -> None:
    """Say what the rule is worth, and note it."""
    question = target.question
    show_verdict(found.verdict)
    # The result, as what is said may quote the rule, and in a notebook that is data.
    told = judged(bool(found.verdict.right), found.result).text
    wanted = target.mask(target.sizes)
    keep_section(challenge_section(question.title, target.task, wanted, rule, told))
    note(question, prediction=rule, result=found.result, right=found.verdict.right)


def _solved(target: Target) -> bool:
    entry = Progress.here().of(target.question.key)
    return entry is not None and bool(entry.right)


def _help(target: Target) -> None:
    """Hints, each after the one before, and a solution; none where the link hides solutions."""
    if hides_solutions():
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
            note(target.question, result=f"one solution is {target.rule}")
