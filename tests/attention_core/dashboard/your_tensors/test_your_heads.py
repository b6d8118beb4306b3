"""What the page "Your tensors" draws: the samples, names, small pictures, and the large one."""

import base64
import io
import math

import altair as alt
import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image

from attention_core.dashboard.charts import colours
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.your_tensors.computing import (
    head_of,
    overview,
    rule_tensor,
    weights_of,
)
from attention_core.dashboard.your_tensors.heads_chart import heads_chart
from attention_core.dashboard.your_tensors.samples import FOLDER, SAMPLES
from attention_core.dashboard.your_tensors.tensor_files.loaded import Projections, Weights
from attention_core.dashboard.your_tensors.tensor_files.reading import read_tensors
from attention_core.dashboard.your_tensors.token_names import token_names
from attention_core.dashboard.your_tensors.weights_map import MOST_DOTS, dots_across, weights_map
from scripts.sample_heads import FILES

SETTING = ComputeSettings("cpu", "float32")
PALETTE = colours.palette("weights")


def pixels(chart) -> np.ndarray:
    encoded = chart.data.url[0].removeprefix("data:image/png;base64,")
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(encoded))).convert("RGBA"))


def colour(weight: float) -> list[int]:
    return PALETTE[round(weight * (colours.LEVELS - 1))].tolist()


def drawn(weights: torch.Tensor, **options):
    given = {"first": (0, 0), "chosen": (0, 0), "names": (str, str), "mask": None}
    return weights_map(weights, title="Weights", alt_text="seen", **{**given, **options})


# --- samples


def test_the_sample_files_are_what_the_script_makes() -> None:
    assert {sample.file for sample in SAMPLES} == set(FILES)
    for name, make in FILES.items():
        shipped, made = read_tensors((FOLDER / name).read_bytes()), read_tensors(make())
        assert (FOLDER / name).stat().st_size < 8000
        assert type(shipped) is type(made)
        made_tensors = vars(made)
        for field, tensor in vars(shipped).items():
            if tensor is None:
                assert made_tensors[field] is None
            else:  # another CPU may round differently
                assert torch.allclose(tensor.float(), made_tensors[field].float(), atol=1e-3)


def test_the_samples_are_what_they_are_called() -> None:
    back, sink, cross = (sample.load() for sample in SAMPLES)
    measures = overview(back, None, SETTING).measures[0]
    assert measures[2].distance == pytest.approx(1, abs=0.1) and measures[2].keys == 1.0
    assert min(head.keys for head in (*measures[:2], measures[3])) > 3
    weights = weights_of(back, 0, 2, None, SETTING)
    assert weights.argmax(-1).tolist() == [0, *range(10)]
    assert not weights.triu(1).any()

    first, second = sink.weights.float()
    assert second[..., 0].mean() > 0.8 > 0.6 > first[..., 0].mean()
    assert cross.shape == (1, 2, 7, 11)
    ahead, backwards = (weights_of(cross, 0, h, None, SETTING).argmax(-1).tolist() for h in (0, 1))
    assert ahead == sorted(ahead) and ahead[-1] == 10
    assert backwards == sorted(backwards, reverse=True) and backwards[0] == 10


# --- computing


def qkv(*leading: int, n_q: int = 37, n_k: int = 41) -> Projections:
    generator = torch.Generator().manual_seed(0)
    sizes = ((n_q, 5), (n_k, 5), (n_k, 3))
    q, k, v = (torch.randn(*leading, *size, generator=generator) for size in sizes)
    return Projections.of(q, k, v, None)


def test_the_overview_is_of_every_head() -> None:
    tensors = qkv(2, 3)
    found = overview(tensors, None, SETTING)
    assert found.thumbnails.shape == (2, 3, 19, 21)  # two by two cells become one
    for b in range(2):
        for h in range(3):
            q, k = tensors.q[b, h], tensors.k[b, h]
            weights = (q @ k.mT / math.sqrt(5)).softmax(-1)
            assert float(found.thumbnails[b, h, 3, 5]) == pytest.approx(
                float(weights[6:8, 10:12].max())
            )
            spread = -(weights * weights.log()).sum(-1).mean()
            assert found.measures[b][h].entropy == pytest.approx(float(spread), rel=1e-5)


def test_the_rule_joins_the_mask_of_the_file() -> None:
    tensors = qkv(2, 3)
    allowed = torch.rand(2, 3, 37, 41, generator=torch.Generator().manual_seed(1)) < 0.5
    masked = Projections(tensors.q, tensors.k, tensors.v, allowed)
    rule = rule_tensor("j <= i", tensors, SETTING)
    weights = weights_of(masked, 1, 2, rule, SETTING)
    assert torch.equal(weights > 0, allowed[1, 2] & torch.ones(37, 41).tril().bool())
    assert torch.equal(weights_of(tensors, 1, 2, rule, SETTING) > 0, rule)
    assert torch.equal(weights_of(masked, 1, 2, None, SETTING) > 0, allowed[1, 2])


def test_some_queries_have_the_weights_that_all_have() -> None:
    tensors = qkv(2, 3)
    whole, part = (weights_of(tensors, 1, 2, None, SETTING, r) for r in (slice(None), slice(5, 9)))
    assert torch.allclose(part, whole[5:9], rtol=0, atol=1e-7)


def test_numbers_that_the_dtype_cannot_hold_are_refused_in_words() -> None:
    q, k, v = torch.full((1, 1, 3, 5), 1e30, dtype=torch.float64).expand(3, 1, 1, 3, 5)
    tensors = Projections(q, k, v, None)
    head_of(tensors, 0, 0, SETTING)
    with pytest.raises(ValueError, match="q holds numbers that are too large for float16"):
        head_of(tensors, 0, 0, ComputeSettings("cpu", "float16"))


def test_finished_weights_stay_as_they_are() -> None:
    weights = torch.randn(2, 3, 5, 7).softmax(-1).half()
    assert torch.equal(weights_of(Weights(weights), 1, 2, None, SETTING), weights[1, 2])


# --- names


@pytest.mark.parametrize(
    "text", ["the cat the", "the,cat,the", " the,  cat\tthe ", "the, cat, the,"]
)
def test_names_stand_between_spaces_or_commas_and_may_repeat(text: str) -> None:
    name, note = token_names(text, 3)
    assert [name(i) for i in range(3)] == ["0 · the", "1 · cat", "2 · the"]
    assert note is None


def test_too_few_and_too_many_names() -> None:
    name, note = token_names("a b", 4)
    assert [name(i) for i in range(4)] == ["0 · a", "1 · b", "2", "3"]
    assert note == "2 of 4 positions are named: 2 positions have a number only."
    name, note = token_names("a b c", 2)
    assert [name(i) for i in range(2)] == ["0 · a", "1 · b"]
    assert note == "There are 2 positions: only the first 2 of 3 are used."
    name, note = token_names(" ,, ", 2)
    assert [name(i) for i in range(2)] == ["0", "1"] and note is None


def test_names_are_data() -> None:
    name, _ = token_names("<img src=x> $5 :red[x] עולם. 👩‍👩‍👧", 6)
    assert [name(i) for i in (0, 2, 3)] == ["0 · <img", "2 · $5", "3 · :red[x]"]
    assert "עולם." in name(4) and "👩‍👩‍👧" in name(5)


# --- small pictures


def small(charts: torch.Tensor, chosen=(0, 0), shape=(4, 5)):
    table = pd.DataFrame()
    return heads_chart(
        charts, chosen, shape=shape, turn=0, title="All", alt_text="seen", table=table
    )


def test_each_small_picture_is_in_its_row_and_column() -> None:
    charts = torch.zeros(2, 3, 4, 5)
    charts[1, 2, 3, 0] = 1.0
    chart = small(charts, (1, 2))
    image = pixels(chart)
    high, wide = image.shape[0] // 2, image.shape[1] // 3
    assert image[high + high * 7 // 8, 2 * wide + wide // 10, :3].tolist() == colour(1.0)
    assert image[high // 2, wide // 2, :3].tolist() == colour(0.0)
    assert image[0, 0, 3] == 0 and image[high // 2, wide // 2, 3] == 255  # only gaps are clear
    (row,) = chart.data.to_dict("records")
    assert (row["left"], row["right"], row["top"], row["bottom"]) == (-0.5, 2.5, -0.5, 1.5)
    assert (row["i0"], row["i1"], row["j0"], row["j1"]) == (0.5, 1.5, 1.5, 2.5)
    alt.LayerChart.from_dict(chart.spec)


def test_a_click_selects_a_head_and_cells_are_square() -> None:
    spec = small(torch.zeros(2, 3, 4, 5), shape=(400, 500)).spec
    one_head, height, click = spec["params"]
    assert click["select"]["fields"] == ["element", "head", "turn"]
    (marks,) = (layer for layer in spec["layer"] if layer.get("name") in click["views"])
    assert {"calculate": "sequence(2)", "as": "element"} in marks["transform"]
    assert {"calculate": "sequence(3)", "as": "head"} in marks["transform"]
    assert one_head["expr"] == "min(width / 3, 200, 400.0)"  # two rows of 0.8: 640 pixels at most
    assert height == {"name": "height", "expr": "one_head * 1.6"}
    assert small(torch.zeros(1, 1, 32, 1), shape=(2048, 1)).spec["params"][1]["expr"].endswith("4")
    assert small(torch.zeros(2, 3, 4, 5), (1, 2), (400, 500)).spec is spec  # built once


def test_the_most_heads_make_one_image_of_bounded_size() -> None:
    noise = torch.rand(16, 16, 32, 32)
    chart = small(noise)
    assert len(chart.data) == 1 and len(chart.data.url[0]) < 600_000


# --- the large one


@pytest.mark.parametrize(("n", "dots"), [(1, 1), (512, 1), (513, 2), (1024, 2), (2048, 4)])
def test_dots_hold_as_few_positions_as_fit(n: int, dots: int) -> None:
    assert dots_across(n) == dots and -(-n // dots) <= MOST_DOTS


def test_a_small_part_shows_numbers_and_counts_positions_of_the_whole() -> None:
    weights = torch.rand(3, 5)
    data = drawn(weights, first=(10, 20), chosen=(11, 24), names=(str, "k{}".format)).data
    assert data.row.unique().tolist() == ["10", "11", "12"]
    assert data.column[:5].tolist() == ["k20", "k21", "k22", "k23", "k24"]
    assert data[data.chosen][["i", "j"]].to_numpy().tolist() == [[1, 4]]
    assert "chosen" not in drawn(weights, first=(10, 20), chosen=(9, 24)).data


def test_an_image_has_the_axes_of_the_whole() -> None:
    chart = drawn(torch.rand(30, 50), first=(100, 200), chosen=(110, 220))
    (row,) = chart.data.to_dict("records")
    assert (row["top"], row["bottom"], row["left"], row["right"]) == (99.5, 129.5, 199.5, 249.5)
    assert (row["i0"], row["i1"], row["j0"], row["j1"]) == (109.5, 110.5, 219.5, 220.5)
    assert chart.table.index[[0, -1]].tolist() == ["100", "129"]
    marks = [layer["mark"]["type"] for layer in chart.spec["layer"]]
    assert marks.count("rect") == 2
    out = drawn(torch.rand(30, 50), first=(100, 200), chosen=(99, 220))
    assert "rect" not in [layer["mark"]["type"] for layer in out.spec["layer"]]


def test_the_largest_head_is_one_small_image_that_keeps_thin_lines() -> None:
    weights = torch.zeros(2048, 2048)
    weights[1001, 7] = 1.0
    chart = drawn(weights)
    image = pixels(chart)
    assert image.shape[:2] == (512, 512)
    assert image[250, 1, :3].tolist() == colour(1.0)
    assert (image[..., :3] == colour(1.0)).all(-1).sum() == 1
    assert chart.table.loc["1000–1003", "4–7"] == 1.0
    noise = drawn(torch.rand(2048, 2048, generator=torch.Generator().manual_seed(0)) / 2)
    assert len(noise.data.url[0]) < 400_000


def test_hidden_blocks_are_hatched_only_if_all_of_them_is_hidden() -> None:
    mask = torch.zeros(1024, 1024, dtype=torch.bool)
    mask[0, 1] = True
    image = pixels(drawn(torch.zeros(1024, 1024), mask=mask))
    assert image[0, 0, :3].tolist() == colour(0.0)
    assert image[0, 1, :3].tolist() != colour(0.0)


def axis(chart, side: str) -> dict:
    return chart.spec["layer"][0]["encoding"][side]["axis"]


@pytest.mark.parametrize(("n", "every"), [(11, True), (24, True), (25, False)])
def test_every_row_is_named_while_there_is_room(n: int, every: bool) -> None:
    y = axis(drawn(torch.rand(n, 13)), "y")
    assert (y.get("labelOverlap") is False) == every
    assert (y.get("tickCount", 0) >= n) == every
    assert "tickCount" not in axis(drawn(torch.rand(13, n)), "x")


def test_names_travel_with_the_data_and_never_in_the_specification() -> None:
    name, _ = token_names("secret <b> " * 10, 20)
    chart = drawn(torch.rand(20, 60), names=(name, str))
    assert chart.data.row_names[0].split(",")[:2] == ["0 · secret", "1 · <b>"]
    assert chart.data.column_names[0] == ""
    assert "secret" not in str(chart.spec)
    y, x = (axis(chart, side) for side in "yx")
    assert "row_names" in y["labelExpr"] and "labelExpr" not in x
    other = drawn(torch.rand(20, 60), names=(str, str))
    assert other.spec == chart.spec
    assert "labelExpr" not in axis(drawn(torch.rand(60, 60)), "y")
    alt.LayerChart.from_dict(chart.spec)
