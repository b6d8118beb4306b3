"""The frame: menu, device and dtype, the visible fall-back, and errors as a message."""

from pathlib import Path

import pytest
import torch
from streamlit.testing.v1 import AppTest

from attention_core.dashboard import lesson

ROOT = Path(__file__).parents[3]


@pytest.fixture
def at() -> AppTest:
    return AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=60)


def test_the_menu_has_every_page_in_its_group(at):
    at.run()
    links = [link.proto.label for link in at.sidebar.get("page_link")]
    assert links == [page.title for page in lesson.PAGES]
    captions = [caption.value for caption in at.sidebar.caption]
    assert [caption for caption in captions if caption in ("Start", "The lesson")] == [
        "Start",
        "The lesson",
    ]


def test_a_device_that_is_not_here_falls_back_visibly(at):
    missing = "mps" if torch.cuda.is_available() else "cuda"
    at.query_params["device"] = missing
    at.run()
    assert not at.exception
    assert at.selectbox(key="device").value == "cpu"
    assert "not available" in at.sidebar.warning[0].value
    at.run()
    assert at.sidebar.warning, "the notice stays until the learner chooses a device"


@pytest.mark.parametrize("device", ["cpu", "", "<b>x</b>", "cuda:99", "9" * 5000])
def test_any_device_opens_the_page_and_is_never_repeated(at, device):
    at.query_params["device"] = device
    at.run()
    assert not at.exception
    assert at.selectbox(key="device").value == "cpu"
    assert not any("<b>" in warning.value or "99" in warning.value for warning in at.warning)


def test_the_dtype_is_kept_when_the_page_changes(at):
    at.run()
    at.selectbox(key="dtype").set_value("bfloat16").run()
    for page in lesson.PAGES[1:]:
        at.switch_page(page.file).run()
        assert not at.exception
        assert at.selectbox(key="dtype").value == "bfloat16"


def test_each_page_leads_to_the_next(at):
    at.run()
    for page, following in zip(lesson.PAGES, lesson.PAGES[1:], strict=False):
        if page.file != "streamlit_app.py":
            at.switch_page(page.file).run()
        labels = [link.proto.label for link in at.main.get("page_link")]
        assert f"Next: {following.title}" in labels


def test_an_error_is_a_message_and_the_page_lives_on():
    def page():
        import streamlit as st

        from attention_core.dashboard.panels.value_errors import show_value_errors

        with show_value_errors():
            raise ValueError("mask must be $boolean$: <b>3</b>")
        st.text("alive")

    at = AppTest.from_function(page, default_timeout=30).run()
    assert not at.exception
    assert [text.value for text in at.text] == ["mask must be $boolean$: <b>3</b>", "alive"]


def test_other_errors_are_not_hidden():
    def page():
        from attention_core.dashboard.panels.value_errors import show_value_errors

        with show_value_errors():
            raise KeyError("a mistake of ours")

    assert AppTest.from_function(page, default_timeout=30).run().exception
