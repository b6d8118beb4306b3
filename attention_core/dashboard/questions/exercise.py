"""A few questions that belong together, one after the other."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.controls.url_state import hides_solutions
from attention_core.dashboard.questions.ask import run_again_if_locked
from attention_core.dashboard.questions.question import Question


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
            if hides_solutions():
                continue
            if left := len(exercise.parts) - number:
                more = "One more question follows" if left == 1 else f"{left} more questions follow"
                st.caption(f"{more} once you have locked in, or asked to be shown.")
            break
    run_again_if_locked()
    return all_out
