"""The first screen, and the collector that rests meanwhile."""

import gc

import pytest
from streamlit.testing.v1 import AppTest

import first_screen

INSIDE: list[bool] = []  # whether the collector was at work inside of the block


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A process that has frozen nothing yet; each freezing is noted, and not done."""
    frozen: list[int] = []
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(1))
    monkeypatch.setattr(first_screen, "_IMPORTED", [])
    INSIDE.clear()
    return frozen


def page(inside: list[bool]) -> None:
    import gc

    import streamlit as st

    from first_screen import first_screen

    with first_screen():
        inside.append(gc.isenabled())
    st.title("A page")


def failing_page() -> None:
    from first_screen import first_screen

    with first_screen():
        raise ImportError("no such module")


def test_nothing_is_collected_while_a_page_imports(fresh: list[int]) -> None:
    at = AppTest.from_function(page, kwargs={"inside": INSIDE}).run()
    assert not at.exception
    assert INSIDE == [False]
    assert gc.isenabled() and fresh == [1]


def test_it_makes_way_for_the_page() -> None:
    at = AppTest.from_function(page, kwargs={"inside": INSIDE}).run()
    assert [title.value for title in at.title] == ["A page"]
    assert not at.markdown and not at.latex


def test_it_is_shown_once_in_the_life_of_a_process(
    fresh: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[int] = []
    monkeypatch.setattr(first_screen, "_show", lambda: shown.append(1))
    for learner in (
        AppTest.from_function(page, kwargs={"inside": INSIDE}),
        AppTest.from_function(page, kwargs={"inside": INSIDE}),
    ):
        learner.run().run()
    assert shown == fresh == [1]
    assert INSIDE == [False, True, True, True]


def test_the_elements_of_a_page_keep_their_places() -> None:
    at = AppTest.from_function(page, kwargs={"inside": INSIDE}).run()
    places = [list(at.main.children), list(at.run().main.children)]
    assert places[0] == places[1] == [0, 1]


def test_after_an_import_that_fails_the_collector_works_again() -> None:
    at = AppTest.from_function(failing_page).run()
    assert [error.message for error in at.exception] == ["no such module"]
    assert gc.isenabled() and not at.title
