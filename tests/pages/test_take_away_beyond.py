"""The notebooks of the mask workshop, the bug lab and the learner's own tensors: as on screen."""

import ast
import csv
import io
import json
from io import BytesIO
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import save

from attention_core.dashboard.bug_lab.names import NAMES
from attention_core.dashboard.mask_workshop.targets import TARGETS
from tests.support.app import sentences
from tests.support.taken_pages import (
    AGREEMENT,
    PageExport,
    State,
    agrees,
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
WORKSHOP = {"work_rule": "not j > i", "work_nq": "5", "work_nk": "7", "work_seed": "3"}
WORKSHOP |= {"work_paint": "0-0 2-6"}  # and so query 0 may attend to nothing
GALLERY = {**WORKSHOP, "work_gal_mask": "Causal, bottom-right", "work_gal_guess": "Prefix LM"}
CONVENTIONS = {"work_rule": "j <= i or j == 4", "work_part": "Conventions", "dtype": "bfloat16"}
CONVENTIONS |= {"work_conv_way": "MultiheadAttention", "work_conv_guess": "An error"}
CONVENTIONS |= {"work_paint": "1-4 2-0"}
NO_PROGRAM = {**WORKSHOP, "work_part": "Conventions", "work_conv_way": "is_causal"}
DEAD_ROWS = {"work_part": "Dead rows", "work_dead_i": "2", "work_dead_guess": "All three"}
ALIGNED = {"work_part": "Alignment", "work_align_nq": "3", "work_align_nk": "7", "work_seed": "2"}
ALIGNED |= {"work_align_guess": "5"}
SLOPE = {"work_part": "Bias", "work_bias_guess": "No", "work_bias_slope": "1.5"}
BUCKETS = {**WORKSHOP, "work_part": "Bias", "work_bias_guess": "Yes", "work_bias_d": "1"}
BUCKETS |= {"work_bias_kind": "T5 buckets", "work_bias_masked": "true"}
CAP = {"work_part": "Bias", "work_bias_guess": "No", "work_bias_cap": "2.5"}
CAP |= {"work_bias_kind": "Soft cap"}
CHALLENGE = {"work_part": "Challenges", "work_ch_number": "2 of 5: Every other key"}
LAB = {"lab_specimen": "C", "lab_mask": "Causal and padding", "lab_batch": "3", "lab_heads": "2"}
LAB |= {"lab_n": "5", "lab_d": "4", "lab_seed": "7", "dtype": "float64"}
LAB |= {"lab_sequence": "2", "lab_head": "1"}
MISTAKEN = {"lab_specimen": "I", "lab_I_guess": "No scale", "lab_I_move": "Lock in"}
NAMED = {"lab_specimen": "K", "lab_K_guess": "No scale", "lab_K_move": "Lock in", "lab_d": "13"}
HEAD = {"own_h": "2", "own_rule": "i - j < 4", "own_names": WORDS, "own_rows_11": ["2", "9"]}
HEAD |= {"own_columns_11": ["1", "7"], "own_i": "5 · the", "own_j": '3 · """', "dtype": "float64"}
FINISHED = {"own_sample": "An attention sink", "own_b": "1", "own_h": "2", "own_j": "0"}
LARGE = {"own_from": "My own file", "own_b": "1", "own_h": "2", "own_rule": "i - j < 5"} | {
    "own_i": "10",
    "own_j": "3",
    "own_columns_71": ["2", "70"],
}
Q, K, V, ALLOWED = (
    torch.randn(2, 3, *shape, generator=torch.Generator().manual_seed(shape[-1]))
    for shape in ((67, 3), (71, 3), (71, 5), (67, 71))
)
ALLOWED = ALLOWED > -1
UPLOADS = {
    "large head": (
        'my "heads" $x$ <b> מילה.safetensors',
        save({"q": Q, "k": K, "v": V, "mask": ALLOWED}),
    )
}
STATES: dict[str, State] = {
    "gallery": ("5_mask_workshop.py", GALLERY),
    "conventions": ("5_mask_workshop.py", CONVENTIONS),
    "no program": ("5_mask_workshop.py", NO_PROGRAM),
    "dead rows": ("5_mask_workshop.py", DEAD_ROWS),
    "aligned": ("5_mask_workshop.py", ALIGNED),
    "slope": ("5_mask_workshop.py", SLOPE),
    "buckets": ("5_mask_workshop.py", BUCKETS),
    "cap": ("5_mask_workshop.py", CAP),
    "open bias": ("5_mask_workshop.py", {"work_part": "Bias"}),
    "open alignment": ("5_mask_workshop.py", {"work_part": "Alignment"}),
    "challenge": ("5_mask_workshop.py", CHALLENGE | {"work_ch_2": "j == i"}),
    "open lab": ("6_bug_lab.py", LAB),
    "stopped": ("6_bug_lab.py", {"lab_specimen": "G", "lab_mask": "Padding", "lab_batch": "3"}),
    "mistaken": ("6_bug_lab.py", MISTAKEN),
    "named": ("6_bug_lab.py", NAMED),
    "shown": ("6_bug_lab.py", {**LAB, "lab_specimen": "G", "lab_G_move": "Show me"}),
    "head": ("7_your_tensors.py", HEAD),
    "finished": ("7_your_tensors.py", FINISHED),
    "large head": ("7_your_tensors.py", LARGE),
}
BIAS = {
    "far": "'far' in dir() and [far_weight(each.weights, far) for each in found.values()]",
    "agreement.torch_difference": "bias_agreement.torch_difference",
    "weights": "biased.weights",
}
SPECIMEN = {
    "seen": "seen",
    "right": "in_numbers(reference)",
    "weights": "reference.weights[sequence, head]",
    "prediction": "prediction",
    "fits": "fits",
}
ONE_HEAD = {
    "weight": "float(weights[i, j])",
    "larger": "larger",
    "section": "section",
    "entropy": "measures.entropy",
}
# What each notebook is asked for after it ran.
PROBES: dict[str, dict[str, str]] = {
    "gallery": {
        **{name: name for name in AGREEMENT},
        "weights": "steps.weights",
        "mask": "mask.int()",
        "pairs": "costs.pairs",
        "cached": "costs.cached",
        "growth": "growth",
    },
    "conventions": {
        **{name: name for name in AGREEMENT},
        "difference": "difference",
        "meant": "mixed_up.from_meant",
    },
    "no program": {"mask": "mask.int()", "meant": "mixed_up.from_meant"},
    "dead rows": {"rows": "rows", "spoiled": "{name: a.spoiled for name, a in answers.items()}"},
    "aligned": {"to_whole": "to_whole", "one_by_one": "one_by_one", "is_causal": "is_causal"},
    "slope": BIAS,
    "buckets": BIAS,
    "cap": BIAS,
    "open bias": {"smallest": "smallest"},
    "open alignment": {},
    "challenge": {"wrong": "len(wrong)", "target": "wanted.int()"},
    "open lab": SPECIMEN,
    "stopped": SPECIMEN,
    "mistaken": SPECIMEN,
    "named": SPECIMEN,
    "shown": SPECIMEN,
    "head": ONE_HEAD | {"queries": "query_names", "dtype": "str(q.dtype)"},
    "finished": ONE_HEAD | {"dtype": "str(weights.dtype)"},
    "large head": ONE_HEAD | {"weights": "weights", "file": "file"},
}


@pytest.fixture(scope="module")
def export() -> dict[str, PageExport]:
    return take_all(STATES, UPLOADS)


@pytest.fixture(scope="module")
def ran(export: dict[str, PageExport], tmp_path_factory) -> dict[str, dict[str, Any]]:
    return run_all(export, PROBES, UPLOADS, tmp_path_factory.mktemp("notebooks"))


@pytest.mark.parametrize("name", STATES)
def test_a_notebook_is_valid_plain_and_of_one_mind(export, name):
    assert_valid_and_plain(export[name])
    assert_no_name_twice(export[name], reports=name != "finished")


def test_every_notebook_runs_and_says_whether_it_is_right(ran):
    for name, result in ran.items():
        assert ("✓ agrees with F.scaled" in result["printed"]) == (name != "finished"), name
        assert "✗" not in result["printed"]
        assert "a picture or a table" in result["printed"]


def said(page: PageExport, words: str) -> list[str]:
    return [text for text in sentences(page.app) if words in text]


def verdicts(page: PageExport) -> list[str]:
    return said(page, "**Right.**") + said(page, "**Not quite.**")


def test_the_mask_in_hand_and_the_gallery(export, ran):
    found, page = values(ran, "gallery"), export["gallery"]
    mask = np.tril(np.ones((5, 7)))
    mask[0, 0], mask[2, 6] = 0, 1
    assert found["mask"] == mask.tolist()
    on_screen = np.nan_to_num(np.array(matrix(page.app, "Weights under the mask")))
    assert np.array(found["weights"]) == pytest.approx(on_screen, abs=1e-7)
    agrees(page.app, found)
    first = {metric.label: metric.value for metric in reversed(page.app.metric)}
    assert first["Visible pairs"] == f"{int(mask.sum())} of 35"
    assert f"visible pairs          {int(mask.sum())} of 35" in ran["gallery"]["printed"]
    assert first["Dot products needed"] == f"{found['pairs']} of 35"
    assert said(page, f"at most {found['cached']} of 7")
    few, twice = found["growth"]["Prefix LM"]
    (verdict,) = said(page, f"Prefix LM: from {few:,} to {twice:,}, times {twice / few:.2f}.")
    assert verdict in page.cells("markdown")

    weights, allowed = (np.load(BytesIO(page.files[f"work_npy_{n}"]())) for n in (0, 1))
    assert weights.tolist() == np.array(found["weights"], np.float32).tolist()
    assert allowed.tolist() == mask.astype(bool).tolist()


def test_a_rule_is_data_and_a_refused_one_stays_outside(export, monkeypatch):
    (cell,) = (c for c in export["gallery"].cells("code") if "rule = 'not j > i'" in c)
    assert all(isinstance(node, ast.Assign) for node in ast.parse(cell).body)
    bad = '__import__("os")'
    page = take(("5_mask_workshop.py", {"work_rule": bad}), monkeypatch=monkeypatch)
    assert bad not in page.notebook.decode() and "rule = 'j <= i and" in page.notebook.decode()


def test_the_conventions(export, ran):
    found, page = values(ran, "conventions"), export["conventions"]
    (program,) = (code.value for code in page.app.code if "attn_mask=~mask" in code.value)
    assert program.strip() in page.cells("code")
    differences = [value for label, value in metrics(page.app).items() if "of this call" in label]
    assert [float(value) for value in differences] == [float(f"{found['difference']:.3g}")]
    agrees(page.app, found)
    (verdict,) = said(page, f"The output is {found['meant']:.2g} away")
    assert verdict in page.cells("markdown")
    refusal = next(text.value for text in export["no program"].app.info)
    assert any(refusal in cell for cell in export["no program"].cells("markdown"))
    assert "prediction = None" in "".join(export["no program"].cells("code"))
    assert "from the one that was meant" not in "".join(export["no program"].cells("markdown"))


def test_dead_rows_and_alignment(export, ran):
    found, page = values(ran, "dead rows"), export["dead rows"]
    nan, uniform, zero = np.array(found["rows"], float)
    assert np.isnan(nan).all() and (uniform == 1 / 8).all() and not zero.any()
    assert [name for name, spoiled in found["spoiled"].items() if spoiled] == ["NaN", "patched"]
    (verdict,) = said(page, "The loss never reads the dead row")
    assert verdict in page.cells("markdown") and "silenced = 2  #" in "".join(page.cells("code"))

    found, shown = values(ran, "aligned"), metrics(export["aligned"].app)
    for name in ("Top-left", "Bottom-right"):
        on_screen = float(shown[f"{name}: max abs diff to the whole"])
        assert on_screen == pytest.approx(found["to_whole"][name], rel=0.01)
    on_screen = float(shown["Bottom-right to one token at a time"])
    assert on_screen == pytest.approx(found["one_by_one"], rel=0.01)
    assert said(export["aligned"], f"left picture's output {found['is_causal']:.2g})")


@pytest.mark.parametrize(("name", "far"), [("slope", 2), ("buckets", 1), ("cap", None)])
def test_the_biases(export, ran, name, far):
    found, shown = values(ran, name), metrics(export[name].app)
    labels = ("without a bias", "with this bias", "with −∞ instead") if far else ()
    for label, share in zip(labels, found["far"] or (), strict=True):
        assert shown[f"Weight beyond {far}, {label}"] == f"{100 * share:.3g} %"
    on_screen = np.nan_to_num(np.array(matrix(export[name].app, "Weights with the bias")))
    assert np.array(found["weights"]) == pytest.approx(on_screen, abs=1e-7)
    assert shown["Max abs diff to PyTorch"] == f"{found['agreement.torch_difference']:.2e}"


def test_a_question_of_the_workshop_is_open_until_there_is_a_guess(export, ran):
    for name, result in (("bias", "multiplies the exponential"), ("alignment", "stands at the")):
        page = export[f"open {name}"]
        assert not any(result in cell for cell in page.cells("markdown"))
        assert "prediction = None" in "".join(page.cells("code"))
    assert 0 < values(ran, "open bias")["smallest"] < 1e-9
    for name, guess in (("slope", "No"), ("buckets", "Yes"), ("aligned", "5")):
        assert f"prediction = '{guess}'" in "".join(export[name].cells("code"))
        assert any(cell in export[name].cells("markdown") for cell in verdicts(export[name]))


def test_a_challenge_with_the_learners_rule(export, ran):
    found, page = values(ran, "challenge"), export["challenge"]
    assert found["target"] == TARGETS[1].mask((8, 8)).int().tolist()
    (verdict,) = alerts(page.app)
    assert f"{found['wrong']} of 64 cells differ." in verdict
    assert any(cell.startswith("**Not quite.** Query 2 must") for cell in page.cells("markdown"))
    assert "my_rule = 'j == i'" in "".join(page.cells("code"))


@pytest.mark.parametrize("number", range(len(TARGETS)))
def test_no_challenge_gives_its_rule_away(number, monkeypatch):
    target = TARGETS[number]
    title = f"{number + 1} of 5: {target.question.title}"
    query = {"work_part": "Challenges", "work_ch_number": title, f"work_ch_{number + 1}": "j +"}
    page = take(("5_mask_workshop.py", query), monkeypatch=monkeypatch)
    text = page.notebook.decode()
    assert f"Challenge: {target.question.title}" in text and "my_rule = None" in text
    for secret in (target.rule, target.why, *target.question.hints, "j +"):
        assert json.dumps(secret, ensure_ascii=False)[1:-1] not in text


def test_a_hidden_solution_of_the_workshop_stays_hidden(monkeypatch):
    page = take(("5_mask_workshop.py", GALLERY | {"hide": "solutions"}), monkeypatch=monkeypatch)
    text = page.notebook.decode()
    assert text.count("prediction = None") == 1
    for result in ("growing", "times 3.9", "**Right", "**Not quite"):
        assert result not in text


@pytest.mark.parametrize("name", ["open lab", "stopped", "mistaken", "named", "shown"])
def test_the_symptoms_are_those_on_screen(export, ran, name):
    found, (table,) = values(ran, name), (table.value for table in export[name].app.table)
    specimen, right = (table[column].tolist() for column in table.columns)
    assert list(found["seen"]) == table.index.tolist()
    assert list(found["seen"].values()) == specimen
    assert found["right"] == right
    on_screen = np.nan_to_num(np.array(matrix(export[name].app, "The right one: weights")))
    assert np.nan_to_num(np.array(found["weights"])) == pytest.approx(on_screen, abs=1e-7)
    out = name in ("named", "shown")
    assert found["fits"] == out  # the fault itself fits, the right one in its place does not
    assert found["prediction"] == {"named": "No scale", "mistaken": "No scale"}.get(name)
    for alert in alerts(export[name].app):  # who is alike is not told in the notebook
        told = "implementations" not in alert or "**Right" in alert
        assert any(alert in cell for cell in export[name].cells("markdown")) == told


def test_a_specimen_is_told_only_when_it_is_out(export):
    for name in ("open lab", "stopped", "mistaken"):
        text = export[name].notebook.decode()
        for implementation, words in NAMES.items():
            if implementation.__name__ != "right":
                assert f"{implementation.__name__}(" not in text
                assert (words.short in text) == (name == "mistaken" and words.short == "No scale")
        assert text.count("def right(") == 1
    for name, fault in (("named", "no_scale"), ("shown", "padding_per_query")):
        text = export[name].notebook.decode()
        assert text.count(f"def {fault}(") == text.count("def right(") == 1
        assert "```diff" in text and "It does what was seen." in text


def test_a_head_of_a_sample(export, ran):
    found, page = values(ran, "head"), export["head"]
    shown = metrics(page.app)
    assert shown["Weight of query 5 on key 3"] == f"{found['weight']:.9g}"
    assert shown["Keys with a larger weight"] == f"{found['larger']} of 11"
    assert found["dtype"] == "torch.float64"
    assert f"max abs diff to PyTorch   {shown['Max abs diff to PyTorch']}" in ran["head"]["printed"]
    on_screen = np.nan_to_num(np.array(matrix(page.app, "Weights of head 2")))
    assert np.array(found["section"]) == pytest.approx(on_screen, abs=1e-7)
    assert on_screen.shape == (8, 7)
    alts = " ".join(chart.proto.alt for chart in page.app.get("vega_lite_chart"))
    assert f"head 2 has {found['entropy']:.3g}." in alts
    assert found["queries"][:2] == ["2 · <b>$5", '3 · """']
    for cell in page.cells("markdown"):
        assert "<b>" not in cell and "מילה" not in cell

    head, *rows = csv.reader(io.StringIO(page.files["own_csv_0"]()))
    assert head[1:3] == ["key 1 · cat", "key 2 · <b>$5"] and rows[0][0] == "query 2 · <b>$5"
    assert [[float(x) for x in row[1:]] for row in rows] == found["section"]


def test_finished_weights_and_a_large_head(export, ran):
    found, shown = values(ran, "finished"), metrics(export["finished"].app)
    assert found["dtype"] == "torch.float16"
    assert shown["Weight of query 4 on key 0"] == f"{found['weight']:.9g}"

    found, page = values(ran, "large head"), export["large head"]
    eye, band = torch.eye(71).double(), torch.ones(67, 71).triu(-4).bool()
    q, k = Q[1, 2].double(), K[1, 2].double()
    right = F.scaled_dot_product_attention(q, k, eye, attn_mask=ALLOWED[1, 2] & band)
    assert np.array(found["weights"]) == pytest.approx(right.numpy(), abs=1e-6)
    assert metrics(page.app)["Weight of query 10 on key 3"] == f"{found['weight']:.9g}" == "0"
    assert np.shape(found["section"]) == (67, 69)
    file, _ = UPLOADS["large head"]
    assert found["file"] == file and "_bytes = " not in page.notebook.decode()
    (cell,) = (cell for cell in page.cells("code") if "file = " in cell and "def " not in cell)
    assert all(isinstance(node, ast.Assign) for node in ast.parse(cell).body)
    assert not any("heads" in c and "$x$" in c for c in page.cells("markdown"))
