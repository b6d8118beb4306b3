"""A specimen under the conditions of the page: all that is seen of it, computed once a run."""

from dataclasses import dataclass

from torch import Tensor

from attention_core.dashboard.bug_lab.conditions import Conditions
from attention_core.dashboard.bug_lab.specimens import behind
from attention_core.faults import IMPLEMENTATIONS, Implementation, right
from attention_core.faults.symptoms import Symptoms, allowed_by_both, symptoms
from attention_core.faults.telling_apart import indistinguishable


@dataclass(frozen=True, eq=False)
class Case:
    """place   the sequence and the head in the pictures
    seen       the symptoms of the specimen, or its error
    reference  those of the right implementation
    allowed    which pairs of that sequence are allowed, (n, n)
    alike      the implementations that give the same here, the specimen itself among them
    """

    letter: str
    conditions: Conditions
    place: tuple[int, int]
    seen: Symptoms | str
    reference: Symptoms | str
    allowed: Tensor
    alike: tuple[Implementation, ...]

    @property
    def truth(self) -> Implementation:
        """What the learner is to find out."""
        return behind(self.letter)


def examine(letter: str, conditions: Conditions, place: tuple[int, int] = (0, 0)) -> Case:
    """Run the specimen, and all that it could be, under these conditions."""
    inputs = q, k, _, mask, padding = conditions.inputs()
    pairs = allowed_by_both(q, k, mask, padding)
    return Case(
        letter,
        conditions,
        place,
        seen=symptoms(behind(letter), *inputs),
        reference=symptoms(right, *inputs),
        allowed=pairs.expand(conditions.batch, 1, -1, -1)[place[0], 0],
        alike=indistinguishable(behind(letter), IMPLEMENTATIONS, *inputs),
    )
