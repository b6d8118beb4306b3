"""The QKV page: the lesson's numbers, and the story of one weight, against PyTorch."""

import inspect
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pytest
import torch
import torch.nn.functional as F
from streamlit.testing.v1 import AppTest

from attention_core import attention, attention_steps

ROOT = Path(__file__).parents[2]


@pytest.fixture
def at() -> AppTest:
    app = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=60).run()
    app.switch_page("pages/1_qkv_formula.py")
    return app


def run(at: AppTest) -> AppTest:
    at.run()
    assert not at.exception
    return at


def charts(at: AppTest) -> dict[str, dict]:
    """By title: the alternative text and the data of each chart."""
    found = {}
    for chart in at.get("vega_lite_chart"):
        [dataset] = chart.proto.datasets
        data = pa.ipc.open_stream(BytesIO(dataset.data.data)).read_pandas()
        title = chart.proto.spec.split('"title": "')[-1].split('"')[0]
        found[title] = {"alt": chart.proto.alt, "data": data}
    return found


def lesson(n=5, d=8, seed=0):
    generator = torch.Generator().manual_seed(seed)
    q, k, v = (torch.randn(2, n, d, generator=generator) for _ in range(3))
    return q, k, v, F.scaled_dot_product_attention(q, k, v)


def matrix(data) -> torch.Tensor:
    return torch.tensor(data.pivot(index="i", columns="j", values="value").to_numpy())


def test_the_lessons_numbers(at):
    run(at)
    shape, row_sums, difference = (metric.value for metric in at.metric)
    assert shape == "(2, 5, 8)"
    assert float(row_sums) < 1e-6
    assert 0 < float(difference) < 1e-6  # 2.38e-07 where the lesson was written
    assert any("Agrees with" in text.value for text in at.markdown)


def test_the_six_pictures_are_the_lessons_tensors(at):
    found = charts(run(at))
    q, k, v, output = lesson()
    scores = torch.einsum("id,jd->ij", q[0], k[0]) / 8**0.5
    weights = scores.exp() / scores.exp().sum(1, keepdim=True)
    expected = {
        "Q": q[0],
        "K": k[0],
        "Scores = QK\\u1d40 / \\u221ad_k": scores,
        "Weights = softmax of each row": weights,
        "V": v[0],
        "Output = weights \\u00b7 V": output[0],
    }
    assert set(found) == set(expected)
    for title, values in expected.items():
        torch.testing.assert_close(matrix(found[title]["data"]).float(), values, msg=title)


def test_sizes_seed_and_batch_element(at):
    run(at)
    at.slider(key="qkv_n").set_value(3)
    at.slider(key="qkv_d").set_value(2)
    at.slider(key="qkv_seed").set_value(7)
    at.selectbox(key="qkv_b").set_value(1)
    found = charts(run(at))
    q, k, v, output = lesson(3, 2, 7)
    weights = (q[1] @ k[1].T / 2**0.5).softmax(-1)
    for title, values in {
        "Q": q[1],
        "K": k[1],
        "V": v[1],
        "Scores = QK\\u1d40 / \\u221ad_k": q[1] @ k[1].T / 2**0.5,
        "Weights = softmax of each row": weights,
    }.items():
        torch.testing.assert_close(matrix(found[title]["data"]).float(), values, msg=title)
    torch.testing.assert_close(
        matrix(found["Output = weights \\u00b7 V"]["data"]).float(), output[1]
    )
    assert at.metric[0].value == "(2, 3, 2)"


def test_another_number_of_keys(at):
    run(at)
    at.toggle(key="qkv_cross").set_value(True).run()
    at.slider(key="qkv_nk").set_value(3)
    found = charts(run(at))
    assert matrix(found["Weights = softmax of each row"]["data"]).shape == (5, 3)
    assert at.metric[0].value == "(2, 5, 8)"


def test_the_story_of_one_weight(at):
    run(at)
    at.toggle(key="qkv_story").set_value(True)
    at.selectbox(key="qkv_i").set_value(2)
    at.selectbox(key="qkv_j").set_value(4)
    run(at)
    q, k, v, output = lesson()
    dot = float(q[0, 2] @ k[0, 4])
    row = (k[0] @ q[0, 2] / 8**0.5).softmax(0)
    formulas = [formula.value for formula in at.latex]
    assert any(rf"q_{{2}} \cdot k_{{4}} \approx {dot:.4g}" in formula for formula in formulas)
    assert any(f"{dot / 8**0.5:.4g}" in formula for formula in formulas)
    assert any(f"{float(row[4]):.4g}" in formula for formula in formulas)
    found = charts(at)
    products = matrix(found["Query 2, key 4 and their products"]["data"]).float()
    torch.testing.assert_close(products[2], q[0, 2] * k[0, 4])
    shares = matrix(found["Exponentials and weights of query 2"]["data"]).float()
    torch.testing.assert_close(shares[1], row)
    mixed = matrix(found["What key 4 contributes to output 2"]["data"]).float()
    torch.testing.assert_close(mixed[0], row[4] * v[0, 4])
    torch.testing.assert_close(mixed[1], output[0, 2])


@pytest.mark.parametrize("n", [1, 128])
@pytest.mark.parametrize("d", [1, 128])
def test_ends_of_the_sliders(at, n, d):
    at.query_params["qkv_n"] = str(n)
    at.query_params["qkv_d"] = str(d)
    at.query_params["qkv_story"] = "true"
    at.query_params["qkv_i"] = str(n - 1)
    run(at)
    assert at.metric[0].value == f"(2, {n}, {d})"
    assert any("Agrees with" in text.value for text in at.markdown)


def test_prediction_comes_before_the_symmetry_is_shown(at):
    run(at)
    assert not any("K = Q" in title for title in charts(at))
    at.segmented_control(key="qkv_symmetry").set_value("Both")
    found = charts(run(at))
    q, _, _, _ = lesson()
    scores = q[0] @ q[0].T / 8**0.5
    torch.testing.assert_close(matrix(found["Scores, K = Q"]["data"]).float(), scores)
    weights = scores.softmax(-1)
    assert float(at.metric[-1].value) == pytest.approx(
        float((weights - weights.T).abs().max()), 1e-1
    )
    assert "Not quite" in at.warning[0].value


@pytest.mark.parametrize("dtype", ["float64", "bfloat16", "float16"])
def test_every_dtype_agrees_within_its_own_tolerance(at, dtype):
    run(at)
    at.selectbox(key="dtype").set_value(dtype)
    run(at)
    assert any("Agrees with" in text.value and dtype in text.value for text in at.markdown)


def test_the_source_is_what_ran(at):
    run(at)
    assert not at.code
    at.session_state["qkv_source"] = True
    run(at)
    assert [block.value for block in at.code] == [
        inspect.getsource(attention_steps).strip(),
        inspect.getsource(attention).strip(),
    ]
