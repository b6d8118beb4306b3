"""A question in a notebook: open, with the code to find out, or with its prediction and verdict."""

from collections.abc import Callable, Sequence
from typing import Any

from attention_core.dashboard.controls.url_state import hides_solutions
from attention_core.dashboard.export.notebook_section import Choice, Code, NotebookSection, Words

OPEN = "Write down your prediction first, in place of `None` below. Then run the code to find out."


def question_section(
    title: str,
    task: str,
    cells: Sequence[Words | Code],
    *,
    prediction: object = None,
    verdict: str | None = None,
    choices: Sequence[Choice] = (),
    explored: Sequence[Words | Code] = (),
    uses: Sequence[Callable[..., Any]] = (),
) -> NotebookSection:
    """The task, the code that answers it, and the code of what the learner `explored` since.

    The verdict is None as long as the result is hidden. Then no prediction enters either: one that
    is not locked in may still change. Where a teacher's link hides the solutions, the notebook has
    no code to find out.
    """
    if verdict is None:
        asked = Choice("prediction", None, "what do you expect?")
        if hides_solutions():
            return NotebookSection(title, (task,), (asked,))
        return NotebookSection(title, (task, OPEN), (asked, *choices), cells, uses)
    said = Choice("prediction", prediction, "yours; None if you asked to be shown")
    return NotebookSection(
        title, (task,), (said, *choices), (*cells, Words(verdict), *explored), uses
    )
