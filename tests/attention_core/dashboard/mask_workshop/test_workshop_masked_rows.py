"""Dead rows in the workshop: three answers drawn, and gradients after a prediction only."""

import math
from io import BytesIO

import pyarrow as pa
import pytest
import torch
from streamlit.testing.v1 import AppTest

from attention_core import sample_qkv
from attention_core.dashboard.mask_workshop.masked_row_gradients import (
    ANSWERS,
    TITLES,
    nan_in_words,
)
from attention_core.dashboard.questions import ask
from attention_core.masked_rows import masked_row_answers
from tests.support.app import texts

RIGHT = "Uniform and zero"


def script(n_q, n_k, rule, dtype):
    import torch

    from attention_core import mask_tensor, parse_mask_rule
    from attention_core.dashboard.compute_settings import ComputeSettings
    from attention_core.dashboard.mask_workshop.current_mask import CurrentMask
    from attention_core.dashboard.mask_workshop.masked_rows import show_masked_rows
    from attention_core.dashboard.tensors import cached_qkv

    tensors = [tensor[0] for tensor in cached_qkv(1, n_q, n_k, 8, 3, dtype, "cpu")]
    q, k, v = tensors
    before = [tensor.clone() for tensor in tensors]
    mask = mask_tensor(parse_mask_rule(rule), n_q, n_k)
    show_masked_rows(CurrentMask(rule, (), mask, q, k, v, 3), ComputeSettings("cpu", dtype))
    assert torch.equal(mask, mask_tensor(parse_mask_rule(rule), n_q, n_k))
    assert all(torch.equal(a, b) for a, b in zip(tensors, before, strict=True))
    assert not any(tensor.requires_grad for tensor in tensors)


def opened(n_q=5, n_k=7, rule="j <= i", dtype="float32"):
    options = {"n_q": n_q, "n_k": n_k, "rule": rule, "dtype": dtype}
    app = AppTest.from_function(script, default_timeout=60, kwargs=options).run()
    assert not app.exception
    return app


def drawn(app):
    """The cells of each heatmap (n_rows, n_columns), and its alt text, by its title."""
    found = {}
    for chart in app.get("vega_lite_chart"):
        data = pa.ipc.open_stream(BytesIO(chart.proto.datasets[0].data.data)).read_pandas()
        cells = torch.tensor(data["value"].to_numpy(), dtype=torch.float64)
        title = chart.proto.spec.split('"title": "')[-1].split('"')[0]
        found[title] = (cells.view(int(data["i"].max()) + 1, -1), chart.proto.alt)
    return found


def test_a_mask_without_dead_rows_gets_one_and_the_three_answers_differ_there():
    app = opened()
    assert app.selectbox("work_dead_i").value == 3
    charts = drawn(app)
    q, k, v = (x[0] for x in sample_qkv(1, 5, 8, n_k=7, seed=3))
    live = [0, 1, 2, 4]
    scores = q.double() @ k.double().T / math.sqrt(8)
    expected = scores.masked_fill(~torch.ones(5, 7).tril().bool(), -math.inf).softmax(-1)
    for name in ("NaN", "uniform", "zero"):
        cells, alt = charts[TITLES[name]]
        assert torch.allclose(cells[live], expected[live], atol=1e-6)
        assert "query 3, a dead row" in alt
    assert charts[TITLES["NaN"]][0][3].isnan().all()
    assert charts[TITLES["uniform"]][0][3].tolist() == pytest.approx([1 / 7] * 7)
    assert charts[TITLES["zero"]][0][3].tolist() == [0] * 7
    outputs, _ = charts["Output of query 3, a dead row"]
    assert outputs[0].isnan().all() and not outputs[2].any()
    assert outputs[1].tolist() == pytest.approx(v.mean(0).tolist(), abs=1e-6)
    assert "**100 %** of query 3's weight" in texts(app)


def test_hidden_cells_are_crossed_out_but_not_in_dead_rows():
    app, causal = opened(), torch.ones(5, 7).tril().bool()
    causal[3] = True  # the dead row, whose answers are compared
    charts = [c for c in app.get("vega_lite_chart") if "Each weight of query 3" in c.proto.alt]
    assert len(charts) == 3
    for chart in charts:
        data = pa.ipc.open_stream(BytesIO(chart.proto.datasets[0].data.data)).read_pandas()
        crossed = torch.tensor([glyph == "✕" for glyph in data["glyph"]]).view(5, 7)
        assert torch.equal(crossed, ~causal)
        assert "gradientThickness" in chart.proto.spec  # a scale for the colours


def test_another_query_can_be_silenced():
    app = opened()
    app.selectbox("work_dead_i").select(1).run()
    assert drawn(app)[TITLES["NaN"]][0].isnan().any(-1).tolist() == [False, True] + [False] * 3
    assert "Output of query 1, a dead row" in drawn(app)


def test_dead_rows_of_the_mask_itself_are_used_as_they_are():
    app = opened(rule="j < i - 1")
    assert not app.selectbox
    assert "**Queries 0 and 1** may attend to nothing" in texts(app)
    cells = drawn(app)[TITLES["NaN"]][0]
    assert cells.isnan().any(-1).tolist() == [True, True, False, False, False]
    app.radio("work_dead_guess").set_value(RIGHT).run()
    assert f"| {TITLES['NaN']} | **NaN** in 2 of 5 rows | **NaN** in 7 of 7 rows |" in texts(app)
    assert "3 of 5" in texts(app)


def test_the_gradients_come_after_the_prediction_only():
    app = opened()
    assert "finite" not in texts(app) and "half-cure" not in texts(app)
    app.radio("work_dead_guess").set_value(RIGHT).run()
    for row in (
        f"| {TITLES['NaN']} | **NaN** in 1 of 5 rows | **NaN** in 7 of 7 rows | **NaN** in 7 of 7",
        f"| {TITLES['uniform']} | finite | finite | finite |",
        f"| {TITLES['zero']} | finite | finite | finite |",
        f"| {TITLES['patched']} | **NaN** in 1 of 5 rows | **NaN** in 7 of 7 rows | finite |",
    ):
        assert row in texts(app)
    assert "**Right.**" in texts(app) and "Not quite" not in texts(app)


@pytest.mark.parametrize(
    ("guess", "words"),
    [("Zero only", "every number in it is finite"), ("All three", "Look at the first line")],
)
def test_wrong_predictions_are_told_what_they_overlooked(guess, words):
    app = opened()
    app.radio("work_dead_guess").set_value(guess).run()
    assert "**Not quite.**" in texts(app) and "**Right.**" not in texts(app)
    assert words in texts(app)


def test_the_right_prediction_is_what_the_gradients_say():
    q, k, v = (x[0] for x in sample_qkv(1, 5, 8, n_k=7))
    answers = masked_row_answers(q, k, v, torch.ones(5, 7).tril(-1))
    finite = {a.name for a in answers if all(g.isfinite().all() for g in (a.dq, a.dk, a.dv))}
    assert [guess for guess in ANSWERS if ANSWERS[guess] == finite] == [RIGHT]


def test_a_link_that_hides_solutions_hides_the_gradients(monkeypatch):
    monkeypatch.setattr(ask, "hides_solutions", lambda: True)
    app = opened()
    app.radio("work_dead_guess").set_value(RIGHT).run()
    assert "finite" not in texts(app) and "hides the solution" in app.info[0].value


def test_nn_multihead_attention_still_gives_nan_as_the_page_says():
    x, mask = torch.randn(1, 3, 8), torch.zeros(3, 3, dtype=torch.bool)
    mask[1] = True  # there, True forbids
    module = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    assert module(x, x, x, attn_mask=mask)[0].isnan().any(-1).tolist() == [[False, True, False]]
    without = module(x, x, x, attn_mask=mask, need_weights=False)[0]
    assert without.isfinite().all()
    assert "`nn.MultiheadAttention` when it returns its weights" in texts(opened())


@pytest.mark.parametrize(
    ("dtype", "words"),
    [
        ("float16", "−65504, the lowest number of float16,"),
        ("bfloat16", "−10⁹"),
        ("float64", "−10⁹"),
    ],
)
def test_every_dtype_names_its_fill(dtype, words):
    assert f"{words} in place of −∞" in texts(opened(dtype=dtype))


@pytest.mark.parametrize(("n_q", "n_k"), [(1, 1), (1, 128), (128, 1), (128, 128)])
@pytest.mark.parametrize("rule", ["j <= i", "j < 0"])
def test_at_every_size_and_with_nothing_alive(n_q, n_k, rule):
    app = opened(n_q, n_k, rule)
    app.radio("work_dead_guess").set_value(RIGHT).run()
    assert not app.exception and "**Right.**" in texts(app)
    assert all(chart.proto.alt for chart in app.get("vega_lite_chart"))


def test_nan_in_words_counts_rows():
    gradient = torch.zeros(5, 3)
    assert nan_in_words(gradient) == "finite"
    gradient[1, 0] = gradient[1, 2] = gradient[4, 1] = math.nan
    assert nan_in_words(gradient) == "**NaN** in 2 of 5 rows"
