"""What a guess is worth."""

from dataclasses import dataclass

import streamlit as st


@dataclass(frozen=True)
class Verdict:
    """right  whether the guess agrees with what was computed; None where nothing was guessed, or
              where nothing can be decided
    text      what the learner is told, in Markdown of our own
    """

    right: bool | None
    text: str


def judged(right: bool, text: str) -> Verdict:
    """A verdict that begins with the word for it."""
    return Verdict(right, f"{'**Right.**' if right else '**Not quite.**'} {text}".strip())


def show_verdict(verdict: Verdict) -> None:
    """The same coloured box everywhere."""
    if verdict.right:
        st.success(verdict.text, icon=":material/check_circle:")
    elif verdict.right is False:
        st.warning(verdict.text, icon=":material/cancel:")
    else:
        st.info(verdict.text, icon=":material/visibility:")
