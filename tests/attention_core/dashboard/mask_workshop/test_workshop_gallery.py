"""The gallery of the mask workshop, drawn by itself: what it says is what the masks are."""

import pytest
import torch
from streamlit.testing.v1 import AppTest

from attention_core import GALLERY, MaskCosts
from attention_core.dashboard.mask_workshop.gallery import (
    GROWING,
    comparison,
    generating_in_words,
)
from attention_core.dashboard.questions import ask
from tests.support.app import texts


def screen(n_q: int, n_k: int, rule: str = "j <= i") -> None:
    import streamlit as st

    from attention_core import mask_tensor, parse_mask_rule, sample_qkv
    from attention_core.dashboard.compute_settings import ComputeSettings
    from attention_core.dashboard.mask_workshop import gallery
    from attention_core.dashboard.mask_workshop.current_mask import CurrentMask

    q, k, v = (tensor[0] for tensor in sample_qkv(1, n_q, 8, n_k=n_k))
    mask = mask_tensor(parse_mask_rule(rule), n_q, n_k)
    gallery.show_gallery(CurrentMask(rule, (), mask, q, k, v, 0), ComputeSettings("cpu", "float32"))
    st.text(st.session_state.get("work_rule", ""))


def opened(n_q=11, n_k=13, **arguments) -> AppTest:
    app = AppTest.from_function(
        screen, default_timeout=60, kwargs=dict(n_q=n_q, n_k=n_k, **arguments)
    ).run()
    assert not app.exception
    return app


def metrics(app: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in app.metric}


@pytest.mark.parametrize("entry", GALLERY, ids=lambda entry: entry.name)
def test_each_mask_shows_its_picture_and_its_costs(entry):
    app = opened()
    app.selectbox("work_gal_mask").select(entry.name).run()
    visible = int(entry.tensor(11, 13).sum())
    assert f"{visible} of 143 pairs may." in app.get("vega_lite_chart")[0].proto.alt
    assert metrics(app)["Dot products needed"] == f"{visible} of 143"
    assert metrics(app)["Share of all pairs"] == f"{100 * visible / 143:.1f} %"
    assert metrics(app)["Most keys one query sees"] == str(int(entry.tensor(11, 13).sum(1).max()))
    assert entry.idea in texts(app) and entry.use in texts(app)
    assert app.code[0].value == entry.rule


def test_the_rule_goes_to_the_text_box_and_then_it_is_there():
    app = opened()
    app.selectbox("work_gal_mask").select("Dilated").run()
    app.button("work_gal_load").click().run()
    assert app.text[-1].value == "abs(i - j) <= 2 and (i - j) % 2 == 0"
    held = opened(rule="j // 4 <= i // 4")
    assert not held.button("work_gal_load").disabled
    held.selectbox("work_gal_mask").select("Block-causal").run()
    assert held.button("work_gal_load").disabled


RIGHT = "Attention sink plus window"


def test_the_table_comes_after_the_prediction_only():
    app = opened()
    assert not app.dataframe and RIGHT in GROWING
    rules = {entry.name: entry.rule for entry in GALLERY}
    asked = app.radio("work_gal_guess").proto
    assert list(asked.captions) == [rules[name] for name in asked.options]
    app.radio("work_gal_guess").set_value(RIGHT).run()
    assert "**Right.**" in texts(app) and "from 250 to 506, times 2.02" in texts(app)
    assert len(app.dataframe[0].value) == 10


@pytest.mark.parametrize(
    ("guess", "growth"),
    [
        ("Prefix LM", "from 2,083 to 8,259, times 3.96"),
        ("Block-causal", "from 2,176 to 8,448, times 3.88"),
        ("Causal, bottom-right", "from 2,080 to 8,256, times 3.97"),
    ],
)
def test_a_wrong_prediction_is_answered_by_its_own_numbers(guess, growth):
    app = opened()
    app.radio("work_gal_guess").set_value(guess).run()
    assert "**Not quite.**" in texts(app) and growth in texts(app) and "times 2.02" in texts(app)


def test_a_link_that_hides_solutions_hides_this_one(monkeypatch):
    monkeypatch.setattr(ask, "hides_solutions", lambda: True)
    app = opened()
    app.radio("work_gal_guess").set_value(RIGHT).run()
    assert not app.dataframe and "times" not in texts(app)
    assert "hides the solution" in app.info[0].value


def test_the_table_holds_the_costs():
    table = comparison(12, 12).set_index("Mask")
    assert table["Dot products"]["Causal"] == 78
    assert table["Visible"]["Causal"] == pytest.approx(100 * 78 / 144)
    assert table["Most keys"]["Sliding window"] == 3
    assert table["Cache"].tolist() == ["12", "12", "–", "3", "–", "12", "4", "4", "–", "12"]
    assert table["For n tokens"]["Global plus local"] == "5n"


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        (MaskCosts(6, 9, 3, tokens=3, step=1, cached=2), "one token after the other. At each step"),
        (MaskCosts(6, 9, 3, tokens=3, step=1, cached=2), "at most 2 of 3."),
        (MaskCosts(6, 9, 3, tokens=3, step=1, cached=2), "that this step or a later one asks for"),
        (MaskCosts(6, 9, 3, tokens=3, step=2, cached=2), "up to 2 tokens see each other"),
        (MaskCosts(6, 9, 3, tokens=3, step=2, cached=2), "that this step or a later one asks for"),
        (MaskCosts(6, 9, 3, tokens=3, step=3, cached=3), "**Not for generation.**"),
        (MaskCosts(6, 9, 3, tokens=3, step=3, cached=3), "all 3 tokens"),
    ],
)
def test_generating_in_words(costs, words):
    assert words in generating_in_words(costs)


def test_only_between_documents_nothing_is_kept():
    words = "Between documents nothing is kept."
    app = opened()
    assert words not in texts(app)
    app.selectbox("work_gal_mask").select("Documents").run()
    assert f"at most 4 of 13. {words}" in texts(app)
    for_one = opened(3, 3)  # a single document, so there is no generation
    for_one.selectbox("work_gal_mask").select("Documents").run()
    assert "Not for generation" in texts(for_one) and words not in texts(for_one)


@pytest.mark.parametrize(("n_q", "n_k"), [(1, 1), (1, 128), (128, 1), (128, 128)])
def test_at_every_size(n_q, n_k):
    app = opened(n_q, n_k)
    app.radio("work_gal_guess").set_value(RIGHT).run()
    for entry in GALLERY:
        app.selectbox("work_gal_mask").select(entry.name).run()
        assert not app.exception
        assert torch.tensor(app.dataframe[0].value["Visible"].tolist()).le(100).all()
