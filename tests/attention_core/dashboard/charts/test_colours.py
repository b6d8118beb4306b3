"""Colours: the scale's ends and centre, the cells that are not numbers, and what can be read."""

import math

import numpy as np
import pytest

from attention_core.dashboard.charts import colours


def rgb(scale: colours.Scale, value: float, low: float, high: float) -> tuple[int, ...]:
    code = colours.codes(np.array([[value]]), None, low, high)[0, 0]
    return tuple(int(channel) for channel in colours.palette(scale)[code])


@pytest.mark.parametrize(
    ("scale", "value", "low", "colour"),
    [
        ("weights", 0.0, 0.0, (0x44, 0x01, 0x54)),
        ("weights", 1.0, 0.0, (0xFD, 0xE7, 0x25)),
        ("signed", -1.0, -1.0, (0x05, 0x30, 0x61)),
        ("signed", 1.0, -1.0, (0x67, 0x00, 0x1F)),
        ("signed", 7.0, -1.0, (0x67, 0x00, 0x1F)),  # beyond the limit: the end of the scale
    ],
)
def test_ends_of_the_scales(scale, value, low, colour):
    assert rgb(scale, value, low, 1.0) == colour


def test_zero_is_neutral_and_signs_differ():
    red, green, blue = rgb("signed", 0.0, -3.0, 3.0)
    assert max(red, green, blue) - min(red, green, blue) <= 4
    assert rgb("signed", 1.5, -3.0, 3.0)[0] > rgb("signed", 1.5, -3.0, 3.0)[2]
    assert rgb("signed", -1.5, -3.0, 3.0)[0] < rgb("signed", -1.5, -3.0, 3.0)[2]


def test_luminance_of_weights_only_rises():
    palette = colours.palette("weights")[: colours.LEVELS] / 255
    luminance = palette @ np.array([0.2126, 0.7152, 0.0722])
    assert (np.diff(luminance) > -0.005).all()


def test_cells_that_are_not_numbers_have_codes_of_their_own():
    values = np.array([[0.0, 0.0, math.nan, math.inf, -math.inf]])
    mask = np.array([[True, False, True, True, True]])
    coded = colours.codes(values, mask, 0.0, 1.0)[0].tolist()
    assert coded[0] == 0  # an exact 0 that is allowed is a number
    assert coded[1:] == [
        colours.MASKED,
        colours.NOT_A_NUMBER,
        colours.POSITIVE_INFINITY,
        colours.NEGATIVE_INFINITY,
    ]
    assert len(set(colours.GLYPHS.values())) == 4


@pytest.mark.parametrize(
    ("values", "limit"),
    [
        ([0.0], 1.0),
        ([0.3, -0.2], 0.3),
        ([2.9], 3.0),
        ([3.1], 5.0),
        ([-51.0], 100.0),
        ([math.nan, math.inf, 1.0], 1.0),
        ([math.nan], 1.0),
        ([1e-30], 1e-30),
    ],
)
def test_signed_limit_is_a_round_number_that_holds_the_values(values, limit):
    assert colours.signed_limit(np.array(values)) == pytest.approx(limit)


@pytest.mark.parametrize("scale", ["weights", "signed"])
def test_ink_reads_on_every_colour(scale):
    """WCAG AA for text asks for a contrast of 4.5."""
    palette = colours.palette(scale)

    def luminance(bytes_):
        srgb = bytes_ / 255
        linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
        return linear @ np.array([0.2126, 0.7152, 0.0722])

    written = np.where(colours.ink(palette) == "#ffffff", 1.0, 0.0)
    paper = luminance(palette)
    contrast = (np.maximum(written, paper) + 0.05) / (np.minimum(written, paper) + 0.05)
    assert contrast.min() >= 4.5
