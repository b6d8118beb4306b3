"""Numbers with as many digits as their dtype carries; shares that never claim all or nothing."""

import math

import torch


def fixed(value: float, dtype: torch.dtype, most: int) -> str:
    """The value with `most` decimals, or with fewer if the dtype does not carry as many."""
    return f"{value:.{_places(value, dtype, most)}f}"


def percent(weight: float, dtype: torch.dtype) -> str:
    """A weight of a softmax over several keys in percent: more than 0 and less than all of it."""
    share = 100 * weight
    places = _places(share, dtype, 2)
    step = 10.0**-places
    if round(share, places) >= 100:
        return f"> {100 - step:.{places}f} %"
    if round(share, places) <= 0:
        return f"< {step:.{places}f} %"
    return f"{share:.{places}f} %"


def _places(value: float, dtype: torch.dtype, most: int) -> int:
    if value == 0 or not math.isfinite(value):
        return most
    carried = math.floor(-math.log10(torch.finfo(dtype).eps))  # digits in all
    return max(0, min(most, carried - 1 - math.floor(math.log10(abs(value)))))
