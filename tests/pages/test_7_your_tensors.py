"""The page "Your tensors": samples, uploads, broken files, masks, names, and what is forgotten."""

import gc
import io
import re
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
import torch
import torch.nn.functional as F
from pyarrow import ipc
from safetensors.torch import save
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.testing.v1 import AppTest

from attention_core.dashboard.your_tensors import all_heads, computing
from attention_core.mask_rules import rule_matrix

ROOT = Path(__file__).parents[2]
PAGE = "pages/7_your_tensors.py"
OWN = {"own_from": "My own file"}
B, H, N_Q, N_K, D = 2, 3, 5, 7, 11
GENERATOR = torch.Generator().manual_seed(0)
Q, K, V = (torch.randn(B, H, n, D, generator=GENERATOR) for n in (N_Q, N_K, N_K))
QKV = save({"q": Q, "k": K, "v": V})


def open_page(**parameters: str | list[str]) -> AppTest:
    at = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=60).run()
    at.switch_page(PAGE)
    for name, value in parameters.items():
        at.query_params[name] = value
    return checked(at.run())


def checked(at: AppTest) -> AppTest:
    assert not at.exception
    assert all(chart.proto.alt for chart in at.get("vega_lite_chart"))
    return at


def upload(at: AppTest, data: bytes, name: str = "mine.npz") -> AppTest:
    return checked(at.file_uploader[0].set_value((name, data, "")).run())


def metric(at: AppTest, label: str) -> str:
    (found,) = (m.value for m in at.metric if m.label == label)
    return str(found)


def texts(at: AppTest) -> list[str]:
    return [line.value for line in at.text]


def alts(at: AppTest) -> list[str]:
    return [chart.proto.alt for chart in at.get("vega_lite_chart")]


def said(at: AppTest, words: str) -> list[str]:
    return [m.value for m in at.markdown if words in m.value]


def npz(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def weights(b: int, h: int, mask: torch.Tensor | None = None) -> torch.Tensor:
    """By PyTorch: with these values the output is the weights."""
    q, k, eye = Q[b, h].double(), K[b, h].double(), torch.eye(N_K, dtype=torch.float64)
    return F.scaled_dot_product_attention(q, k, eye, attn_mask=mask)


def test_without_a_file_the_samples_are_there() -> None:
    at = open_page(own_h="2")
    assert not at.file_uploader
    assert said(at, "1 batch element with 4 heads, of 11 queries (rows) and 11 keys (columns)")
    assert float(metric(at, "Weight of query 4 on key 3")) > 0.95
    assert said(at, "Agrees with")
    at.selectbox(key="own_sample").set_value("An attention sink")
    checked(at.run())
    assert said(at, "2 batch elements with 3 heads, of 13 queries")
    assert said(at, "All rows sum to 1 or to 0")
    assert not said(at, "Agrees with") and not at.text_input(key="own_names").value
    at.selectbox(key="own_sample").set_value("Cross-attention")
    checked(at.run())
    assert said(at, "1 batch element with 2 heads, of 7 queries (rows) and 11 keys (columns)")
    assert metric(at, "output.shape") == "(7, 5)"


def test_the_numbers_of_an_uploaded_head() -> None:
    at = upload(open_page(**OWN, own_i="2", own_j="6"), QKV, "mine.safetensors")
    assert "Shown below: mine.safetensors" in texts(at)
    for b, h in ((0, 0), (1, 2)):
        at.selectbox(key="own_b").set_value(b)
        checked(at.selectbox(key="own_h").set_value(h).run())
        right = weights(b, h)
        found = float(metric(at, "Weight of query 2 on key 6"))
        assert found == pytest.approx(float(right[2, 6]), rel=1e-5)
        score = float(Q[b, h, 2].double() @ K[b, h, 6].double()) / D**0.5
        assert float(metric(at, "Score")) == pytest.approx(score, rel=1e-4)
        larger = int((right[2] > right[2, 6]).sum())
        assert metric(at, "Keys with a larger weight") == f"{larger} of 7"
        spread = -(right * right.log()).sum(-1).mean()
        assert any(f"head {h} has {spread:.3g}." in text for text in alts(at))
        assert metric(at, "output.shape") == "(5, 11)"
        assert said(at, "Agrees with")


def test_a_rule_masks_and_a_bad_one_is_refused() -> None:
    at = upload(open_page(**OWN, own_i="2", own_j="3"), QKV)
    checked(at.text_input(key="own_rule").set_value("j <= i").run())
    assert metric(at, "Weight of query 2 on key 3") == "0"
    assert metric(at, "Score").endswith("(hidden)")
    assert said(at, "Agrees with")
    checked(at.selectbox(key="own_j").set_value(1).run())
    right = weights(0, 0, torch.ones(N_Q, N_K).tril().bool())[2, 1]
    assert float(metric(at, "Weight of query 2 on key 1")) == pytest.approx(float(right), rel=1e-5)
    for rule in ("j <=", "import os", "i // 0 == 1", "<b>$x$"):
        checked(at.text_input(key="own_rule").set_value(rule).run())
        assert said(at, "This rule cannot be used yet") and said(at, "Until then no rule is used")
        marks = [code.value.splitlines()[-1] for code in at.code if code.value.startswith(rule)]
        assert [mark.strip().strip("^") for mark in marks] == [""]  # the part that is refused
        assert float(metric(at, "Weight of query 2 on key 1")) < float(right)  # no mask then
    checked(at.text_input(key="own_rule").set_value("i < 0").run())  # nobody sees anything
    assert metric(at, "Weight of query 2 on key 1") == "0"
    assert said(at, "Agrees with")


def test_finished_weights_take_no_mask_and_show_their_sums() -> None:
    finished = torch.stack([weights(0, h) for h in range(H)])[None].numpy()
    at = upload(open_page(**OWN, own_rule="j <= i", own_i="2", own_j="6"), npz(weights=finished))
    assert any("no mask can be put on them" in line.value for line in at.caption)
    assert not [line for line in at.text_input if line.key == "own_rule"]
    assert float(metric(at, "Weight of query 2 on key 6")) == pytest.approx(finished[0, 0, 2, 6])
    assert metric(at, "Rows that sum to about 1") == "15 of 15"
    assert not at.warning

    finished[0, 1, 3] *= 0.5
    upload(at, npz(weights=finished))
    assert "query 3 in head 1 of batch element 0 sums to 0.5." in at.warning[0].value
    upload(at, npz(weights=weights(0, 0).mT.contiguous().numpy()))
    assert "transposed" in at.warning[0].value


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "The file is empty"),
        (b"text", "whatever its name says"),
        (QKV[:-1], "damaged or was cut off"),
        (npz(x=np.ones((2, 2))), "it holds 'x'"),
        (npz(weights=np.ones((2, 2, 2, 2, 2))), "2 to 4 dimensions"),
        (npz(weights=np.ones((1, 2049)) / 2049), "the limit here is 2,048"),
        (npz(**{"<b>:red[x]": np.ones((2, 2))}), "<b>:red[x]"),
    ],
    ids=lambda value: value if isinstance(value, str) else len(value),
)
def test_a_broken_file_loses_nothing(data: bytes, says: str) -> None:
    at = open_page(**OWN)
    sample = metric(at, "Weight of query 4 on key 3")
    upload(at, data, "<b>broken</b>.npz")
    assert any(says in text for text in texts(at))
    assert metric(at, "Weight of query 4 on key 3") == sample
    assert any("you see the sample" in line.value for line in at.caption)

    upload(at, QKV, "whole.safetensors")
    own = metric(at, "Weight of query 4 on key 3")
    assert own != sample and not any(says in text for text in texts(at))
    upload(at, data, "<b>broken</b>.npz")
    assert any(says in text for text in texts(at))
    assert "Shown below: whole.safetensors" in texts(at)
    assert metric(at, "Weight of query 4 on key 3") == own
    assert not said(at, "<b>")


def test_names_and_file_names_are_data() -> None:
    hostile = "<img src=x onerror=alert(1)> $5 :red[x] a a"
    at = upload(open_page(**OWN, own_names=hostile), QKV, "$x$ **b** <i>.safetensors")
    assert "Shown below: $x$ **b** <i>.safetensors" in texts(at)
    shown = [*said(at, "<img"), *said(at, ":red[x]"), *said(at, "<i>"), *said(at, "**b**")]
    assert shown == []
    assert at.selectbox(key="own_i").options[0] == "0 · <img"
    assert any("There are 5 positions: only the first 5 of 7" in c.value for c in at.caption)
    checked(at.text_input(key="own_key_names").set_value("a, a").run())
    assert at.selectbox(key="own_j").options[:3] == ["0 · a", "1 · a", "2"]
    assert any("2 of 7 positions are named" in line.value for line in at.caption)


def test_zoom_shows_a_part_and_counts_on() -> None:
    at = upload(open_page(**OWN), QKV)
    at.slider(key="own_rows_5").set_value((1, 3))
    checked(at.slider(key="own_columns_7").set_value((4, 6)).run())
    right = weights(0, 0)[1:4, 4:7]
    row, column = divmod(int(right.argmax()), 3)
    (text,) = (text for text in alts(at) if text.startswith("Weights of head 0"))
    assert "queries 1 to 3, keys 4 to 6" in text
    assert f"{right.max():.3g}, is of query {1 + row} on key {4 + column}." in text
    at = open_page(own_rows_11=["3", "4"], own_columns_11=["9", "2"])  # the second makes no sense
    assert any("queries 3 to 4, keys 0 to 10" in text for text in alts(at))


def test_the_largest_head_is_shown_within_the_size_of_a_message() -> None:
    n = 2048
    q = torch.randn(1, n, 3, generator=torch.Generator().manual_seed(1))
    at = upload(open_page(**OWN), save({"q": q, "k": q.clone(), "v": q.clone()}))
    assert any("One dot is the largest of 4 × 4 weights" in line.value for line in at.caption)
    assert said(at, "Agrees with")
    sent = sum(
        len(chart.proto.spec) + sum(len(data.data.data) for data in chart.proto.datasets)
        for chart in at.get("vega_lite_chart")
    )
    assert sent < 1_000_000
    checked(at.slider(key="own_rows_2048").set_value((2000, 2047)).run())
    assert any("largest of 1 × 4 weights" in line.value for line in at.caption)


def test_half_precision_that_overflows_is_reported() -> None:
    big = torch.full((1, 5, 7), 200.0, dtype=torch.float64)
    at = upload(open_page(**OWN), save({"q": big, "k": big.clone(), "v": big.clone()}))
    assert not at.warning
    checked(at.selectbox(key="dtype").set_value("float16").run())
    assert "Overflow: `dots`" in at.warning[0].value
    huge = save({name: big * 1e300 for name in "qkv"})
    upload(at, huge)
    assert any("too large for float16" in text for text in texts(at))


def test_numbers_beyond_the_range_are_not_held_against_a_tolerance() -> None:
    big = torch.full((1, 5, 7), 3e38)
    big[:, ::2] *= -1
    at = upload(open_page(**OWN), save({name: big.clone() for name in "qkv"}))
    assert "Overflow: `dots`" in at.warning[0].value
    assert said(at, "Cannot be compared")
    assert not said(at, "rounding would explain") and not said(at, "Agrees with")


def test_a_rule_is_evaluated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, int]] = []

    def noted(rule: str, n_q: int, *rest: Any) -> torch.Tensor:
        asked.append((rule, n_q))
        return rule_matrix(rule, n_q, *rest)

    monkeypatch.setattr(computing, "rule_matrix", noted)
    at = upload(open_page(**OWN, own_i="2", own_j="3", own_rule="j <= i"), QKV)
    checked(at.selectbox(key="own_h").set_value(2).run())
    assert metric(at, "Weight of query 2 on key 3") == "0"
    assert asked == [("j <= i", 11), ("j <= i", N_Q)]  # of the sample, of the file
    for rule in ("j < i", "i // 0 == 1"):
        checked(at.text_input(key="own_rule").set_value(rule).run())
        checked(at.selectbox(key="own_h").set_value(1).run())
        checked(at.selectbox(key="own_h").set_value(0).run())
    assert said(at, "Until then no rule is used")
    assert asked[2:] == [("j < i", N_Q), ("i // 0 == 1", N_Q)]


def held_tensors(at: AppTest) -> list[weakref.ref]:
    shown = at.session_state["own_held"]
    overview = at.session_state["own_overview"][1]
    return [weakref.ref(tensor) for tensor in (shown.tensors.q, overview.thumbnails)]


def test_a_forgotten_file_is_gone() -> None:
    at = upload(open_page(**OWN), QKV)
    held = held_tensors(at)
    checked(at.button(key="own_forget").click().run())
    gc.collect()
    assert [ref() for ref in held] == [None, None]
    assert any("you see the sample" in line.value for line in at.caption)
    assert not any("Shown below" in text for text in texts(at))


def test_a_forgotten_file_cannot_be_taken_away_any_more() -> None:
    finished = torch.stack([weights(0, h) for h in range(H)])[None].numpy()
    at = upload(open_page(**OWN), npz(weights=finished), "secret.npz")
    export = at.session_state["take_away"]["latest"]
    assert b"secret.npz" in export.notebook() and "query 0" in export.csv("Weights in view")
    kept = [export, *export.weights.values(), *export.sections.values()]
    held = [weakref.ref(part) for part in (at.session_state["own_held"].tensors, *kept)]
    del export, kept
    checked(at.button(key="own_forget").click().run())
    gc.collect()
    assert [ref() for ref in held] == [None] * 5
    export = at.session_state["take_away"]["latest"]
    assert b"secret.npz" not in export.notebook()
    assert list(export.weights) == ["Weights in view"]
    assert export.weights["Weights in view"].values.shape == (11, 11)  # of the sample


def test_the_file_itself_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    removed: list[str] = []
    remove = MemoryUploadedFileManager.remove_file

    def noted(manager: MemoryUploadedFileManager, session_id: str, file_id: str) -> None:
        removed.append(file_id)
        remove(manager, session_id, file_id)

    monkeypatch.setattr(MemoryUploadedFileManager, "remove_file", noted)
    at = open_page(**OWN)
    for number, data in enumerate((QKV, b"broken", QKV), start=1):
        upload(at, data)
        assert len(removed) == number
        assert at.file_uploader[0].value is None


def test_memory_returns_with_the_session() -> None:
    at = upload(open_page(**OWN), QKV)
    held = held_tensors(at)
    assert all(ref() is not None for ref in held)
    del at
    gc.collect()
    assert [ref() for ref in held] == [None, None]


def test_nobody_else_sees_an_upload() -> None:
    one, other = open_page(**OWN), open_page(**OWN)
    upload(one, QKV, "same name.safetensors")
    checked(other.run())
    assert any("you see the sample" in line.value for line in other.caption)
    upload(other, save({"q": Q.flip(1), "k": K, "v": V}), "same name.safetensors")
    label = "Weight of query 4 on key 3"
    checked(one.run())
    assert float(metric(one, label)) == pytest.approx(float(weights(0, 0)[4, 3]), rel=1e-5)
    assert metric(other, label) != metric(one, label)
    assert "own_held" not in open_page(**OWN).session_state


def test_a_file_survives_a_change_of_the_page_and_of_the_source() -> None:
    at = upload(open_page(**OWN), QKV)
    own = metric(at, "Weight of query 4 on key 3")
    at.switch_page("pages/2_retrieval.py").run()
    at.switch_page(PAGE).run()
    checked(at.get_by_key("own_from").set_value("My own file").run())
    assert metric(at, "Weight of query 4 on key 3") == own
    checked(at.get_by_key("own_from").set_value("A sample").run())
    assert metric(at, "Weight of query 4 on key 3") != own


@pytest.mark.parametrize("value", ["1e9", "abc", "inf", "-3", "", "9" * 5000])
def test_any_address_opens_an_uploaded_file(value: str) -> None:
    keys = (
        "own_b",
        "own_h",
        "own_i",
        "own_j",
        "own_rows_5",
        "own_columns_7",
        "own_names",
        "own_rule",
    )
    upload(open_page(**OWN, **dict.fromkeys(keys, value)), QKV)


def test_solutions_can_be_hidden() -> None:
    def answers(at: AppTest) -> list[str]:
        return [fold.label for fold in at.expander if fold.label == "The answer"]

    assert answers(open_page()) and said(open_page(), "Query 0 has no token before it")
    at = open_page(hide="solutions")
    assert not answers(at) and not said(at, "Query 0 has no token before it")
    assert said(at, "*Predict first:*")


def test_whether_there_is_a_mask_and_what_grey_means() -> None:
    def grey(at: AppTest) -> list[str]:
        return [line.value for line in at.caption if line.value.endswith("is exactly 0.")]

    at = upload(open_page(**OWN), QKV)
    assert said(at, "7 keys (columns). It holds no mask. Which") and not grey(at)
    mask = torch.ones(N_Q, N_K).tril().bool()
    upload(at, save({"q": Q, "k": K, "v": V, "mask": mask}))
    assert said(at, "It also holds a mask.") and "with ✕" in grey(at)[0]
    checked(at.slider(key="own_columns_7").set_value((0, 0)).run())
    assert not grey(at)  # everybody may attend to key 0

    at = open_page(own_rule="j <= i")
    assert "Hatched" in grey(at)[0]  # 11 by 11
    at = upload(open_page(**OWN), npz(weights=weights(0, 0).numpy()))
    assert not said(at, "It holds") and not said(at, "also holds") and not grey(at)
    assert not said(at, "look alike")  # there is one head


def test_the_page_offers_a_click_only_where_it_works() -> None:
    at = open_page()
    assert said(at, "name the tokens, and choose a cell") and not said(at, "click a cell")
    checked(at.slider(key="own_rows_11").set_value((0, 8)).run())
    assert said(at, "name the tokens, and click a cell or choose one")


def test_a_click_on_a_small_picture_moves_the_selectors(monkeypatch: pytest.MonkeyPatch) -> None:
    at = upload(open_page(**OWN), QKV)
    (chart,) = (c for c in at.get("vega_lite_chart") if c.proto.alt.startswith("The weights of 6"))
    assert chart.proto.selection_mode == ["head"]
    clicked: dict[str, Any] = {"own_all": {"selection": {"head": [{"element": 1, "head": 2}]}}}
    monkeypatch.setattr(st, "session_state", clicked)
    all_heads._choose_clicked()
    assert (clicked["own_b"], clicked["own_h"]) == (1, 2)


def test_bars_have_three_decimals() -> None:
    at = upload(open_page(**OWN), QKV)
    numbers = [
        value
        for chart in at.get("vega_lite_chart")
        for data in chart.proto.datasets
        for frame in [ipc.open_stream(data.data.data).read_pandas()]
        if "says" in frame and "label" in frame
        for value in frame["number"]
    ]
    assert len(numbers) == H + N_K
    assert all(re.fullmatch(r"\d\.\d{3}|\d\.\d\de-\d\d", number) for number in numbers)
