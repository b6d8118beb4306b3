"""Lines: their labels stand beside the grid, and their numbers are those given."""

import pytest

from attention_core.dashboard.charts.lines import lines


@pytest.mark.parametrize("logarithmic", ["", "x", "y", "xy"])
def test_y_labels_stay_beside_their_grid_lines(logarithmic: str) -> None:
    chart = lines(
        {"a": [1.0, 10.0], "b": [5.0, 1000.0]},
        [8, 16],
        title="Two lines",
        alt_text="They rise.",
        x="D",
        y="value",
        domain=(1.0, 2000.0),
        logarithmic=logarithmic,
    )
    axes = [layer["encoding"]["y"]["axis"] for layer in chart.spec["layer"]]
    assert [axis["labelFlush"] for axis in axes] == [False, False]
    ticks = [1.0, 10.0, 100.0, 1000.0] if "y" in logarithmic else None
    assert [axis.get("values") for axis in axes] == [ticks, ticks]
    assert chart.table["b"].tolist() == [5.0, 1000.0]
