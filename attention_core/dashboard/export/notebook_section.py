"""One part of a page, as its notebook will tell it: words, the learner's choices, and code."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple


class Words(NamedTuple):
    """A cell of Markdown: our own words, never a learner's."""

    text: str


class Code(NamedTuple):
    """A cell of code: our own. Of a learner's text it holds at most a rule that is a legal one,
    see `parse_mask_rule`, where the page itself shows the rule as code."""

    text: str


class Choice(NamedTuple):
    """What the learner chose: its name in the code, a plain value, and what it is."""

    name: str
    value: object
    meaning: str


@dataclass(frozen=True)
class NotebookSection:
    """One part of a page.

    title    its heading
    words    what the page says there, and its formulas
    choices  what the learner set; becomes a cell of literals
    cells    what follows; their code may call every public name of the library, and `uses`, and
             what chapters before it have defined
    """

    title: str
    words: Sequence[str]
    choices: Sequence[Choice] = ()
    cells: Sequence[Words | Code] = ()
    uses: Sequence[Callable[..., Any]] = ()


def displayed(tex: str) -> str:
    """A formula on a line of its own."""
    return f"$$\n{tex}\n$$"
