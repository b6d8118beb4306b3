"""Why a diagnosis does not fit: what it would show here, against what is seen, both computed."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from attention_core import faults
from attention_core.dashboard.lab.figures import apart
from attention_core.dashboard.lab.names import NAMES
from attention_core.diagnosis import Symptoms
from attention_core.faults import Implementation


@dataclass(frozen=True)
class Aspect:
    """One thing to look at; `says` has a place for what would be, and one for what is seen."""

    says: str
    look: Callable[[Symptoms], Tensor | float]


_NOT_NUMBERS = Aspect(
    "{} weights and outputs would be NaN or infinite: here {} are", lambda s: s.not_numbers
)
_ROWS = Aspect("the sums of the rows would be {}: here they are {}", lambda s: s.row_sums)
_COLUMNS = Aspect("the sums of the columns would be {}: here they are {}", lambda s: s.column_sums)
_FORBIDDEN = Aspect(
    "the largest weight of a forbidden pair would be {}: here it is {}",
    lambda s: s.forbidden_weight,
)
_OWN = Aspect(
    "the largest weight of a query on the key at its own position would be {}: here it is {}",
    lambda s: s.own_weight,
)
_SHARPNESS = Aspect(
    "the largest weight of a row would be {} on average: here it is {}", lambda s: s.mean_largest
)
_TORCH = Aspect(
    "the difference to PyTorch would be {} at most: here it is {}", lambda s: s.torch_difference
)
_CHANGE = Aspect(
    "earlier outputs would change by {} at most when the last token changes: here by {}",
    lambda s: s.earlier_change,
)
# What tells most about a fault comes first, then what is seen most easily, then single cells.
_FIRST: dict[Implementation, Aspect] = {
    faults.softmax_over_queries: _COLUMNS,
    faults.no_scale: _SHARPNESS,
    faults.scale_by_d_model: _SHARPNESS,
    faults.diagonal_masked: _OWN,
    faults.weights_transposed: _CHANGE,
    faults.right: _TORCH,
}


def evidence(
    guess: Implementation,
    would: Symptoms | str,
    seen: Symptoms | str,
    tolerances: tuple[float, float],
    place: tuple[int, int] = (0, 0),
) -> str:
    """The first thing that `guess` would show and that is not seen, in one sentence; "" if none.

    `tolerances` of weights and outputs: what rounding explains (`telling_apart.rounding`).
    `place` is the sequence and the head in the pictures: a cell is named from there if it can be.
    """
    found = next(_differences(guess, would, seen, tolerances, place), "")
    return f"If {NAMES[guess].clause}, {found}." if found else ""


def _differences(
    guess: Implementation,
    would: Symptoms | str,
    seen: Symptoms | str,
    tolerances: tuple[float, float],
    place: tuple[int, int],
) -> Iterator[str]:
    if isinstance(would, str) or isinstance(seen, str):
        if would != seen:
            yield _of_errors(would, seen)
        return
    tolerance = max(tolerances) * would.weights.shape[-1]  # sums have as many terms
    for aspect in (_NOT_NUMBERS, _FIRST.get(guess, _ROWS), _ROWS, _FORBIDDEN):
        one, other = torch.as_tensor(aspect.look(would)), torch.as_tensor(aspect.look(seen))
        if not one.isclose(other, rtol=0, atol=tolerance, equal_nan=True).all():
            yield aspect.says.format(*apart(one, other))
    of_weights, of_outputs = tolerances
    for says, one, other, allowed in (
        ("put {} on key {}", would.weights, seen.weights, of_weights),
        ("have {} as entry {} of its output", would.output, seen.output, of_outputs),
    ):
        if where := _largest_gap(one, other, allowed, place):
            yield _of_cell(says, one, other, where)


def _of_errors(would: Symptoms | str, seen: Symptoms | str) -> str:
    if not isinstance(would, str):
        return "it would compute something here: instead it stops with an error"
    other = "another error" if isinstance(seen, str) else "an error"
    return f"it would stop with {other} here" + ("" if isinstance(seen, str) else ": it does not")


def _largest_gap(
    one: Tensor, other: Tensor, allowed: float, place: tuple[int, int]
) -> tuple[int, ...] | None:
    """Where two tensors (batch, heads, n, m) differ most, in the head at `place` if they do there;
    None if by no more than is allowed. NaN is far from every number."""
    gap = (one - other).double().abs()
    gap = gap.masked_fill(one.isnan() & other.isnan(), 0.0).nan_to_num(math.inf, math.inf)
    for before, part in ((place, gap[place]), ((), gap)):
        if part.max() > allowed:
            return (*before, *map(int, torch.unravel_index(part.argmax(), part.shape)))
    return None


def _of_cell(says: str, one: Tensor, other: Tensor, where: tuple[int, ...]) -> str:
    sequence, head, i, j = where
    would, seen = apart(one[where], other[where])
    return (
        f"in sequence {sequence}, head {head}, query {i} would {says.format(would, j)}: here {seen}"
    )
