"""The conventions of the mask workshop: the program is that of the mask, and the proof is live."""

import warnings
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from attention_core import CONVENTIONS, MixUp, snippets
from attention_core.conventions.comparison import BOOLEAN, FLEX, IS_CAUSAL, MULTIHEAD
from attention_core.dashboard.mask_workshop.polarity import (
    ANSWERS,
    ERROR,
    NOTHING,
    OPPOSITE,
    SAME,
    judge,
)
from attention_core.dashboard.questions import ask
from tests.support.app import texts

pytestmark = [
    pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile"),
    pytest.mark.filterwarnings("ignore:Lower right causal bias will produce NaNs"),
]


def screen(rule: str, n_q: int, n_k: int, painted: tuple[tuple[int, int], ...], dtype: str) -> None:
    from attention_core.dashboard.compute_settings import ComputeSettings
    from attention_core.dashboard.mask_workshop.conventions import show_conventions
    from attention_core.dashboard.mask_workshop.current_mask import DrawnRule, current_mask
    from attention_core.mask_rules import parse_mask_rule
    from attention_core.masks import mask_tensor

    settings = ComputeSettings("cpu", dtype)
    drawn = DrawnRule(rule, mask_tensor(parse_mask_rule(rule), n_q, n_k), 5)
    show_conventions(current_mask(drawn, painted, settings), settings)


def opened(rule="j <= i", n_q=5, n_k=7, painted=(), dtype="float32", way=None) -> AppTest:
    arguments = dict(rule=rule, n_q=n_q, n_k=n_k, painted=painted, dtype=dtype)
    app = AppTest.from_function(screen, default_timeout=60, kwargs=arguments).run()
    if way:
        app.segmented_control("work_conv_way").set_value(way).run()
    assert not app.exception
    return app


@pytest.mark.parametrize("way", CONVENTIONS)
def test_the_program_is_that_of_the_mask_in_hand(way):
    app = opened(way=way)
    assert app.code[0].value == snippets("j <= i", 5, 7, 8, 8, seed=5)[way].strip()
    assert float(app.metric[0].value) < 1e-6
    assert app.metric[0].label == "Max abs diff of this call to this page's output"
    assert "The same output" in texts(app) and "Not the same" not in texts(app)


def test_painted_cells_and_dtype_are_in_the_program():
    app = opened(painted=((0, 3),), dtype="bfloat16", way=FLEX)
    assert "(0, 3)" in app.code[0].value and "torch.bfloat16" in app.code[0].value
    assert "The same output" in texts(app)


def test_a_mask_that_a_convention_cannot_say_has_a_reason_instead_of_a_program():
    app = opened("j <= i and i - j < 3", way=IS_CAUSAL)
    assert "query 3 may not attend to key 0" in app.info[0].value
    assert not app.metric and not app.code


@pytest.mark.parametrize(
    ("rule", "n_q", "n_k", "words"),
    [
        ("j <= i", 5, 5, "your mask is both triangles"),
        ("j <= i", 5, 7, "is the top-left triangle"),
        ("j <= i + n_k - n_q", 5, 7, "is the bottom-right triangle"),
    ],
)
def test_which_triangle(rule, n_q, n_k, words):
    assert words in texts(opened(rule, n_q, n_k, way=IS_CAUSAL))


@pytest.mark.parametrize(
    ("rule", "n_q", "n_k", "warned"),
    [
        ("j <= i + n_k - n_q", 7, 5, True),
        ("j <= i + n_k - n_q", 5, 7, False),
        ("j <= i", 7, 5, False),
        ("j <= i", 5, 5, False),
    ],
)
def test_a_warning_of_nan_is_foretold(rule, n_q, n_k, warned):
    app = opened(rule, n_q, n_k, way=IS_CAUSAL)
    assert ("PyTorch warns of NaN here; current versions give 0." in texts(app)) == warned
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        program: dict[str, Any] = {}
        exec(app.code[0].value, program)
    assert any("will produce NaNs" in str(warning.message) for warning in caught) == warned
    assert program["output"].isfinite().all()


def test_each_way_names_its_trap():
    assert "not every call of PyTorch's reads True this way" in texts(opened(way=BOOLEAN))
    assert "`torch.compile` builds into one fast GPU program" in texts(opened(way=FLEX))


def test_dead_rows_are_named_where_they_would_be_nan():
    app = opened("j < i - 1", way=MULTIHEAD)
    assert "2 of your queries may attend to nothing" in texts(app)
    assert "2 rows of the output are NaN" in texts(app)
    assert "NaN" not in texts(opened("j <= i", way=MULTIHEAD))


@pytest.mark.parametrize("guess", ANSWERS)
def test_the_mix_up_is_shown_after_the_prediction(guess):
    app = opened(n_q=5, n_k=5)
    assert not app.get("vega_lite_chart")
    app.radio("work_conv_guess").set_value(guess).run()
    assert ("**Right.** No error" in texts(app)) == (guess == OPPOSITE)
    assert (f"**Not quite.** {OPPOSITE}. No error" in texts(app)) == (guess != OPPOSITE)
    assert "1 query that saw every key sees none now" in texts(app)
    meant, mixed = (chart.proto.alt for chart in app.get("vega_lite_chart"))
    assert "10 of 25 pairs are hidden" in meant and "15 of 25 pairs are hidden" in mixed


def test_a_link_that_hides_solutions_hides_this_one(monkeypatch):
    monkeypatch.setattr(ask, "hides_solutions", lambda: True)
    app = opened()
    app.radio("work_conv_guess").set_value(OPPOSITE).run()
    assert not app.get("vega_lite_chart") and "Right" not in texts(app)
    assert "hides the solution" in app.info[0].value


@pytest.mark.parametrize("rule", ["0 == 0", "0 == 1", "i == j"])
@pytest.mark.parametrize(("n_q", "n_k"), [(1, 1), (7, 1), (41, 43)])
def test_at_every_size(rule, n_q, n_k):
    app = opened(rule, n_q, n_k)
    app.radio("work_conv_guess").set_value(NOTHING).run()
    for way in CONVENTIONS:
        app.segmented_control("work_conv_way").set_value(way).run()
        assert not app.exception
        assert "Not the same" not in texts(app)


def test_feedback_is_judged_by_the_numbers():
    opposite, same = MixUp(0.9, 1e-9, fully_masked=0), MixUp(1e-9, 0.9, fully_masked=2)
    assert "**Right.**" in judge(OPPOSITE, opposite, 1e-6).text
    assert all("**Not quite.**" in judge(guess, opposite, 1e-6).text for guess in (SAME, ERROR))
    assert (
        "**Right.**" in judge(SAME, same, 1e-6).text and "2 queries" in judge(SAME, same, 1e-6).text
    )
    assert "dead row" not in judge(SAME, opposite, 1e-6).text
    assert "**Not quite.** The same output. No error" in judge(ERROR, same, 1e-6).text
    neither = MixUp(0.9, 0.9, fully_masked=0)
    assert "**Not quite.** No error" in judge(OPPOSITE, neither, 1e-6).text
