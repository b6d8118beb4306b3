"""The bug lab in a browser: by keyboard alone, and a diagnosis that stays."""

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from attention_core.dashboard.bug_lab.names import NAMES
from attention_core.dashboard.bug_lab.specimens import behind
from tests.support.learner import Learner

NAME = NAMES[behind("B")].short


def press_until(page: Page, keys: str, focused: str) -> None:
    """Press the keys again and again until what is focused has this name."""
    for _ in range(100):
        page.keyboard.press(keys)
        name = page.evaluate(
            "() => (document.activeElement.closest('label') ?? document.activeElement).innerText"
        )
        if name.strip().endswith(focused):
            return
    pytest.fail(f"the keyboard does not reach {focused}")


def test_a_specimen_is_diagnosed_by_keyboard_alone(learner: Learner) -> None:
    page = learner.open("bug_lab")
    press_until(page, "Tab", "A")
    press_until(page, "ArrowRight", "B")
    page.keyboard.press("Space")
    expect(page.get_by_role("heading", name="Symptoms of specimen B")).to_be_visible()
    learner.settle()
    assert parse_qs(urlsplit(page.url).query) == {"lab_specimen": ["B"]}
    assert NAME not in page.get_by_test_id("stMain").inner_html().replace(f">{NAME}<", "", 1)

    press_until(page, "Tab", "Softmax over the queries")
    press_until(page, "ArrowDown", NAME)
    page.keyboard.press("Space")
    expect(page.get_by_role("radio", name=NAME)).to_be_checked()
    learner.settle()
    press_until(page, "Tab", "Thinking")
    press_until(page, "ArrowRight", "Lock in")
    page.keyboard.press("Space")
    expect(page.get_by_test_id("stAlert")).to_contain_text(f"Right: {NAME}.")
    expect(page.get_by_text("1 of 13 diagnosed")).to_be_visible()
    learner.settle()

    press_until(page, "Tab", "Next specimen: C")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Symptoms of specimen C")).to_be_visible()


def test_a_diagnosis_stays_after_a_refresh_another_specimen_and_another_page(new_learner) -> None:
    learner: Learner = new_learner()
    page = learner.open("bug_lab?lab_specimen=B")
    verdict = page.get_by_test_id("stAlert")
    page.get_by_text("No scale", exact=True).click()
    expect(page.get_by_role("radio", name="No scale")).to_be_checked()
    learner.settle()
    page.get_by_role("radio", name="Lock in").click()
    expect(verdict).to_contain_text("Not quite")
    learner.settle()
    text = learner.text()
    page.reload()
    learner.arrive("Bug lab")
    learner.expect_text(text)

    learner.follow("Retrieval")
    learner.follow("Bug lab")
    learner.expect_text(text)

    page.get_by_role("radio", name="C", exact=True).click()
    expect(page.get_by_role("heading", name="Symptoms of specimen C")).to_be_visible()
    learner.settle()
    page.get_by_role("radio", name="B", exact=True).click()
    expect(page.get_by_role("heading", name="Symptoms of specimen B")).to_be_visible()
    learner.settle()
    expect(page.get_by_text("Specimen B: tried so far")).to_be_visible()
    expect(verdict).to_contain_text("Not quite")


def guess(learner: Learner, name: str) -> None:
    """Choose a diagnosis and lock it in, from wherever the learner is."""
    page = learner.page
    page.get_by_role("radio", name="Thinking").click()
    expect(page.get_by_role("radio", name=name)).to_be_enabled()
    page.get_by_text(name, exact=True).first.click()
    expect(page.get_by_role("radio", name=name)).to_be_checked()
    learner.settle()
    page.get_by_role("radio", name="Lock in").click()
    expect(page.get_by_test_id("stAlert")).to_be_visible()  # the app has taken note of it
    learner.settle()


def test_all_that_was_tried_stays_after_a_refresh(new_learner) -> None:
    learner: Learner = new_learner()
    page = learner.open("bug_lab?lab_specimen=B")
    tried = page.get_by_role("listitem")
    for name in ("No scale", "Weights transposed"):
        guess(learner, name)
    expect(tried).to_have_text(["No scale", "Weights transposed"])
    page.reload()
    learner.arrive("Bug lab")
    expect(tried).to_have_text(["No scale", "Weights transposed"])

    guess(learner, NAME)
    guess(learner, "No scale")  # to see what it would have said
    expect(page.get_by_test_id("stAlert")).to_contain_text("Not quite")
    page.reload()
    learner.arrive("Bug lab")
    expect(page.get_by_text("1 of 13 diagnosed")).to_be_visible()
    expect(tried).to_have_text(["No scale", "Weights transposed", NAME])

    page.get_by_role("radio", name="Thinking").click()
    learner.settle()
    page.reload()
    learner.arrive("Bug lab")
    expect(page.get_by_text("1 of 13 diagnosed")).to_be_visible()


def test_a_guess_in_a_link_is_noted_without_a_click(learner: Learner) -> None:
    page = learner.open("bug_lab?lab_specimen=B&lab_B_guess=No+scale&lab_B_move=Lock+in")
    expect(page.get_by_role("listitem")).to_have_text(["No scale"])
