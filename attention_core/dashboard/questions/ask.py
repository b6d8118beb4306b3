"""How a question goes: predict, commit or be shown, be checked, explore, understand why.

What the learner predicts lives in the address, so a refresh restores it. Until a prediction is
committed the page does not compute the result, so nothing of it reaches the browser.

    answer = predict(QUESTION, lambda locked: controls.slider(..., disabled=locked))
    if answer:
        verdict = judged(right, feedback)  # right: the guess against what is computed now
        check(QUESTION, answer, verdict, said="50 %", result="49.997 %")
        ...  # explore: charts and controls, below the verdict
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from attention_core.dashboard import controls
from attention_core.dashboard.controls.url_state import hides_solutions
from attention_core.dashboard.progress.progress import Progress
from attention_core.dashboard.questions.question import Question
from attention_core.dashboard.questions.verdict import Verdict, show_verdict

Guess = TypeVar("Guess")

THINKING, LOCK_IN, SHOW_ME = MOVES = ("Thinking", "Lock in", "Show me")
_RUN_AGAIN = "question_run_again"


@dataclass(frozen=True)
class Answer(Generic[Guess]):
    """What the learner committed to; the guess is None for one who asked to be shown."""

    guess: Guess | None


def predict(question: Question, control: Callable[[bool], Guess | None]) -> Answer[Guess] | None:
    """Ask for a prediction; None as long as the result must stay hidden.

    `control` draws the control for the prediction, disabled if its argument is True, and returns
    the guess, or None where none is made yet.
    """
    if question.at_once:
        guess = control(False)
        move = LOCK_IN if guess is not None else THINKING
    else:
        guess, move = _lock_in(question, control)
    if hides_solutions():
        if move == LOCK_IN and guess is not None:
            _say_hidden()
        return None
    if move == SHOW_ME:
        return Answer(None)
    if move == LOCK_IN and guess is not None:
        return Answer(guess)
    if move == LOCK_IN:
        st.info(
            "There is no prediction to lock in: go back to **Thinking** and make one, or choose "
            "**Show me**.",
            icon=":material/edit:",
        )
    give_hints(question)
    return None


def choose(
    question: Question, asked: str, options: Mapping[str, str] | tuple[str, ...]
) -> Answer[str] | None:
    """`predict` by one choice of several (with captions, if a mapping) that answers at once."""
    captions = options if isinstance(options, Mapping) else dict.fromkeys(options, "")
    return predict(
        question,
        lambda locked: controls.choice(asked, captions, key=question.key, disabled=locked),
    )


def check(
    question: Question, answer: Answer[Any], verdict: Verdict, *, said: str, result: str
) -> str:
    """Show the verdict on the answer, and note it in the progress. Returns what is said.

    `said` is the guess in words, `result` what was computed. Where the prediction was locked in,
    both stand in the verdict as well.
    """
    if answer.guess is None:
        verdict = Verdict(None, f"**Computed here: {result}.**")
        note(question, result=result)
    else:
        if not question.at_once:
            word, _, rest = verdict.text.partition("** ")
            versus = f"You said {said}; computed here: {result}."
            verdict = Verdict(verdict.right, f"{word}** {versus} {rest}".strip())
        note(question, prediction=said, result=result, right=verdict.right)
    show_verdict(verdict)
    return verdict.text


def note(
    question: Question, *, prediction: str | None = None, result: str, right: bool | None = None
) -> None:
    """Record an answer; where only a part of the page runs, have the browser keep it as well."""
    changed = Progress.here().record(question.key, prediction, result, right)
    context = get_script_run_ctx()
    if changed and context and context.fragment_ids_this_run:
        st.rerun()  # of the whole page, which ends with the browser's memory


def run_again_if_locked() -> None:
    """At the end of what asks: a prediction that has just been committed is locked by a new run."""
    if st.session_state.pop(_RUN_AGAIN, False):
        st.rerun()


def _lock_in(
    question: Question, control: Callable[[bool], Guess | None]
) -> tuple[Guess | None, str]:
    """The guess, and which of the MOVES the learner has made.

    What arrives for a disabled control may be dropped, and a prediction can arrive together with
    the move, from a learner who is faster than the server. So it is locked by a run of its own.
    """
    above = st.container()
    move = controls.segments(
        "Your move",
        MOVES[:2] if hides_solutions() else MOVES,
        key=f"{question.key}_move",
        help="Lock in your prediction to see the result beside it, or ask to be shown.",
    )
    out, was_out = move != THINKING, st.session_state.get(f"{question.key}_out", False)
    st.session_state[f"{question.key}_out"] = out
    if out and not was_out:
        st.session_state[_RUN_AGAIN] = True
    with above:
        return control(out and was_out), move


def _say_hidden() -> None:
    """Where a solution would stand, had the link that the learner followed not hidden it."""
    st.info(
        "Locked in. The link that brought you here hides the solution. Your prediction stays in "
        "the address of this page.",
        icon=":material/lock:",
    )


def give_hints(question: Question) -> None:
    """The hints in folds, each only after the one before it was opened."""
    for number, hint in enumerate(question.hints, start=1):
        fold = st.expander(
            f"Hint {number} of {len(question.hints)}",
            icon=":material/lightbulb:",
            key=f"{question.key}_hint_{number}",
            on_change="rerun",
        )
        with fold:
            if fold.open:
                st.markdown(hint)
        if not fold.open:
            return
