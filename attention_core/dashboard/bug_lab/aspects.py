"""What the evidence looks at, and how it says so."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from attention_core import faults
from attention_core.faults import Implementation
from attention_core.faults.symptoms import Symptoms


@dataclass(frozen=True)
class Aspect:
    """One thing to look at; `says` has a place for what would be, and one for what is seen.

    `of_one` says it of a single query or key, for sums that differ while their spans do not.
    """

    says: str
    look: Callable[[Symptoms], Tensor | float]
    of_one: str = ""


NOT_NUMBERS = Aspect(
    "{} weights and outputs would be NaN or infinite: here {} are", lambda s: s.not_numbers
)
ROWS = Aspect(
    "the sums of the rows would be {}: here they are {}",
    lambda s: s.row_sums,
    "the row of query {} would sum to {{}}: here it sums to {{}}",
)
_COLUMNS = Aspect(
    "the sums of the columns would be {}: here they are {}",
    lambda s: s.column_sums,
    "the column of key {} would sum to {{}}: here it sums to {{}}",
)
FORBIDDEN = Aspect(
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
FIRST: dict[Implementation, Aspect] = {
    faults.softmax_over_queries: _COLUMNS,
    faults.no_scale: _SHARPNESS,
    faults.scale_by_d_model: _SHARPNESS,
    faults.diagonal_masked: _OWN,
    faults.weights_transposed: _CHANGE,
    faults.right: _TORCH,
}
