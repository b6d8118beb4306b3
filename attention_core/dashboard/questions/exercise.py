"""How an exercise goes: predict, commit or be shown, be checked, explore, understand why.

The learner's prediction and "Lock in" live in the URL, so a refresh restores both. Until then the
page does not compute the result, so nothing of it reaches the browser.

    answer = predict(QUESTION, lambda locked: controls.slider(..., disabled=locked))
    if answer:
        check(QUESTION, answer, said="50 %", right=..., result="49.997 %", feedback=...)
        ...  # explore: pictures and controls, below the verdict
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import streamlit as st

from attention_core.dashboard import controls
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.controls import shared_link
from attention_core.dashboard.controls.shared_link import SOLUTIONS
from attention_core.dashboard.progress.browser import record

Guess = TypeVar("Guess")

THINKING, LOCK_IN, SHOW_ME = MOVES = ("Thinking", "Lock in", "Show me")
_RUN_AGAIN = "exercise_run_again"


@dataclass(frozen=True)
class Question:
    """Something to predict.

    key    of its controls in the URL, and of its record in the progress
    title  as the Overview lists it
    hints  from a nudge to nearly the answer; each opens after the one before
    """

    key: str
    title: str
    hints: tuple[str, ...]


@dataclass(frozen=True)
class Answer(Generic[Guess]):
    """What the learner committed to; the guess is None for one who asked to be shown."""

    guess: Guess | None


@dataclass(frozen=True)
class Exercise:
    """A few questions that belong together, and the code that they ran.

    Each part draws one question, and returns whether its result is out. The next part comes only
    then, as it takes up the result.
    """

    title: str
    questions: tuple[Question, ...]
    parts: tuple[Callable[[ComputeSettings], bool], ...]
    sources: tuple[Callable[..., Any], ...]


def show_exercise(exercise: Exercise, settings: ComputeSettings) -> bool:
    """Draw the parts, up to the first one whose result is still hidden; True if all are out."""
    all_out = True
    for number, part in enumerate(exercise.parts, start=1):
        if number > 1:
            st.divider()
        if not part(settings):
            all_out = False
            if shared_link.hides(SOLUTIONS):
                continue
            if left := len(exercise.parts) - number:
                more = "One more question follows" if left == 1 else f"{left} more questions follow"
                st.caption(f"{more} once you have locked in, or asked to be shown.")
            break
    if st.session_state.pop(_RUN_AGAIN, False):
        st.rerun()
    return all_out


def predict(question: Question, control: Callable[[bool], Guess | None]) -> Answer[Guess] | None:
    """Ask for a prediction; None as long as the result must stay hidden.

    `control` draws the control for the prediction, disabled if its argument is True, and returns
    the guess, or None where none is made yet.
    """
    above = st.container()
    move = controls.segments(
        "Your move",
        MOVES[:2] if shared_link.hides(SOLUTIONS) else MOVES,
        key=f"{question.key}_move",
        help="Lock in your prediction to see the result beside it, or ask to be shown.",
    )
    # What arrives for a disabled control may be dropped, and a prediction can arrive together with
    # the move, from a learner who is faster than the server. So it is locked by a run of its own.
    out, was_out = move != THINKING, st.session_state.get(f"{question.key}_out", False)
    st.session_state[f"{question.key}_out"] = out
    if out and not was_out:
        st.session_state[_RUN_AGAIN] = True
    with above:
        guess = control(out and was_out)
    if shared_link.hides(SOLUTIONS):
        if out and guess is not None:
            say_hidden()
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


def say_hidden() -> None:
    """Where a solution would stand, had the link that the learner followed not hidden it."""
    st.info(
        "Locked in. The link that brought you here hides the solution. Your prediction stays in "
        "the address of this page.",
        icon=":material/lock:",
    )


def check(
    question: Question,
    answer: Answer[Any],
    *,
    said: str,
    right: bool,
    result: str,
    feedback: str,
) -> str:
    """Hold the answer against the result, say what a wrong guess overlooked, note the progress.

    `said` is the guess in words, `feedback` the sentence for this guess. Returns what is said.
    """
    if answer.guess is None:
        shown = f"**Computed here: {result}.**"
        st.info(shown, icon=":material/visibility:")
        record(question.key, result=result)
        return shown
    record(question.key, prediction=said, result=result, right=right)
    versus = f"You said {said}; computed here: {result}."
    verdict = f"{'**Right.**' if right else '**Not quite.**'} {versus} {feedback}"
    if right:
        st.success(verdict, icon=":material/check_circle:")
    else:
        st.warning(verdict, icon=":material/cancel:")
    return verdict


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
