"""Top-left and bottom-right in the workshop: which of them gives the rows of the whole sequence."""

import pytest
import torch
import torch.nn.functional as F
from streamlit.testing.v1 import AppTest

from attention_core import sample_qkv
from attention_core.dashboard.mask_workshop.alignment_question import ANSWERS
from attention_core.dashboard.questions import ask
from tests.support.app import texts

WHOLE = "max abs diff to the whole"


def script(dtype):
    import torch

    from attention_core.dashboard.compute_settings import ComputeSettings
    from attention_core.dashboard.mask_workshop.alignment import show_alignment
    from attention_core.dashboard.mask_workshop.current_mask import CurrentMask
    from attention_core.dashboard.tensors import cached_qkv

    q, k, v = (tensor[0] for tensor in cached_qkv(1, 8, 8, 8, 3, dtype, "cpu"))
    current = CurrentMask("j <= i", (), torch.ones(8, 8).tril().bool(), q, k, v, 3)
    show_alignment(current, ComputeSettings("cpu", dtype))


def opened(n_q=3, n_k=5, dtype="float32", guess="3"):
    app = AppTest.from_function(script, default_timeout=60, kwargs={"dtype": dtype})
    app.query_params["work_align_guess"] = guess
    app.query_params["work_align_nq"], app.query_params["work_align_nk"] = str(n_q), str(n_k)
    app.run()
    assert not app.exception
    return app


def metrics(app):
    return {metric.label: float(metric.value) for metric in app.metric}


def alts(app):
    return [chart.proto.alt for chart in app.get("vega_lite_chart")]


def differences(n_q, n_k):
    """Largest differences of both outputs to the rows of the whole, by PyTorch alone."""
    q, k, v = (x[0] for x in sample_qkv(1, n_k, 8, seed=3))
    whole = F.scaled_dot_product_attention(q, k, v, is_causal=True)[-n_q:]
    masks = [torch.ones(n_q, n_k).tril(shift).bool() for shift in (0, n_k - n_q)]
    found = [F.scaled_dot_product_attention(q[-n_q:], k, v, attn_mask=mask) for mask in masks]
    return [float((output - whole).abs().max()) for output in found]


def nothing_is_shown(app):
    shown = (app.get("vega_lite_chart"), app.metric, app.slider, app.dataframe)
    return not any(shown) and " sees " not in texts(app) and "cache" not in texts(app)


def test_the_pictures_come_after_the_prediction_only():
    app = opened(guess="")
    assert nothing_is_shown(app) and "two, and both are in use" in texts(app)
    assert nothing_is_shown(opened(guess="4"))  # no answer of ours
    app.radio("work_align_guess").set_value("5").run()
    assert not nothing_is_shown(app) and len(alts(app)) == 3


def test_a_link_that_hides_solutions_hides_the_pictures(monkeypatch):
    monkeypatch.setattr(ask, "hides_solutions", lambda: True)
    app = opened()
    assert nothing_is_shown(app) and "hides the solution" in app.info[0].value


@pytest.mark.parametrize("guess", ANSWERS)
def test_every_prediction_is_answered(guess):
    wide = torch.ones(3, 5).bool()
    sees, top_left = int(wide.tril(2)[0].sum()), int(wide.tril()[0].sum())
    app = opened(guess=guess)
    (verdict,) = (text for text in texts(app).split("\n") if "stands at the last key" in text)
    assert verdict.startswith("**Right.** The" if guess == str(sees) else "**Not quite.** So many")
    assert f"sees **{sees}** keys: 0 to 2." in verdict and f"sees **{top_left}**." in verdict


def test_three_queries_and_five_keys():
    app = opened()
    top_left, bottom_right = differences(3, 5)
    found = metrics(app)
    assert found[f"Top-left: {WHOLE}"] == pytest.approx(top_left, rel=0.01) and top_left > 0.1
    assert found[f"Bottom-right: {WHOLE}"] <= 1e-6 and bottom_right <= 1e-6
    assert found["Bottom-right to one token at a time"] <= 1e-6
    assert "Query 0 sees **1 of 5** keys top-left and **3 of 5** bottom-right" in texts(app)
    assert "The last query, query 2, sees **3 of 5** and **5 of 5**." in texts(app)
    assert "e" not in app.metric[0].value  # 1.81, not 1.81e+00
    assert "has read 2 of 5 tokens" in texts(app) and "tokens 2 to 4 arrive" in texts(app)
    assert ":red[:material/error:] Top-left does **not** give these rows" in texts(app)
    assert ":green[:material/check_circle:] Bottom-right gives these rows" in texts(app)
    assert [alt.split("sees: ")[-1] for alt in alts(app)[:2]] == ["1, 2, 3.", "3, 4, 5."]
    assert "the last 3 rows" in alts(app)[2]


def test_one_query_is_the_usual_step_of_writing():
    app = opened(1, 7)
    assert "Query 0 sees **1 of 7** keys top-left and **7 of 7** bottom-right." in texts(app)
    assert not any("The last query" in words.value for words in app.markdown)
    assert "token 6 arrives: 1 new query, 7 keys" in texts(app)
    assert "only the very first key" in texts(app)
    assert metrics(app)[f"Top-left: {WHOLE}"] == pytest.approx(differences(1, 7)[0], rel=0.01)


@pytest.mark.parametrize("n", [1, 7, 12])
def test_as_many_queries_as_keys_are_one_mask(n):
    app = opened(n, n)
    assert "the two are the same mask" in texts(app)
    assert "**not**" not in texts(app) and "very first key" not in texts(app)
    assert [metric.value for metric in app.metric[:2]] == ["0", "0"]


def test_more_queries_than_keys_make_dead_rows_bottom_right():
    app = opened(7, 3)
    assert "first 4 queries come before every key" in texts(app)
    assert "**Queries 0, 1, 2 and 3** may attend to nothing" in texts(app)
    assert "Query 0 sees **1 of 3** keys top-left and **0 of 3** bottom-right" in texts(app)
    assert "The last query, query 6, sees **3 of 3** and **3 of 3**." in texts(app)
    assert "key of token 4, from its own future" in texts(app)
    assert [alt.split("sees: ")[-1] for alt in alts(app)] == [
        "1, 2, 3, 3, 3, 3, 3.",
        "0, 0, 0, 0, 1, 2, 3.",
    ]
    assert not app.metric


@pytest.mark.parametrize(
    ("dtype", "n_q", "n_k"),
    [("float64", 1, 12), ("float32", 12, 1), ("bfloat16", 2, 3), ("float16", 11, 12)],
)
def test_every_dtype_and_the_ends_of_the_sliders(dtype, n_q, n_k):
    app = opened(n_q, n_k, dtype)
    assert ("Bottom-right gives these rows" in texts(app)) == (n_q <= n_k)
    assert all(alts(app))


@pytest.mark.parametrize("junk", ["0", "13", "1e9", "abc", "inf", "-3", ""])
def test_any_address_opens_with_legal_sizes(junk):
    app = opened(junk, junk)
    sliders = [app.slider("work_align_nq").value, app.slider("work_align_nk").value]
    assert all(1 <= value <= 12 for value in sliders)
