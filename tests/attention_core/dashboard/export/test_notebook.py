"""A notebook is made of our words, our code and literals, and is the same for the same state."""

import ast
import json
import math

import nbformat
import pytest
import torch

from attention_core.dashboard.causal_masking.notebook import image_section
from attention_core.dashboard.export.notebook import literal, to_bytes
from attention_core.dashboard.export.notebook_section import Choice, Code, NotebookSection, Words
from attention_core.dashboard.export.notebook_view import lines_chart, weights_chart

HOSTILE = [
    '"""',
    "'; import os #",
    "\\",
    "{x}",
    "a\u2028b",
    "\u202eevil",
    "שלום",
    "</script>",
    "# h",
]


def cells(data: bytes, kind: str) -> list[str]:
    notebook = json.loads(data)
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == kind]


def make(*sections: NotebookSection, dtype: str = "float32", device: str = "cpu") -> bytes:
    return to_bytes("Title", "Objective.", dtype, device, sections)


@pytest.mark.parametrize(
    "value", [1, -2.5, 1e-300, True, None, "x" * 300, HOSTILE, {2: 1.0, 0: -0.5}, [[0, 1]], (1,)]
)
def test_a_literal_comes_back_the_same(value):
    text = literal(value)
    assert ast.literal_eval(text) == value
    assert text.isprintable() or "\n" in text


@pytest.mark.parametrize(
    "value", [math.inf, math.nan, [math.nan], object(), torch.ones(2), print, {1: print}]
)
def test_what_is_no_plain_data_is_refused(value):
    with pytest.raises(ValueError, match="plain data"):
        literal(value)


def test_choices_stay_data_whatever_they_say():
    data = make(
        NotebookSection("One", ("Words.",), (Choice("names", HOSTILE, "typed"),), (Code("names"),))
    )
    nbformat.validate(nbformat.reads(data.decode(), 4))
    (choice,) = (cell for cell in cells(data, "code") if "names = " in cell)
    namespace: dict = {}
    exec(choice, namespace)
    assert namespace == {"names": HOSTILE, "__builtins__": namespace["__builtins__"]}
    for words in cells(data, "markdown"):
        assert not any(word in words for word in HOSTILE if len(word) > 3)


def test_the_same_state_gives_the_same_bytes_and_ids_of_its_own():
    section = NotebookSection(
        "One", ("Words.",), (Choice("n", 3, "of them"),), (Code("n"), Words("End."))
    )
    data = make(section)
    assert data == make(section)
    notebook = json.loads(data)
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
    assert all(cell["metadata"] == {} for cell in notebook["cells"])
    assert data != make(
        NotebookSection("One", ("Words.",), (Choice("n", 4, "of them"),), section.cells)
    )


def test_what_the_code_calls_is_put_in_before_it():
    data = make(
        NotebookSection("One", ("Words.",), cells=(Code("x = entropy(torch.ones(2) / 2)"),))
    )
    code = cells(data, "code")
    assert any("def entropy(" in cell for cell in code[:-1])
    assert not any("def attention(" in cell for cell in code)
    namespace: dict = {}
    for cell in code:
        exec(cell, namespace)
    assert float(namespace["x"]) == pytest.approx(math.log(2))


@pytest.mark.parametrize("device", ["cuda", "mps"])
def test_a_device_that_is_not_there_falls_back_visibly(device, capsys):
    available = {"cuda": torch.cuda, "mps": torch.backends.mps}[device].is_available()
    namespace: dict = {}
    exec(cells(make(NotebookSection("One", ()), device=device), "code")[0], namespace)
    assert namespace["device"] == (device if available else "cpu")
    assert available or f"{device} is not available" in capsys.readouterr().out
    assert namespace["dtype"] == torch.float32


def test_the_learners_picture_comes_back_pixel_by_pixel():
    pixels = torch.randint(256, (48, 48, 3), generator=torch.Generator().manual_seed(2))
    image = pixels.byte().float() / 255
    section = image_section("Words.", image=image, side=8, sharpness=2.0, row=1, column=3)
    namespace: dict = {}
    for cell in cells(make(section), "code"):
        exec(cell, namespace)
    assert torch.equal(namespace["image"], image)


def test_the_weights_picture_shows_every_number_on_the_fixed_scale():
    weights = torch.tensor([[0.25, 0.75, 0.0], [1.0, 0.0, 0.0]])
    mask = torch.tensor([[True, True, False], [True, True, True]])
    spec = weights_chart(weights, title="W", mask=mask, column_labels=list("abc")).to_dict()
    (values,) = spec["datasets"].values()
    assert [value["weight"] for value in values] == [0.25, 0.75, 0.0, 1.0, 0.0, 0.0]
    assert [value["number"] for value in values[:3]] == ["0.25", "0.75", "✕"]
    assert [value["grey"] for value in values] == [False, False, True, False, False, False]
    assert [value["key j"] for value in values[:3]] == ["a", "b", "c"]
    assert '"domain": [0, 1]' in json.dumps(spec)


def test_what_is_no_number_is_grey_and_valid_json():
    chart = weights_chart(torch.tensor([[math.nan, 0.5]]), title="W")
    (values,) = json.loads(chart.to_json())["datasets"].values()
    assert [(value["weight"], value["number"], value["grey"]) for value in values] == [
        (None, "nan", True),
        (0.5, "0.50", False),
    ]


def test_a_large_weights_picture_can_be_drawn():
    spec = weights_chart(torch.full((128, 128), 1 / 128), title="W").to_dict()
    (values,) = spec["datasets"].values()
    assert len(values) == 128 * 128
    assert len(spec["layer"]) == 1  # no numbers


def test_the_lines_are_the_series():
    series = {"a": [1.0, 2.0], "b": [3.0, 4.0]}
    chart = lines_chart(series, [8, 16], title="L", x="D", y="w")
    (rows,) = chart.to_dict()["datasets"].values()
    assert [(row["line"], row["D"], row["w"]) for row in rows] == [
        *(("a", 8, 1.0), ("a", 16, 2.0)),
        *(("b", 8, 3.0), ("b", 16, 4.0)),
    ]
