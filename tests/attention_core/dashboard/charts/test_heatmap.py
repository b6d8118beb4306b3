"""Heatmaps: specification, data, table and pixels say what the matrix says."""

import base64
import io
import math

import altair as alt
import numpy as np
import pytest
import torch
from PIL import Image

from attention_core.dashboard.charts import cell_image, colours
from attention_core.dashboard.charts.chart import to_array
from attention_core.dashboard.charts.heatmap import MARKED_CELLS, heatmap


def chart(values, **options):
    return heatmap(values, title="Weights", alt_text="what is to be seen", **options)


def pixels(drawn) -> np.ndarray:
    encoded = drawn.data.url[0].removeprefix("data:image/png;base64,")
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(encoded))).convert("RGB"))


def test_each_cell_is_in_its_row_and_column():
    values = torch.tensor([[0.0, 0.25, 0.75], [1.0, 0.5, 0.125]])
    data = chart(values).data.set_index(["row", "column"])
    for i in range(2):
        for j in range(3):
            cell = data.loc[str(i), str(j)]
            assert (cell.i, cell.j, cell.value) == (i, j, values[i, j])
    assert data.loc[("0", "2"), "number"] == "0.75"
    assert data.loc[("1", "0"), "fill"] == "#fde725"
    assert data.loc[("0", "0"), "fill"] == "#440154"


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_no_picture_can_write_into_what_it_shows(dtype):
    array = to_array(torch.ones(2, 3, dtype=dtype))
    with pytest.raises(ValueError, match="read-only"):
        array[0, 0] = 2


def test_axes_say_who_asks_and_who_answers():
    spec = chart(torch.rand(3, 5)).spec
    assert spec["title"] == "Weights"
    encoding = spec["layer"][0]["encoding"]
    assert (encoding["y"]["title"], encoding["x"]["title"]) == ("query i", "key j")
    assert (encoding["y"]["field"], encoding["x"]["field"]) == ("row", "column")
    large = chart(torch.rand(11, 13)).spec["layer"][0]["encoding"]
    assert (large["y"]["title"], large["x"]["title"]) == ("query i", "key j")
    assert large["y"]["scale"]["reverse"]  # query 0 on top, in both


def test_the_table_holds_the_exact_values():
    values = torch.rand(3, 5, dtype=torch.float64)
    table = chart(values, row_labels=["a", "b", "c"]).table
    assert np.array_equal(table.to_numpy(), values.numpy())
    assert list(table.index) == ["a", "b", "c"]


def test_masked_cells_differ_from_zero_and_from_each_other():
    values = torch.tensor([[0.0, 0.0, math.nan, math.inf, -math.inf]])
    drawn = chart(values, mask=torch.tensor([[True, False, True, True, True]]))
    assert drawn.data.number.tolist() == ["0", "✕", "NaN", "+∞", "−∞"]
    assert drawn.data.fill[0] != drawn.data.fill[1]


def test_a_chosen_cell_is_framed_and_no_other():
    data = chart(torch.rand(3, 5), chosen=(2, 4)).data
    assert data[data.chosen][["i", "j"]].to_numpy().tolist() == [[2, 4]]
    none = chart(torch.rand(3, 5))
    assert "chosen" not in none.data and "datum.chosen" not in str(none.spec)
    assert str(chart(torch.rand(3, 5), chosen=(2, 4)).spec).count("datum.chosen") == 2


def test_only_small_pictures_can_be_clicked():
    assert "params" in chart(torch.rand(10, 10), clickable=True).spec
    assert "params" not in chart(torch.rand(10, 10)).spec
    assert "params" not in chart(torch.rand(10, 11), clickable=True).spec


def test_a_large_matrix_is_one_image_with_the_same_colours():
    assert MARKED_CELLS < 16 * 17
    values = torch.rand(16, 17)
    values[3, 5] = math.nan
    allowed = torch.ones(16, 17).tril().bool()
    drawn = chart(values, mask=allowed)
    assert len(drawn.data) == 1
    image = pixels(drawn)
    high, wide = image.shape[0] // 16, image.shape[1] // 17
    coded = colours.codes(values.double().numpy(), allowed.numpy(), 0.0, 1.0)
    palette = colours.palette("weights")
    for i, j in [(0, 0), (15, 0), (15, 15), (7, 2)]:
        cell = image[i * high : (i + 1) * high, j * wide : (j + 1) * wide].reshape(-1, 3)
        assert (cell == palette[coded[i, j]]).all()
    for i, j in [(0, 16), (3, 5)]:  # masked, NaN: hatched with dark lines
        cell = image[i * high : (i + 1) * high, j * wide : (j + 1) * wide].reshape(-1, 3)
        hatched = (cell == np.frombuffer(cell_image.HATCH_COLOUR, np.uint8)).all(1)
        assert 0 < hatched.mean() < 1


def test_128_by_128_cells_are_as_many_rows_as_16_by_16():
    assert len(chart(torch.rand(128, 128)).data) == 1


def test_new_values_keep_the_specification():
    first, second = chart(torch.rand(16, 16)), chart(torch.rand(20, 12))
    assert first.spec is second.spec
    assert first.data.url[0] != second.data.url[0]


def test_signed_pictures_are_centred_on_zero():
    spec = chart(torch.tensor([[-2.5, 0.5]]), scale="signed").spec
    domain = spec["layer"][-1]["encoding"]["color"]["scale"]["domain"]
    assert (domain[0], domain[-1]) == (-3.0, 3.0)
    assert sum(domain) == pytest.approx(0.0)


def test_labels_are_data_and_must_differ():
    hostile = ["<img src=x onerror=alert(1)>", "$5 to $6", ":red[x]"]
    drawn = chart(torch.rand(3, 3), column_labels=hostile)
    assert drawn.data.column[:3].tolist() == hostile
    with pytest.raises(ValueError, match="different labels"):
        chart(torch.rand(2, 2), row_labels=["the", "the"])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_every_dtype_can_be_drawn(dtype):
    assert chart(torch.ones(1, 1, dtype=dtype)).data.number.tolist() == ["1"]


def test_labels_of_a_large_matrix_are_text_and_not_an_expression():
    names = ["exponential", "weight"]
    drawn = chart(torch.rand(2, 60), row_labels=names)
    y, x = (drawn.spec["layer"][0]["encoding"][side]["axis"] for side in "yx")
    assert y["labelExpr"] == '["exponential", "weight"][datum.value]'
    assert "labelExpr" not in x
    hostile = chart(torch.rand(2, 60), row_labels=['"] + data("picture") + ["', "b"])
    assert hostile.spec["layer"][0]["encoding"]["y"]["axis"]["labelExpr"].startswith('["\\"] + ')


@pytest.mark.parametrize("shape", [(3, 5), (16, 17)])
@pytest.mark.parametrize("scale", ["weights", "signed"])
def test_specifications_are_valid(shape, scale):
    values = torch.rand(shape)
    drawn = chart(values, scale=scale, clickable=True, chosen=(0, 0), row_labels=range_of(shape))
    parsed = alt.LayerChart.from_dict(drawn.spec)  # raises what the schema does not know
    assert parsed.to_dict()["title"] == "Weights"


def range_of(shape):
    return [f"row {i}" for i in range(shape[0])]


def test_numbers_are_rounded_more_in_narrow_cells():
    values = torch.tensor([[0.0, 0.084, -0.25, 0.996, -1.14, -12.34, 4e-05, 123456.0]]).double()
    data = chart(values, scale="signed").data
    assert data.number.tolist() == [
        *("0.00", "0.08", "-0.25", "1.00", "-1.14", "-12.3", "4e-5", "1e5"),
    ]
    assert data.brief.tolist() == [
        *(".00", ".08", "-.25", "1.0", "-1.1", "-12.3", "4e-5", "1e5"),
    ]
