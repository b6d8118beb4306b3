"""Biases in the workshop: shares of weight against the formula, and −∞ against a finite bias."""

import math
from io import BytesIO

import pyarrow as pa
import pytest
from streamlit.testing.v1 import AppTest

from attention_core import bias_tensor, sample_qkv
from attention_core.dashboard.mask_workshop.bias import KINDS
from attention_core.dashboard.mask_workshop.bias_kinds import T5_TABLE
from attention_core.dashboard.mask_workshop.minus_infinity import forbid_beyond
from attention_core.dashboard.questions import ask
from tests.support.app import texts

CAUSAL = "j <= i"
OF_DISTANCE = ("ALiBi slope", "T5 buckets")


def script(n_q, n_k, rule, dtype):
    from attention_core import mask_tensor, parse_mask_rule
    from attention_core.dashboard.compute_settings import ComputeSettings
    from attention_core.dashboard.mask_workshop.bias import show_bias
    from attention_core.dashboard.mask_workshop.current_mask import CurrentMask
    from attention_core.dashboard.tensors import cached_qkv

    q, k, v = (tensor[0] for tensor in cached_qkv(1, n_q, n_k, 8, 3, dtype, "cpu"))
    mask = mask_tensor(parse_mask_rule(rule), n_q, n_k)
    show_bias(CurrentMask(rule, (), mask, q, k, v, 3), ComputeSettings("cpu", dtype))


def opened(n_q=5, n_k=7, rule=CAUSAL, dtype="float32", **parameters):
    options = {"n_q": n_q, "n_k": n_k, "rule": rule, "dtype": dtype}
    app = AppTest.from_function(script, default_timeout=60, kwargs=options)
    for name, value in ({"guess": "No"} | parameters).items():
        app.query_params[f"work_bias_{name}"] = value
    app.run()
    assert not app.exception
    return app


def alts(app):
    return [chart.proto.alt for chart in app.get("vega_lite_chart")]


def shares(app):
    """Weight beyond the distance, in per cent: without a bias, with it, with −∞; [] without."""
    far = [metric for metric in app.metric if metric.label.startswith("Weight beyond")]
    return [float(metric.value.removesuffix(" %")) for metric in far]


def weights(bias, n_q=5, n_k=7, causal=False):
    """softmax(scores + bias(score, i, j)) cell by cell, in plain Python."""
    q, k, _ = (x[0].tolist() for x in sample_qkv(1, n_q, 8, n_k=n_k, seed=3))
    rows = []
    for i in range(n_q):
        scores = [sum(a * b for a, b in zip(q[i], k[j], strict=True)) / 8**0.5 for j in range(n_k)]
        sees = [j <= i or not causal for j in range(n_k)]
        terms = [math.exp(s + bias(s, i, j)) * sees[j] for j, s in enumerate(scores)]
        rows.append([term / sum(terms) for term in terms])
    return rows


def beyond(rows, distance):
    far = [w for i, row in enumerate(rows) for j, w in enumerate(row) if abs(i - j) > distance]
    return pytest.approx(100 * sum(far) / len(rows), rel=0.01)


def bucket(away):
    """Of 8 up to distance 16: 0, 1, 2 from 2 on, 3 from 6 on; later keys 4 more."""
    return sum(abs(away) >= start for start in (1, 2, 6)) + 4 * (away > 0)


def t5(score, i, j):
    return T5_TABLE[bucket(j - i)]


def data(app, words):
    """What the one picture draws whose alt text has these words."""
    (chart,) = (c for c in app.get("vega_lite_chart") if words in c.proto.alt)
    return pa.ipc.open_stream(BytesIO(chart.proto.datasets[0].data.data)).read_pandas()


BIASES = {
    "ALiBi slope": ({"slope": "0.75"}, lambda score, i, j: -0.75 * abs(i - j)),
    "T5 buckets": ({}, t5),
    "Soft cap": ({"cap": "0.5"}, lambda score, i, j: 0.5 * math.tanh(score / 0.5) - score),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("distance", [0, 3])
@pytest.mark.parametrize("masked", [False, True])
def test_the_shares_are_those_of_the_formula(kind, distance, masked):
    parameters, bias = BIASES[kind]
    app = opened(kind=kind, d=str(distance), masked=str(masked).lower(), **parameters)
    plain, biased = weights(lambda s, i, j: 0.0, causal=masked), weights(bias, causal=masked)
    if kind in OF_DISTANCE:
        without, with_it, forbidden = shares(app)
        assert without == beyond(plain, distance) and with_it == beyond(biased, distance)
        assert forbidden == 0
    largest = [max(map(max, rows)) for rows in (plain, biased)]
    assert f"goes from {largest[0]:.3f} to {largest[1]:.3f}" in texts(app)
    smallest = min(weight for row in biased for weight in row if weight > 0)
    assert f"The smallest weight here is {smallest:.2g}." in texts(app)
    assert "Agrees with `F.scaled_dot_product_attention`" in texts(app)


def test_the_pictures_come_after_the_prediction_only():
    app = opened(guess="")
    assert "make a weight 0?" in app.radio("work_bias_guess").label
    shown = (app.get("vega_lite_chart"), app.metric, app.slider, app.toggle, app.dataframe)
    assert not any(shown) and "**Right.**" not in texts(app) and "exponential" not in texts(app)
    app.radio("work_bias_guess").set_value("Yes").run()
    assert "**Not quite.** A finite bias multiplies" in texts(app)
    app.radio("work_bias_guess").set_value("No").run()
    assert "**Right.** A finite bias multiplies" in texts(app) and len(alts(app)) == 4


def test_a_link_that_hides_solutions_hides_the_pictures(monkeypatch):
    monkeypatch.setattr(ask, "hides_solutions", lambda: True)
    app = opened()
    assert not alts(app) and not app.metric and "exponential" not in texts(app)
    assert "hides the solution" in app.info[0].value


def test_a_cap_is_not_told_in_distances():
    app, slope = opened(kind="Soft cap"), opened()
    for words in ("far away", "out there", "can still win"):
        assert words not in texts(app) and words in texts(slope)
    assert "depends on the score and not on the distance" in texts(app)
    assert [slider.key for slider in app.slider] == ["work_bias_cap"]
    assert [slider.key for slider in slope.slider] == ["work_bias_d", "work_bias_slope"]
    assert not shares(app) and len(shares(slope)) == 3


def test_minus_infinity_stands_beyond_the_distance_and_nowhere_else():
    inf = math.inf
    assert bias_tensor(forbid_beyond(1), 2, 5).tolist() == [
        [0, 0, -inf, -inf, -inf],
        [0, 0, 0, -inf, -inf],
    ]


def test_a_slope_moves_weight_nearer_and_0_changes_nothing():
    assert shares(opened(slope="0"))[:2] == [shares(opened(slope="0"))[0]] * 2
    found = [shares(opened(slope=slope))[1] for slope in ("0", "0.25", "1", "2")]
    assert found == sorted(found, reverse=True) and found[-1] > 0


def test_the_heads_are_shown_with_their_slopes():
    app = opened(d="2")
    first = weights(lambda s, i, j: -abs(i - j) / 2)
    (bars,) = [alt for alt in alts(app) if "8 heads" in alt]
    share = float(bars.split("from ")[1].split(" at")[0])
    assert 100 * share == beyond(first, 2)
    assert "1/2, 1/4 and so on to 1/256" in texts(app)
    assert "fixed, not learned" in texts(app) and "later keys here are our addition" in texts(app)
    drawn = data(app, "8 heads")
    assert drawn["number"].tolist() == [f"{value:.3f}" for value in drawn["value"]]


def test_the_buckets_are_named():
    app = opened(kind="T5 buckets")
    assert "0: 1, 1: 0.5, 2: −0.5, 3: −1.5, 4: 0, 5: −1, 6: −2, 7: −3" in texts(app)
    assert "T5 itself does not divide by √d_k." in texts(app)
    drawn = data(app, "bucket")
    assert drawn["at"].tolist() == list(range(-20, 21))
    assert drawn["value"].tolist() == [bucket(away) for away in range(-20, 21)]
    (alt,) = (alt for alt in alts(app) if "bucket" in alt)
    assert "earlier key falls into bucket 1 at the distance 1 and 3 at 20" in alt
    assert "later key into bucket 5 at 1 and 7 at 20." in alt


def test_the_cap_tells_the_largest_score_before_and_after():
    app = opened(kind="Soft cap", cap="0.5")
    q, k, _ = (x[0] for x in sample_qkv(1, 5, 8, n_k=7, seed=3))
    largest = float((q @ k.T).abs().max()) / math.sqrt(8)
    assert f"|score| here is {largest:.2f}" in texts(app)
    assert f"it is {0.5 * math.tanh(largest / 0.5):.2f}" in texts(app)
    assert any(f"a score of 6 becomes {0.5 * math.tanh(12):.2f}" in alt for alt in alts(app))


def test_weights_that_the_dtype_rounds_to_0_are_told_from_hidden_ones():
    far = opened(1, 128, slope="2")  # exp(-254) is less than float32 holds
    assert "so small that float32 rounds to 0, which the formula does not" in texts(far)
    assert "so small" not in texts(opened(1, 128, dtype="float64", slope="2"))
    hidden = opened(masked="true")  # weights behind the mask are no small weights
    assert "so small" not in texts(hidden)
    rows = weights(BIASES["ALiBi slope"][1], causal=True)
    assert "The smallest weight here is 0." in texts(hidden) and rows[0][1] == 0
    assert "The smallest weight here is 0. " not in texts(hidden)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("dtype", "n_q", "n_k"),
    [
        ("float64", 13, 7),
        ("bfloat16", 1, 128),
        ("float16", 128, 1),
        ("float32", 1, 1),
        ("float16", 128, 128),
    ],
)
def test_every_kind_dtype_and_size_agrees_with_pytorch(kind, dtype, n_q, n_k):
    app = opened(n_q, n_k, dtype=dtype, kind=kind)
    assert "Agrees with" in texts(app) and all(alts(app))
    assert shares(app)[2:] == [0] * (kind in OF_DISTANCE)


@pytest.mark.parametrize("kind", KINDS)
def test_a_mask_that_hides_all_is_kept_without_harm(kind):
    app = opened(rule="j < 0", masked="true", kind=kind)
    assert shares(app) == [0, 0, 0] * (kind in OF_DISTANCE) and "Agrees with" in texts(app)


@pytest.mark.parametrize("junk", ["1e9", "abc", "inf", "nan", "-3", ""])
def test_any_address_opens_the_part(junk):
    opened(kind=junk, d=junk, slope=junk, masked=junk)
    opened(kind="Soft cap", cap=junk)
