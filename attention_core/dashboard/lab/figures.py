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


def apart(one: Tensor, other: Tensor) -> tuple[str, str]:
    """Two spans that differ, in as many digits as it takes to see it."""
    for digits in range(DIGITS, 17):
        pair = span(one, digits), span(other, digits)
        if pair[0] != pair[1]:
            break
    return pair
