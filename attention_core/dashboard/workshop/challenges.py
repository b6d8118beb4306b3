"""Five masks to reproduce by a rule; any rule that draws the same mask is right."""

import streamlit as st
import torch

from attention_core.dashboard import controls, progress, shared_link
from attention_core.dashboard.browser_memory import record
from attention_core.dashboard.exercise import Question, give_hints
from attention_core.dashboard.frame import Setting
from attention_core.dashboard.notebooks.workshop import challenge_chapter
from attention_core.dashboard.picture import show, show_tables
from attention_core.dashboard.take_away import keep
from attention_core.dashboard.workshop.in_hand import MaskInHand
from attention_core.dashboard.workshop.judging import Verdict, difference, judge
from attention_core.dashboard.workshop.mask_view import mask_picture
from attention_core.dashboard.workshop.refusal import show_refusal
from attention_core.dashboard.workshop.targets import TARGETS, Target
from attention_core.mask_rules import MaskRuleError

CHALLENGES: tuple[Question, ...] = tuple(target.question for target in TARGETS)


def show_challenges(hand: MaskInHand, setting: Setting) -> None:
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
    wanted = target.mask(target.sizes).to(setting.device)
    pictures = {"Target": mask_picture(wanted, f"Target: {n_q} queries, {n_k} keys")}
    see, answer = st.columns(2, gap="large")
    with see:
        show(pictures["Target"], key="work_ch_target")
    with answer:
        st.markdown(target.task)
        rule = controls.text("Your rule for this target", "", key=target.question.key).strip()
        keep(challenge_chapter(target.question.title, target.task, wanted))
        verdict = _judge(target, rule, setting) if rule else None
        if verdict:
            _show_verdict(target, rule, verdict)
        elif _solved(target):
            st.caption("You have solved this one before.")
        _help(target)
    if verdict and not torch.equal(verdict.mask, wanted):
        pictures["Your mask"] = mask_picture(verdict.mask, "The mask of your rule")
        pictures["Difference"] = difference(verdict.mask, wanted)
        for place, name in zip(st.columns(2), ("Your mask", "Difference"), strict=True):
            with place:
                show(pictures[name], key=f"work_ch_{name[:4].lower()}")
    show_tables(pictures, key="work_ch_tables")


def _judge(target: Target, rule: str, setting: Setting) -> Verdict | None:
    try:
        verdict = judge(target, rule)
    except MaskRuleError as error:
        show_refusal(rule, error)
        return None
    on_device = verdict.mask.to(setting.device)
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
    keep(challenge_chapter(target.question.title, target.task, wanted, rule, told))
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
