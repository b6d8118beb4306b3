"""The learner's diagnosis: committed to, answered with evidence, and explained."""

from functools import partial

import streamlit as st

from attention_core.dashboard import controls
from attention_core.dashboard.bug_lab.case import Case
from attention_core.dashboard.bug_lab.diagnosis_notebook import diagnosis_section
from attention_core.dashboard.bug_lab.explanation import explain, explain_the_names
from attention_core.dashboard.bug_lab.feedback import mismatch, undecided
from attention_core.dashboard.bug_lab.figures import figure
from attention_core.dashboard.bug_lab.names import DIAGNOSES, NAMES
from attention_core.dashboard.bug_lab.score import diagnosed, note_diagnosis, show_score
from attention_core.dashboard.bug_lab.specimens import LETTERS, SPECIMEN, question
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.export.page_export import keep_section
from attention_core.dashboard.questions.ask import Answer, predict
from attention_core.dashboard.questions.exercise import Exercise, show_exercise
from attention_core.dashboard.questions.verdict import Verdict, judged, show_verdict


def diagnose(case: Case, settings: ComputeSettings) -> None:
    """Ask for the diagnosis, check it, and offer the next specimen once the answer is out."""
    asked = question(case.letter)
    over = show_exercise(Exercise(asked.title, (asked,), (partial(_ask, case),), ()), settings)
    if over:
        following = _next(case.letter)
        st.button(
            f"Next specimen: {following}",
            icon=":material/arrow_forward:",
            key="lab_next",
            on_click=controls.assign,
            args=(SPECIMEN, following),
        )


def _ask(case: Case, _: ComputeSettings) -> bool:
    asked = question(case.letter)
    keep_section(diagnosis_section(case))
    left, beside = st.columns(2, gap="large")
    with left:
        answer = predict(
            asked,
            lambda locked: controls.choice(
                f"What is wrong with specimen {case.letter}?",
                dict.fromkeys(DIAGNOSES, ""),
                key=f"{asked.key}_guess",
                disabled=locked,
            ),
        )
    with beside:
        solved = answer is not None and _check(case, answer)
        show_score(asked)
        if not solved:
            explain_the_names()
    if solved:
        explain(case.truth)
    return answer is not None


def _check(case: Case, answer: Answer[str]) -> bool:
    """Say what the answer is worth; True if the fault may be shown now."""
    asked, name = question(case.letter), NAMES[case.truth]
    if answer.guess is None:
        shown = f"**{name.short}.** {name.meaning}"
        show_verdict(Verdict(None, shown))
        keep_section(diagnosis_section(case, None, shown, out=True))
        note_diagnosis(asked, None, right=False, result=name.short)
        return True
    guess = DIAGNOSES[answer.guess]
    if guess is case.truth:
        note_diagnosis(asked, answer.guess, right=True, result=name.short)
        others = len(case.alike) - 1
        luck = (
            f" Under these settings, though, {others} of the other implementations would look the "
            "same: other settings show the difference."
            if others
            else ""
        )
        told = f"**Right: {name.short}.** {name.meaning}{luck}"
        show_verdict(Verdict(True, told))
        keep_section(diagnosis_section(case, answer.guess, told, out=True))
        return True
    note_diagnosis(asked, answer.guess, right=False, result=_summary(case))
    if guess in case.alike:
        verdict = Verdict(None, undecided(guess, case))
    else:
        verdict = judged(False, mismatch(guess, case))
    show_verdict(verdict)
    keep_section(diagnosis_section(case, answer.guess, verdict.text))
    st.markdown("To try another diagnosis, go back to **Thinking**.")
    return False


def _summary(case: Case) -> str:
    """The specimen in the progress, before it is known what is wrong with it."""
    if isinstance(case.seen, str):
        return "it stops with an error"
    return f"its output differs from PyTorch's by {figure(case.seen.torch_difference)} at most"


def _next(letter: str) -> str:
    """The next specimen that is not diagnosed yet, or simply the next one if all are."""
    at = LETTERS.index(letter) + 1
    following = [*LETTERS[at:], *LETTERS[: at - 1]]
    done = diagnosed()
    return next((other for other in following if question(other) not in done), following[0])
