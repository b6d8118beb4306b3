"""A link that hides: controls keep its values, solutions stay away, nonsense does no harm."""

import pytest
from streamlit.testing.v1 import AppTest

LESSON = dict(n=5, x=1.0, i=2, colour="blue", view="a", pick=None, on=False, words="the cat")
LESSON |= dict(tokens=[2], days=["Mo"])
HOSTILE = ["1e9", "abc", "inf", "nan", "-3", "", "9" * 5000, "<img src=x>", "True"]


def page():
    import streamlit as st

    from attention_core.dashboard import controls
    from attention_core.dashboard.controls.url_state import UrlState

    UrlState.here().begin("demo")
    if st.button("Reset"):
        UrlState.here().reset("demo")
    st.button("Assign", on_click=controls.assign, args=("demo_view", "b"))
    n = controls.slider("n", 1, 7, 5, key="demo_n")
    days = ("Mo", "Tu")
    value = {
        "n": n,
        "x": controls.slider("x", 0.0, 2.0, 1.0, key="demo_x"),
        "i": controls.position("i", n, key="demo_i", default=2),
        "colour": controls.select("colour", ["red", "blue"], key="demo_colour", default=1),
        "view": controls.segments("view", ["a", "b"], key="demo_view"),
        "pick": controls.choice("pick", {"yes": "", "no": ""}, key="demo_pick"),
        "on": controls.toggle("on", key="demo_on"),
        "words": controls.text("words", "the cat", key="demo_words", limit=20),
        "tokens": controls.several("tokens", range(4), [2], key="demo_tokens"),
        "days": controls.several_segments("days", days, ["Mo"], key="demo_days"),
    }
    st.session_state["value"] = value
    st.session_state["drawn"] = UrlState.here().drawn("demo")
    st.session_state["hides"] = bool(UrlState.here().link.names)


def follow(hide: list[str], **given: object) -> AppTest:
    at = AppTest.from_function(page, default_timeout=30)
    at.query_params["hide"] = hide
    for key, value in given.items():
        at.query_params[key] = value
    at.run()
    assert not at.exception
    return at


GIVEN = dict(n=3, x=0.5, i=1, colour="red", view="b", pick="no", on=True, words="a dog")
GIVEN |= dict(tokens=[1, 3], days=["Mo", "Tu"])


def as_text(value: object) -> object:
    return [str(v) for v in value] if isinstance(value, list) else str(value).lower()


@pytest.mark.parametrize("name", LESSON)
def test_a_hidden_control_is_not_drawn_and_has_the_links_value(name: str) -> None:
    at = follow([f"demo_{name}"], **{f"demo_{name}": as_text(GIVEN[name])})
    assert at.session_state["value"] == LESSON | {name: GIVEN[name]}
    assert set(at.session_state["drawn"]) == {f"demo_{other}" for other in LESSON} - {
        f"demo_{name}"
    }
    at.button[0].click().run()  # a reset leaves it where it is
    assert not at.exception
    assert at.session_state["value"] == LESSON | {name: GIVEN[name]}


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hidden_control_is_legal_whatever_the_link_says(text: str) -> None:
    keys = [f"demo_{name}" for name in LESSON]
    value = follow(keys, **dict.fromkeys(keys, text)).session_state["value"]
    assert isinstance(value["n"], int) and 1 <= value["n"] <= 7
    assert 0.0 <= value["x"] <= 2.0
    assert 0 <= value["i"] < value["n"]
    assert value["colour"] in ("red", "blue") and value["view"] in ("a", "b")
    assert value["pick"] in (None, "yes", "no")
    assert isinstance(value["on"], bool) and len(value["words"]) <= 20
    assert set(value["tokens"]) <= set(range(4)) and set(value["days"]) <= {"Mo", "Tu"}


def test_without_a_value_in_the_link_it_is_the_lessons() -> None:
    assert follow([f"demo_{name}" for name in LESSON]).session_state["value"] == LESSON


def test_a_button_can_still_set_a_hidden_control() -> None:
    at = follow(["demo_view"])
    at.button[1].click().run()
    assert at.session_state["value"] == LESSON | {"view": "b"}


@pytest.mark.parametrize(
    "names", [["embed"], ["<b>"], [""], ["hide"], ["x" * 5000], ["nope"] * 3000]
)
def test_other_names_hide_nothing(names: list[str]) -> None:
    at = follow(names)
    assert not at.session_state["hides"]
    assert at.session_state["value"] == LESSON


def test_a_link_without_hide_hides_nothing() -> None:
    at = AppTest.from_function(page, default_timeout=30).run()
    assert not at.session_state["hides"]
    assert at.session_state["drawn"] == {f"demo_{name}": name for name in LESSON}
