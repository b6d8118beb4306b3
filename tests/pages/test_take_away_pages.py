"""The notebooks of the lesson run without this app, and have the numbers that are on screen."""

import ast
import csv
import io
import json
import re
from io import BytesIO
from tokenize import COMMENT, generate_tokens
from typing import Any

import nbformat
import numpy as np
import pyarrow as pa
import pytest
from nbclient import NotebookClient

from tests.support.app import sentences
from tests.support.taken_pages import (
    AGREEMENT,
    PageExport,
    State,
    agrees,
    alert,
    alerts,
    assert_no_name_twice,
    assert_valid_and_plain,
    matrix,
    metrics,
    run_all,
    take,
    take_all,
    values,
)

WORDS = 'the cat <b>$5 """ מילה the \'+'
QKV = {"qkv_n": "3", "qkv_d": "2", "qkv_seed": "7", "qkv_b": "1", "qkv_cross": "true"}
QKV |= {"qkv_nk": "7", "qkv_i": "2", "qkv_j": "5", "qkv_symmetry": "Both", "dtype": "float64"}
RETRIEVAL = {"ret_from": "My own words", "ret_words": WORDS, "ret_sharpness": "2.3"}
RETRIEVAL |= {"ret_c2": "-1.5", "ret_absent": "Evenly, to all keys"}
CAUSAL = {"mask_n": "7", "mask_seed": "3", "mask_edit": "2", "mask_content": "5"}
CAUSAL |= {"mask_size": "2.5", "mask_guess": "All rows", "mask_t": "4", "mask_patch": "12"}
CAUSAL |= {"mask_row": "2", "mask_sharpness": "3.5"}
BLENDED = {"ex_exercise": "Blended query", "ex_blend_weight_guess": "20", "ex_blend_a": "0.7"}
BLENDED |= {"ex_blend_weight_move": "Lock in", "ex_blend_share_move": "Show me"}
BLENDED |= {"ex_blend_sharpness": "3.5"}
NO_SCALE = {"ex_exercise": "No scale", "ex_scale_onehot_guess": "It falls", "ex_scale_d": "32"}
NO_SCALE |= {"ex_scale_onehot_move": "Lock in", "ex_scale_dense_move": "Show me"}
NO_SCALE |= {"ex_scale_gradient_guess": "40", "ex_scale_gradient_move": "Lock in"}
WINDOW = {"ex_exercise": "Local window", "ex_window_mask_move": "Lock in", "ex_window_q1": "2"}
WINDOW |= {"ex_window_reach_guess": "5", "ex_window_reach_move": "Lock in"}
WINDOW |= {"ex_window_content_move": "Show me", "ex_window_shift": "3", "ex_window_seed": "2"}
WINDOW |= {"ex_window_layers": "2"}


STATES: dict[str, State] = {
    "overview": ("streamlit_app.py", {"dtype": "float64"}),
    "qkv": ("1_qkv_formula.py", QKV),
    "retrieval": ("2_retrieval.py", RETRIEVAL),
    "lesson's tokens": ("2_retrieval.py", {"ret_sharpness": "0"}),
    "causal": ("3_causal_masking.py", CAUSAL),
    "one token": ("3_causal_masking.py", {"mask_n": "1", "dtype": "bfloat16"}),
    "blended": ("4_exercises.py", BLENDED),
    "no scale": ("4_exercises.py", NO_SCALE),
    "window": ("4_exercises.py", WINDOW),
    "open blended": ("4_exercises.py", {"ex_blend_weight_guess": "37"}),
    "open no scale": ("4_exercises.py", {"ex_exercise": "No scale"}),
    "open window": ("4_exercises.py", {"ex_exercise": "Local window"}),
}
# What each notebook is asked for after it ran.
PROBES: dict[str, dict[str, str]] = {
    "overview": {"weights": "steps.weights", "i": "i", "j": "j"},
    "qkv": {
        **{name: name for name in AGREEMENT},
        "weights": "steps.weights[shown]",
        "shape": "list(steps.output.shape)",
        "weight": "trace.weight",
        "scores": "asymmetry(own.scores)",
        "asymmetry": "asymmetry(own.weights)",
        "dtype": "str(steps.weights.dtype)",
    },
    "retrieval": {
        **{name: name for name in AGREEMENT},
        "weights": "found.weights",
        "token": "found.token",
        "names": "names",
        "absent": "not_there.weights",
    },
    "lesson's tokens": {"weights": "found.weights", "token": "found.token"},
    "causal": {
        **{name: name for name in AGREEMENT},
        "weights": "masked.weights[0]",
        "unmasked": "future_weight(unmasked.weights)",
        "masked": "future_weight(masked.weights)",
        "is_causal": "compare_with_is_causal(q, k, v)",
        "with": "with_mask.changes",
        "without": "without_mask.changes",
        "step": "differences[t]",
        "steps": "max(differences)",
        "outside": "outside",
    },
    "one token": {"weights": "masked.weights[0].float()", "outside": "outside"},
    "blended": {
        "weight": "100 * found.weights[2].item()",
        "needed": "needed",
        "equal": "explored.weights",
        "unequal": "blended.weights",
    },
    "no scale": {
        "one_hot": "[r.mean_largest_weight for r in one_hot['none']]",
        "dense": "[r.mean_largest_weight for r in dense['none']]",
        "left": "100 * at_128 / at_8",
        "at_d": "found.weights",
    },
    "window": {
        "on": "int(target.sum())",
        "wrong": "len(wrong)",
        "farthest": "farthest",
        "changes": "changes",
        "weights": "moved_weights",
        "kernel": "(moved_kernel - still_kernel).abs().max()",
        "seen": "seen.float()",
    },
    "open blended": {"weight": "100 * found.weights[2].item()", "guess": "prediction"},
    "open no scale": {"one_hot": "[r.mean_largest_weight for r in one_hot['none']]"},
    "open window": {"touched": "touched"},
}


@pytest.fixture(scope="module")
def export() -> dict[str, PageExport]:
    return take_all(STATES, {})


@pytest.fixture(scope="module")
def ran(export: dict[str, PageExport], tmp_path_factory) -> dict[str, dict[str, Any]]:
    return run_all(export, PROBES, {}, tmp_path_factory.mktemp("notebooks"))


@pytest.mark.parametrize("name", STATES)
def test_a_notebook_is_valid_plain_and_of_one_mind(export, name):
    assert_valid_and_plain(export[name])
    assert_no_name_twice(export[name], reports=name != "open window")


def test_every_notebook_runs_and_says_whether_it_is_right(ran):
    for name, result in ran.items():
        assert ("✓ agrees with F.scaled" in result["printed"]) == (name != "open window"), name
        assert "✗" not in result["printed"]
        assert ("a picture or a table" in result["printed"]) == (name != "open window"), name


def test_the_same_link_gives_the_same_bytes(export, monkeypatch):
    for name in ("qkv", "window"):
        again = take(STATES[name], monkeypatch=monkeypatch)
        assert again.notebook == export[name].notebook


def test_the_overview(export, ran):
    found, app = values(ran, "overview"), export["overview"].app
    title = "Who attends to whom: the lesson's five tokens"
    assert found["weights"] == pytest.approx(np.array(matrix(app, title)), abs=1e-15)
    share = 100 * found["weights"][found["i"]][found["j"]]
    says = f"Query {found['i']} puts {share:.0f} % of its weight on key {found['j']}"
    assert any(says in caption.value for caption in app.caption)
    assert says in ran["overview"]["printed"]


def test_the_qkv_page(export, ran):
    found, app = values(ran, "qkv"), export["qkv"].app
    assert found["dtype"] == "torch.float64"
    assert np.shape(found["weights"]) == (3, 7)
    on_screen = np.array(matrix(app, "Weights = softmax of each row"))
    assert np.array(found["weights"]) == pytest.approx(on_screen, abs=1e-15)
    shown = metrics(app)
    assert shown["output.shape"] == str(tuple(found["shape"]))
    agrees(app, found)
    sentence = f"Query 2 puts **{100 * found['weight']:.1f} %** of its weight on key 5"
    assert any(sentence in text.value for text in app.markdown)
    assert float(shown["Largest |s_ij − s_ji|"]) == float(f"{found['scores']:.2g}")
    assert float(shown["Largest |w_ij − w_ji|"]) == float(f"{found['asymmetry']:.2g}")
    verdict = next(text for text in sentences(app) if text.startswith("**Not quite"))
    assert verdict in export["qkv"].cells("markdown")


def test_the_retrieval_page(export, ran):
    found, app = values(ran, "retrieval"), export["retrieval"].app
    table = app.dataframe[0].value
    assert [f"{weight:.8g}" for weight in found["weights"]] == table["weight"].tolist()
    assert found["names"] == [*dict.fromkeys(WORDS.split()), "dog"]
    agrees(app, found)
    retrieved = f"Token “{found['names'][found['token']]}”: its entry"
    assert any(text.value.startswith(retrieved) for text in app.text)
    weight = float(f"{found['absent'][0]:.5g}")
    assert any(f"1/7 ≈ {weight} for each" in text for text in sentences(app))
    lesson, lesson_app = values(ran, "lesson's tokens"), export["lesson's tokens"].app
    assert lesson["weights"] == pytest.approx([0.2] * 5)
    assert lesson["token"] is None
    assert any(text.value.startswith("Nothing") for text in lesson_app.text)


def test_what_a_learner_typed_is_data(export):
    page = export["retrieval"]
    for cell in page.cells("markdown"):
        assert not any(word in cell for word in WORDS.split() if len(word) > 3)
    holding = [cell for cell in page.cells("code") if "מילה" in cell]
    assert len(holding) == 1
    assert all(isinstance(node, ast.Assign) for node in ast.parse(holding[0]).body)
    tokens = list(generate_tokens(io.StringIO(holding[0]).readline))
    notes = " ".join(token.string for token in tokens if token.type == COMMENT)
    assert "מילה" not in notes


def test_the_causal_page(export, ran):
    found, app = values(ran, "causal"), export["causal"].app
    shown = metrics(app)
    on_screen = np.array(matrix(app, "Weights with the mask"))
    assert np.array(found["weights"]) == pytest.approx(on_screen, abs=1e-7)
    assert shown["Largest weight on a future key, unmasked"] == f"{found['unmasked']:.4f}"
    assert shown["Largest weight on a future key, masked"] == f"{found['masked']:g}" == "0"
    assert shown["Max abs diff to is_causal=True"] == f"{found['is_causal']:.2e}"
    agrees(app, found)
    (bars,) = (c for c in app.get("vega_lite_chart") if "output rows after token 2" in c.proto.alt)
    data = pa.ipc.open_stream(BytesIO(bars.proto.datasets[0].data.data)).read_pandas()
    changes = [*found["with"], *found["without"]]
    assert changes == pytest.approx(data["change"].tolist(), abs=1e-6)
    assert found["with"][:2] == [0, 0]
    assert shown["Max abs diff of step 4 to row 4"] == f"{found['step']:.2e}"
    assert shown["The same, over all steps"] == f"{found['steps']:.2e}"
    sentence = f"Patch (2, 1) puts **{100 * found['outside']:.1f} %** of its weight outside"
    assert any(sentence in text.value for text in app.markdown)


def test_the_exercises(export, ran):
    blended, app = values(ran, "blended"), export["blended"].app
    result = f"You said 20 %; computed here: {blended['weight']:.3f} % on each"
    assert alert(app, "You said 20 %").startswith(f"**Not quite.** {result}")
    assert f"Computed here: a = {blended['needed']:.4f}." in alert(app, "a = ")
    assert blended["equal"] != blended["unequal"]

    no_scale, app = values(ran, "no scale"), export["no scale"].app
    first, *_, last = no_scale["one_hot"]
    assert f"computed here: {first:.5f} at D = 8 and {last:.5f} at D = 128" in alert(app, "falls")
    first, *_, last = no_scale["dense"]
    shown = f"Computed here: {first:.2f} at D = 8 and {last:.2f} at D = 128"
    assert shown in alert(app, "Computed")
    assert f"You said 40 %; computed here: {no_scale['left']:.0f} %" in alert(app, "40 %")
    assert f"D = 32, scaled by 1/√D: {no_scale['at_d'][2]:.5f}" in " ".join(
        chart.proto.alt for chart in app.get("vega_lite_chart")
    )

    window, app = values(ran, "window"), export["window"].app
    verdict = alert(app, "You said a mask with")
    assert f"{window['on']} of 36 cells are on" in verdict
    assert f"{window['wrong']} of 36 cells differ" in verdict
    reach = f"You said position 5; computed here: position {window['farthest']}"
    assert reach in alert(app, "position 5")
    kernel, attention = window["changes"]
    assert f"change by {kernel:.0f}, attention's by up to {attention:.2f}" in alert(app, "kernel's")
    on_screen = np.array(matrix(app, "Local attention's weights"))
    assert np.nan_to_num(on_screen) == pytest.approx(np.array(window["weights"]), abs=1e-7)
    for page in ("blended", "no scale", "window"):
        markdown = export[page].cells("markdown")
        verdicts = alerts(export[page].app)
        assert len(verdicts) == {"blended": 2}.get(page, 3)
        assert all(verdict in markdown for verdict in verdicts)


RESULTS = {
    "open blended": ("49.997", "1.2153", "= 37", "37"),
    "open no scale": ("0.69496", "0.71 at", "33 %", "**Right", "**Not quite"),
    "open window": ("16 of 36", "position 3", "width // 2", "def local", "local(3)"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_hidden_result_does_not_leak(export, name):
    sections = "\n".join(export[name].cells("markdown") + export[name].cells("code"))
    for result in RESULTS[name]:
        assert result not in sections, result
    assert sections.count("prediction = None") == 1  # and no question after it
    assert "Predict" in sections or "prediction first" in sections


def test_an_open_question_comes_with_the_code_to_find_out(ran):
    found = values(ran, "open blended")
    assert found["guess"] is None
    assert f"{found['weight']:.3f}" == "49.997"
    assert values(ran, "open no scale")["one_hot"] == pytest.approx([1.0] * 5)
    touched = np.array(values(ran, "open window")["touched"])
    distance = np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    assert (touched == (distance <= 1)).all()


@pytest.mark.parametrize(
    ("file", "query", "result"),
    [
        ("1_qkv_formula.py", {}, "the softmax divides each row"),
        ("2_retrieval.py", {}, "has no way to say"),
        ("3_causal_masking.py", {}, "no query before the edit"),
    ],
)
def test_a_question_of_a_page_is_open_until_there_is_a_guess(file, query, result, monkeypatch):
    page = take((file, query), monkeypatch=monkeypatch)
    text = "\n".join(page.cells("markdown"))
    assert result not in text
    assert "**Right" not in text
    assert any("prediction = None" in cell for cell in page.cells("code"))


def test_a_link_that_hides_solutions_hides_them_in_the_notebook_too(monkeypatch):
    page = take(("4_exercises.py", WINDOW | {"hide": "solutions"}), monkeypatch=monkeypatch)
    text = page.notebook.decode()
    for result in ("def local", "toeplitz", "conv1d", "16 of 36", "**Right", "**Not quite"):
        assert result not in text
    assert text.count("prediction = None") == 3


def test_weights_as_files_are_those_on_screen(export):
    page = export["qkv"]
    on_screen = np.array(matrix(page.app, "Weights = softmax of each row"))
    head, *rows = csv.reader(io.StringIO(page.files["qkv_csv_0"]()))
    assert head == ["query \\ key", *(f"key {j}" for j in range(7))]
    assert [row[0] for row in rows] == [f"query {i}" for i in range(3)]
    assert np.array([[float(x) for x in row[1:]] for row in rows]).tolist() == on_screen.tolist()
    loaded = np.load(BytesIO(page.files["qkv_npy_0"]()))
    assert loaded.dtype == np.float64
    assert loaded.tolist() == on_screen.tolist()

    head, _ = csv.reader(io.StringIO(export["retrieval"].files["ret_csv_0"]()))
    assert head[1:] == [f"key {j} · {word}" for j, word in enumerate(WORDS.split())]
    masked = np.load(BytesIO(export["causal"].files["mask_npy_1"]()))
    assert (masked[np.triu_indices(7, 1)] == 0).all()
    assert masked.dtype == np.float32


def test_one_notebook_in_a_real_kernel(export, tmp_path):
    notebook = nbformat.reads(export["causal"].notebook.decode(), 4)
    NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path)}}).execute()
    kinds = {
        kind
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        for kind in output.get("data", [])
    }
    assert "text/html" in kinds  # pictures and tables
    printed = re.findall("agrees with F.scaled", json.dumps(notebook))
    assert printed
