import json
import math
from typing import Any

import pytest
import torch

from attention_core.dashboard.charts.bars import bars, short_number
from attention_core.dashboard.charts.chart import Chart


def draw(values: list[float], labels: list[str] | None = None, **options: Any) -> Chart:
    labels = [str(j) for j in range(len(values))] if labels is None else labels
    return bars(torch.tensor(values), labels, title="Weights", alt_text="Seen.", **options)


def domain(chart: Chart) -> list[float]:
    limits: list[float] = chart.spec["layer"][0]["encoding"]["x"]["scale"]["domain"]
    return limits


def test_every_bar_has_its_label_its_length_and_its_number() -> None:
    chart = draw([0.25, 0.75, 3.69e-05], ["0 · a", "1 · **b**", "2 · a"])
    assert chart.data["label"].tolist() == ["0 · a", "1 · **b**", "2 · a"]
    assert chart.data["value"].tolist() == pytest.approx([0.25, 0.75, 3.69e-05])
    assert chart.data["number"].tolist() == ["0.25", "0.75", "3.69e-05"]
    assert chart.table["weight"].tolist() == chart.data["value"].tolist()
    assert "**b**" not in json.dumps(chart.spec)  # labels are data: they go nowhere else


def test_a_word_is_never_a_key_of_the_scale() -> None:
    chart = draw([0.5, 0.5], ["constructor", "__proto__"])  # they break Vega's scales
    for layer in chart.spec["layer"]:
        assert layer["encoding"]["y"]["field"] == "row"
        assert layer["encoding"]["y"]["axis"]["labelFlush"] is False
        assert layer["encoding"]["description"]["field"] == "says"
    assert chart.data["row"].tolist() == [0, 1]
    assert chart.data["says"].tolist() == ["constructor: 0.5", "__proto__: 0.5"]


def test_the_axis_is_fixed_until_a_value_leaves_it() -> None:
    assert domain(draw([0.0, 0.1])) == domain(draw([0.9, 1.0])) == [0, 1]
    assert domain(draw([-0.1, 0.3])) == [-1, 1]
    assert domain(draw([-1.5, 0.3])) == [-2, 2]
    assert domain(draw([2.5], limit=10.0)) == [0, 10]
    assert draw([0.1, 0.9]).spec is draw([0.5, 0.5]).spec  # built once


def test_what_is_no_number_has_no_bar_but_says_so() -> None:
    chart = draw([math.nan, math.inf, -math.inf, 1.0])
    assert chart.data["number"].tolist() == ["NaN", "+∞", "−∞", "1"]
    assert chart.data["value"].isna().tolist() == [True, True, True, False]
    assert domain(draw([math.nan])) == [0, 1]


@pytest.mark.parametrize("labels", [["a"], ["a", "a"], ["a", "b", "c"]])
def test_labels_must_tell_the_bars_apart(labels: list[str]) -> None:
    with pytest.raises(ValueError, match="one label each, all different: 2"):
        draw([0.5, 0.5], labels)


def test_so_many_decimals_as_asked_but_never_wrongly_zero() -> None:
    values = [0.0, 0.26723, 1.0, 0.0005, 0.0004, -0.090721, math.nan, math.inf]
    shown = ["0", "0.267", "1.000", "0.001", "4.00e-04", "-0.091", "NaN", "+∞"]
    assert draw(values, decimals=3).data["number"].tolist() == shown
    assert draw([0.26723, 0.5]).data["number"].tolist() == ["0.26723", "0.5"]


def test_numbers_are_short_but_never_wrongly_zero() -> None:
    numbers = (0.0, 0.99985218, 3.69e-05, -1e-12, 0.2, 4.99926, 12345.6, 1.0)
    shown = ["0", "0.99985", "3.69e-05", "-1.00e-12", "0.2", "4.9993", "12346", "1"]
    assert [short_number(number) for number in numbers] == shown
