"""The two colour scales of the app, and which cells are not numbers.

Colours are worked out here, once for the marks of small pictures and the pixels of large ones.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Scale = Literal["weights", "signed"]
Array = NDArray[np.float64]
Codes = NDArray[np.uint8]

# Perceptually uniform stops: viridis (matplotlib) for weights, ColorBrewer's RdBu for signs.
STOPS: dict[Scale, tuple[str, ...]] = {
    "weights": (
        *("#440154", "#482878", "#3e4989", "#31688e", "#26828e"),
        *("#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"),
    ),
    "signed": (
        *("#053061", "#2166ac", "#4393c3", "#92c5de", "#d1e5f0", "#f7f7f7"),
        *("#fddbc7", "#f4a582", "#d6604d", "#b2182b", "#67001f"),
    ),
}
LEVELS = 248  # colours per scale; the codes above them are the cells that are not numbers
MASKED, NEGATIVE_INFINITY, POSITIVE_INFINITY, NOT_A_NUMBER = range(LEVELS, LEVELS + 4)
GLYPHS = {MASKED: "✕", NEGATIVE_INFINITY: "−∞", POSITIVE_INFINITY: "+∞", NOT_A_NUMBER: "NaN"}
SPECIAL_FILLS = {
    MASKED: "#c9ccd1",
    NEGATIVE_INFINITY: "#c9ccd1",
    POSITIVE_INFINITY: "#ffb000",
    NOT_A_NUMBER: "#ff5fa2",
}


def signed_limit(values: Array) -> float:
    """The smallest of 1, 2, 3, 5 times a power of ten that holds all finite values.

    A round limit stays the same while the values move a little, so pictures can be compared.
    """
    finite = np.abs(values[np.isfinite(values)])
    largest = float(finite.max()) if finite.size else 0.0
    if largest == 0.0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(largest))
    return float(next(step * power for step in (1, 2, 3, 5, 10, 20) if step * power >= largest))


def codes(values: Array, mask: NDArray[np.bool_] | None, low: float, high: float) -> Codes:
    """The colour code of each cell: 0 .. LEVELS - 1 from `low` to `high`, or a special one."""
    with np.errstate(invalid="ignore"):
        unit = np.clip((values - low) / (high - low), 0.0, 1.0)
        coded = np.rint(np.nan_to_num(unit) * (LEVELS - 1)).astype(np.uint8)
    coded[np.isnan(values)] = NOT_A_NUMBER
    coded[np.isposinf(values)] = POSITIVE_INFINITY
    coded[np.isneginf(values)] = NEGATIVE_INFINITY
    if mask is not None:
        coded[~mask & ~np.isneginf(values)] = MASKED
    return coded


def palette(scale: Scale) -> Codes:
    """The colour of every code as (LEVELS + 4, 3) bytes, interpolated between the stops."""
    stops = np.array([_rgb(stop) for stop in STOPS[scale]], dtype=float)
    at = np.linspace(0, len(stops) - 1, LEVELS)
    levels = np.stack([np.interp(at, range(len(stops)), stops[:, c]) for c in range(3)], axis=1)
    special = np.array([_rgb(SPECIAL_FILLS[code]) for code in sorted(SPECIAL_FILLS)])
    return np.concatenate([np.rint(levels), special]).astype(np.uint8)


def ink(colours: Codes) -> NDArray[np.str_]:
    """Black or white, whichever reads better on each colour (WCAG relative luminance)."""
    srgb = colours / 255
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    luminance = linear @ np.array([0.2126, 0.7152, 0.0722])
    return np.where(luminance > 0.179, "#000000", "#ffffff")


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
