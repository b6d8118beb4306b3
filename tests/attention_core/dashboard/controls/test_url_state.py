"""Controls: whatever a URL sends, the page gets a legal value; Reset brings the defaults."""

import pytest
from streamlit.testing.v1 import AppTest

HOSTILE = ["1e9", "abc", "inf", "nan", "-3", "", "9" * 5000, "<img src=x>", "1,2,3", "True"]


def page():
    import streamlit as st

    from attention_core.dashboard import controls
    from attention_core.dashboard.controls.url_state import UrlState

    if st.button("Reset"):
        UrlState.here().reset("demo")
    n = controls.slider("n", 1, 7, 5, key="demo_n")
    value = {
        "n": n,
        "x": controls.slider("x", 0.0, 2.0, 1.0, key="demo_x"),
        "i": controls.position("i", n, key="demo_i", default=2),
        "colour": controls.select("colour", ["red", "blue"], key="demo_colour", default=1),
        "view": controls.segments("view", ["a", "b"], key="demo_view"),
        "on": controls.toggle("on", key="demo_on"),
        "words": controls.text("words", "the cat", key="demo_words", limit=20),
        "tokens": controls.several("tokens", range(4), [2], key="demo_tokens"),
    }
    st.session_state["value"] = value


LESSON = dict(n=5, x=1.0, i=2, colour="blue", view="a", on=False, words="the cat", tokens=[2])


@pytest.fixture
def at() -> AppTest:
    return AppTest.from_function(page, default_timeout=30)


def test_defaults(at):
    at.run()
    assert not at.exception
    assert at.session_state["value"] == LESSON


@pytest.mark.parametrize("key", LESSON)
@pytest.mark.parametrize("text", HOSTILE)
def test_any_url_opens_with_legal_values(at, key, text):
    at.query_params[f"demo_{key}"] = text
    at.run()
    assert not at.exception
    value = at.session_state["value"]
    assert isinstance(value["n"], int) and 1 <= value["n"] <= 7
    assert 0.0 <= value["x"] <= 2.0
    assert 0 <= value["i"] < value["n"]
    assert value["colour"] in ("red", "blue") and value["view"] in ("a", "b")
    assert isinstance(value["on"], bool) and len(value["words"]) <= 20
    assert set(value["tokens"]) <= set(range(4))


def test_a_link_sets_the_value(at):
    at.query_params["demo_n"] = "3"
    at.query_params["demo_i"] = "1"
    at.query_params["demo_colour"] = "red"
    at.run()
    assert at.session_state["value"] == LESSON | dict(n=3, i=1, colour="red")


def test_a_position_past_the_end_becomes_the_last(at):
    at.run()
    at.selectbox(key="demo_i").select(4).run()
    at.slider(key="demo_n").set_value(3).run()
    assert at.session_state["value"]["i"] == 2
    at.slider(key="demo_n").set_value(1).run()  # one token: positions 0 to 0
    assert not at.exception
    assert at.session_state["value"]["i"] == 0


def test_a_position_may_be_held_as_the_label_of_one_that_is_gone():
    """As after a run that the next key press cut short before the list was drawn (Streamlit)."""

    def page():
        import streamlit as st

        from attention_core.dashboard import controls

        before = controls.position_to_be(3, key="demo_i")
        words = controls.position("j", 3, key="demo_j", labels="abc".__getitem__)
        st.session_state["value"] = (before, controls.position("i", 3, key="demo_i"), words)

    at = AppTest.from_function(page, default_timeout=30)
    at.session_state["demo_i"], at.session_state["demo_j"] = "5", "f"
    at.run()
    assert not at.exception
    assert at.session_state["value"] == (2, 2, 2)


def test_a_slider_follows_when_its_end_comes_nearer_step_by_step():
    def page():
        import streamlit as st

        from attention_core.dashboard import controls

        n = controls.slider("n", 1, 7, 5, key="demo_n")
        st.session_state["value"] = controls.slider("t", 0, n - 1, 2, key="demo_t")

    at = AppTest.from_function(page, default_timeout=30)
    at.query_params["demo_t"] = "4"
    at.run()
    for n in (4, 3, 2, 1, 7):
        at.slider(key="demo_n").set_value(n).run()
        assert not at.exception
        assert 0 <= at.session_state["value"] < n


def test_reset_brings_back_the_lesson(at):
    at.run()
    at.slider(key="demo_n").set_value(7)
    at.text_input(key="demo_words").set_value("a dog")
    at.multiselect(key="demo_tokens").set_value([0, 1])
    at.toggle(key="demo_on").set_value(True).run()
    assert at.session_state["value"] != LESSON
    at.button[0].click().run()
    assert not at.exception
    assert at.session_state["value"] == LESSON


def test_reset_brings_back_positions_that_were_clamped(at):
    at.query_params["demo_n"] = "1"
    at.run()
    assert at.session_state["value"]["i"] == 0
    at.button[0].click().run()
    assert at.session_state["value"] == LESSON


def page_in_parts():
    import streamlit as st

    from attention_core.dashboard import controls
    from attention_core.dashboard.controls.url_state import UrlState

    UrlState.here().begin("demo")
    if st.button("Reset"):
        UrlState.here().reset("demo")
    if controls.segments("part", ["One", "Other"], key="demo_part") == "Other":
        st.session_state["value"] = [
            controls.slider("n", 1, 7, 5, key="demo_n"),
            controls.slider("x", 0.0, 2.0, 1.0, key="demo_x"),
            controls.span("s", 7, key="demo_s"),
            controls.position("i", 4, key="demo_i", labels="abcd".__getitem__),
            controls.segments("view", ["a", "b"], key="demo_view"),
            controls.choice("guess", {"yes": "", "no": ""}, key="demo_guess"),
            controls.several_segments("cells", ["0", "1", "2"], key="demo_cells"),
            controls.several("tokens", range(4), [2], key="demo_tokens"),
            controls.toggle("on", key="demo_on"),
            controls.text("words", "the cat", key="demo_words", limit=20),
        ]
    UrlState.here().end("demo")


SET = {"n": 3, "x": 0.5, "s": (2, 4), "i": 3, "view": "b", "guess": "no"} | {
    "cells": ["1", "2"],
    "tokens": [0, 3],
    "on": True,
    "words": "a  dog",
}
AS_DRAWN = [5, 1.0, (0, 6), 0, "a", None, [], [2], False, "the cat"]


def kept(at) -> dict[str, str | list[str]]:
    return {name: at.query_params[name] for name in at.query_params if name.startswith("kept.")}


def set_in_the_other_part() -> AppTest:
    at = AppTest.from_function(page_in_parts, default_timeout=30)
    at.query_params["demo_part"] = "Other"
    at.run()
    assert at.session_state["value"] == AS_DRAWN
    for number, (name, value) in enumerate(SET.items()):
        key = "demo_s_7" if name == "s" else f"demo_{name}"
        kinds = "slider slider slider selectbox segmented_control radio pills multiselect toggle"
        getattr(at, [*kinds.split(), "text_input"][number])(key=key).set_value(value)
    at.run()
    assert at.session_state["value"] == list(SET.values())
    assert not kept(at)
    at.segmented_control(key="demo_part").set_value("One").run()
    assert not at.exception
    return at


def test_what_is_out_of_view_stays_in_the_address_and_comes_back():
    """A new learner is what a refresh makes of this one."""
    at = set_in_the_other_part()
    assert len(kept(at)) == len(SET)
    assert kept(at)["kept.demo_i"] == "d"  # an address knows options by their labels
    assert kept(at)["kept.demo_tokens"] == ["0", "3"] and kept(at)["kept.demo_on"] == "true"
    other = AppTest.from_function(page_in_parts, default_timeout=30)
    other.query_params.update(kept(at))
    other.run().run()
    assert kept(other) == kept(at)
    for learner in (at, other):
        learner.segmented_control(key="demo_part").set_value("Other").run()
        assert not learner.exception
        assert learner.session_state["value"] == list(SET.values())
        assert not kept(learner)
    assert other.query_params["demo_tokens"] == ["0", "3"]


def test_reset_reaches_what_is_out_of_view():
    at = set_in_the_other_part()
    other = AppTest.from_function(page_in_parts, default_timeout=30)
    other.query_params.update(kept(at))
    other.run()
    for learner in (at, other):
        learner.button[0].click().run()
        assert not kept(learner)
        learner.segmented_control(key="demo_part").set_value("Other").run()
        assert learner.session_state["value"] == AS_DRAWN


@pytest.mark.parametrize("text", HOSTILE)
def test_an_address_keeps_no_illegal_value(text):
    at = AppTest.from_function(page_in_parts, default_timeout=30)
    for name in SET:
        at.query_params[f"kept.demo_{'s_7' if name == 's' else name}"] = text
    at.query_params["kept.demo_<b>"] = text
    at.run()
    at.segmented_control(key="demo_part").set_value("Other").run()
    assert not at.exception
    n, x, span, i, view, guess, cells, tokens, on, words = at.session_state["value"]
    assert 1 <= n <= 7 and 0 <= x <= 2 and span == (0, 6) and i == 0 and view == "a"
    assert (guess, cells, tokens, on) == (None, [], [2], text == "True") and len(words) <= 20
    if text == "1e9":  # the address says what was made of it
        assert n == 7 and [*at.query_params["demo_n"]] == ["7"]


@pytest.mark.parametrize("hidden", [False, True])
def test_reset_of_a_slider_for_which_there_is_no_room_now(hidden):
    def page():
        import streamlit as st

        from attention_core.dashboard import controls
        from attention_core.dashboard.controls.url_state import UrlState

        UrlState.here().begin("demo")
        if st.button("Reset"):
            UrlState.here().reset("demo")
        n = controls.slider("n", 1, 7, 5, key="demo_n")
        if controls.toggle("more", key="demo_more"):
            st.session_state["value"] = controls.slider("t", 0, n - 1, 3, key="demo_t")

    at = AppTest.from_function(page, default_timeout=30)
    at.query_params["demo_more"] = "true"
    if hidden:
        at.query_params["hide"], at.query_params["demo_n"] = "demo_n", "2"
    at.run()
    assert at.session_state["value"] == (1 if hidden else 3)
    at.button[0].click().run()  # sets t, which is not drawn then
    if not hidden:
        at.slider(key="demo_n").set_value(2)
    at.toggle(key="demo_more").set_value(True).run()
    assert not at.exception
    assert at.session_state["value"] == 1
    if not hidden:
        at.slider(key="demo_n").set_value(5).run()
        assert at.session_state["value"] == 3


@pytest.mark.parametrize("value", [*HOSTILE, "0", "3", "6", "7", "03", "-1"])
def test_a_position_is_known_before_its_control_is_drawn(value):
    def early():
        import streamlit as st

        from attention_core.dashboard import controls

        before = controls.position_to_be(7, key="demo_i", default=2)
        st.session_state["pair"] = (before, controls.position("i", 7, key="demo_i", default=2))

    at = AppTest.from_function(early, default_timeout=30)
    at.query_params["demo_i"] = value
    at.run()
    assert not at.exception
    before, drawn = at.session_state["pair"]
    assert before == drawn == (int(value) if value in ("0", "3", "6") else 2)
    at.selectbox(key="demo_i").select(5).run()
    assert at.session_state["pair"] == (5, 5)


def test_hundreds_of_parameters_for_what_is_out_of_view_are_not_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from attention_core.dashboard.controls import out_of_view
    from attention_core.dashboard.controls.url_state import UrlState

    at = AppTest.from_function(page_in_parts, default_timeout=30)
    for number in range(800):
        at.query_params[f"kept.demo_x{number}"] = "1"
    at.query_params["other"] = "stays"
    at.run()
    assert not at.exception
    state: UrlState = at.session_state["url_state"]
    assert len(state.out_of_view.kept) == out_of_view.MOST == 64
    assert len(kept(at)) == 64 and "stays" in at.query_params["other"]
    at.segmented_control(key="demo_part").set_value("Other").run()
    assert not at.exception


def test_nothing_is_written_while_a_slider_moves() -> None:
    def page():
        import streamlit as st

        from attention_core.dashboard import controls
        from attention_core.dashboard.controls.url_state import UrlState

        UrlState.here().begin("demo")
        if controls.slider("n", 1, 7, 5, key="demo_n") > 2:
            controls.text("words", "the cat", key="demo_words")
        st.button("Again")
        UrlState.here().end("demo")

    at = AppTest.from_function(page, default_timeout=30).run()
    at.text_input(key="demo_words").set_value("a dog").run()
    at.slider(key="demo_n").set_value(2).run()
    assert not kept(at)  # the browser may have moved on, and what is written would take it back
    at.button[0].click().run()
    assert "a dog" in kept(at)["kept.demo_words"]
