"""Why a diagnosis does not fit: what it would show here, against what is seen, both computed."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from attention_core.dashboard.bug_lab.aspects import FIRST, FORBIDDEN, NOT_NUMBERS, ROWS
from attention_core.dashboard.bug_lab.figures import DIGITS, apart
from attention_core.dashboard.bug_lab.names import NAMES
from attention_core.faults import Implementation
from attention_core.faults.symptoms import Symptoms

_ALL_DIGITS = 17  # of a float64


@dataclass(frozen=True)
class Look:
    """One aspect of both, ready to be compared; `allowed` is what rounding explains."""

    says: str
    would: Tensor
    seen: Tensor
    allowed: float


def evidence(
    guess: Implementation,
    would: Symptoms | str,
    seen: Symptoms | str,
    tolerances: tuple[float, float],
    place: tuple[int, int] = (0, 0),
) -> str:
    """What `guess` would show and is not seen, in one sentence; "" if nothing.

    It is the first thing that few digits show, so nobody has to compare long numbers.
    `tolerances` of weights and outputs: what rounding explains (`telling_apart.rounding`).
    `place` is the sequence and the head in the pictures: a cell is named from there if it can be.
    """
    found = _difference(guess, would, seen, tolerances, place)
    return f"If {NAMES[guess].clause}, {found}." if found else ""


def _difference(
    guess: Implementation,
    would: Symptoms | str,
    seen: Symptoms | str,
    tolerances: tuple[float, float],
    place: tuple[int, int],
) -> str:
    if isinstance(would, str) or isinstance(seen, str):
        return _of_errors(would, seen) if would != seen else ""
    looks = [*_looks(guess, would, seen, tolerances, place)]
    for digits in range(DIGITS, _ALL_DIGITS + 1):
        for look in looks:
            if figures := apart(look.would, look.seen, digits, look.allowed):
                return look.says.format(*figures)
    return ""


def _looks(
    guess: Implementation,
    would: Symptoms,
    seen: Symptoms,
    tolerances: tuple[float, float],
    place: tuple[int, int],
) -> Iterator[Look]:
    tolerance = max(tolerances) * would.weights.shape[-1]  # sums have as many terms
    for aspect in (NOT_NUMBERS, FIRST.get(guess, ROWS), ROWS, FORBIDDEN):
        one, other = torch.as_tensor(aspect.look(would)), torch.as_tensor(aspect.look(seen))
        yield Look(aspect.says, one, other, tolerance)
        if aspect.of_one and (where := _largest_gap(one, other, tolerance, place)):
            yield _at(where, aspect.of_one.format(where[-1]), one, other, tolerance)
    of_weights, of_outputs = tolerances
    for says, one, other, allowed in (
        ("query {} would put {{}} on key {}: here {{}}", would.weights, seen.weights, of_weights),
        (
            "query {} would have {{}} as entry {} of its output: here {{}}",
            *(would.output, seen.output, of_outputs),
        ),
    ):
        if where := _largest_gap(one, other, allowed, place):
            yield _at(where, says.format(*where[2:]), one, other, allowed)


def _of_errors(would: Symptoms | str, seen: Symptoms | str) -> str:
    if not isinstance(would, str):
        return "it would compute something here: instead it stops with an error"
    other = "another error" if isinstance(seen, str) else "an error"
    return f"it would stop with {other} here" + ("" if isinstance(seen, str) else ": it does not")


def _largest_gap(
    one: Tensor, other: Tensor, allowed: float, place: tuple[int, int]
) -> tuple[int, ...] | None:
    """Where two tensors (batch, heads, …) differ most, in the head at `place` if they do there;
    None if by no more than is allowed. NaN is far from every number. Of several places that
    differ alike, but for rounding, it is the first."""
    same = (one == other) | (one.isnan() & other.isnan())
    gap = (one.double() - other.double()).abs().masked_fill(same, 0.0)
    gap = gap.nan_to_num(math.inf, math.inf)
    for before, part in ((place, gap[place]), ((), gap)):
        if part.max() > allowed:
            most = part >= max(part.max().item() - allowed, allowed)
            return (*before, *most.nonzero()[0].tolist())
    return None


def _at(where: tuple[int, ...], says: str, one: Tensor, other: Tensor, allowed: float) -> Look:
    sequence, head, *_ = where
    says = f"in sequence {sequence}, head {head}, {says}"
    return Look(says, one[where], other[where], allowed)
