"""Predict first: what answers a question is drawn, and kept, only after the learner's guess."""

from collections.abc import Iterable, Mapping

from attention_core.dashboard import controls
from attention_core.dashboard.controls.shared_link import SOLUTIONS, hides
from attention_core.dashboard.questions.exercise import say_hidden


def predict_first(
    asked: str, answers: Iterable[str], *, key: str, captions: Mapping[str, str] | None = None
) -> str | None:
    """The learner's guess; None as long as what follows the question must stay hidden.

    `captions` say, of an answer, what it names.
    """
    options = {answer: (captions or {}).get(answer, "") for answer in answers}
    guess = controls.choice(asked, options, key=key)
    if guess is not None and hides(SOLUTIONS):
        say_hidden()
        return None
    return guess
