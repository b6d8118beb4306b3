"""Numbers of the lab in a few characters, and spans of them."""

import math

from torch import Tensor

DIGITS = 3


def figure(number: float, digits: int = DIGITS) -> str:
    """A few digits: 0.353, 1.19e-07, 3; NaN and infinity as such."""
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "∞" if number > 0 else "−∞"
    sign = "−" if number < 0 else ""
    return f"{sign}{abs(number):.{digits}g}"


def span(values: Tensor, digits: int = DIGITS) -> str:
    """From the smallest to the largest, or the one that they all are: 1; 0.05 to 2.52; NaN."""
    low, high = (figure(end.item(), digits) for end in (values.min(), values.max()))
    return low if low == high else f"{low} to {high}"


def apart(one: Tensor, other: Tensor, digits: int, allowed: float) -> tuple[str, str] | None:
    """Two spans in so many digits; None unless an end of theirs is further apart than `allowed`,
    both in truth and as it is written: equal figures show nothing, nor do those of rounding."""
    ends = [(one.min().item(), other.min().item()), (one.max().item(), other.max().item())]
    if any(_far(*pair, allowed) and _far(*_written(pair, digits), allowed) for pair in ends):
        return span(one, digits), span(other, digits)
    return None


def _far(one: float, other: float, allowed: float) -> bool:
    """NaN is far from every number, but not from NaN; infinity is not far from itself."""
    if one == other or (math.isnan(one) and math.isnan(other)):
        return False
    return not abs(one - other) <= allowed


def _written(numbers: tuple[float, float], digits: int) -> tuple[float, float]:
    one, other = (float(f"{number:.{digits}g}") for number in numbers)
    return one, other
