"""Something to predict."""

from dataclasses import dataclass

from attention_core.dashboard.catalogue import TITLES


@dataclass(frozen=True)
class Question:
    """A question of the catalogue.

    key      of its controls in the address, and of its record in the progress
    hints    from a nudge to nearly the answer; each opens after the one before
    at_once  whether a choice is the answer at once; if not, the learner locks a prediction in
    """

    key: str
    hints: tuple[str, ...] = ()
    at_once: bool = False

    @property
    def title(self) -> str:
        """As the Overview lists it. KeyError for a question that the catalogue does not hold."""
        return TITLES[self.key]
