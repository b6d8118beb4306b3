"""The control for a part of a sequence: always in order, and whole again after a reset."""

import pytest
from streamlit.testing.v1 import AppTest

HOSTILE = ["", "abc", "3", "1e9", "9" * 5000, ["7", "3"], ["-1", "4"], ["2", "99"], ["nan", "inf"]]


def page():
    import streamlit as st

    from attention_core.dashboard import controls
    from attention_core.dashboard.controls.url_state import UrlState

    if st.button("Reset"):
        UrlState.here().reset("demo")
    n = controls.slider("n", 1, 13, 11, key="demo_n")
    st.session_state["value"] = controls.span("part", n, key="demo_part")


@pytest.fixture
def at() -> AppTest:
    return AppTest.from_function(page, default_timeout=30)


def value(at: AppTest) -> tuple[int, int]:
    assert not at.exception
    return at.session_state["value"]


def test_at_first_it_is_all_of_them(at: AppTest) -> None:
    assert value(at.run()) == (0, 10)


def test_a_link_sets_it(at: AppTest) -> None:
    at.query_params["demo_part_11"] = ["3", "7"]
    assert value(at.run()) == (3, 7)


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: str(text)[:12])
def test_an_address_that_makes_no_sense_shows_all(at: AppTest, text: str | list[str]) -> None:
    at.query_params["demo_part_11"] = text
    assert value(at.run()) == (0, 10)


def test_it_may_hold_one_position(at: AppTest) -> None:
    at.run()
    assert value(at.slider(key="demo_part_11").set_value((4, 4)).run()) == (4, 4)


def test_another_length_is_shown_whole(at: AppTest) -> None:
    at.query_params["demo_part_11"] = ["3", "5"]
    assert value(at.run()) == (3, 5)
    for n in (7, 13):
        assert value(at.slider(key="demo_n").set_value(n).run()) == (0, n - 1)
    assert value(at.slider(key="demo_n").set_value(1).run()) == (0, 0)
    assert len(at.slider) == 1


def test_reset_shows_all_however_many_there_are(at: AppTest) -> None:
    at.query_params["demo_n"] = "5"
    at.query_params["demo_part_5"] = ["1", "2"]
    assert value(at.run()) == (1, 2)
    at.button[0].click().run()
    assert value(at) == (0, 10)
    at.slider(key="demo_part_11").set_value((4, 6)).run()
    at.button[0].click().run()
    assert value(at) == (0, 10)
