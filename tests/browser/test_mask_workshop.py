"""The mask workshop in the browser: by keyboard, a stranger's rule, a challenge."""

import re
from urllib.parse import quote_plus

from playwright.sync_api import Locator, expect

from tests.support.learner import Learner

NUMBERS = "svg.marks .mark-text.role-mark text"


def visible_pairs(learner: Learner) -> Locator:
    return learner.page.get_by_test_id("stMetric").filter(has_text="Visible pairs")


def box(learner: Learner, key: str) -> Locator:
    return learner.page.locator(f".st-key-{key} input")


def write(learner: Learner, key: str, text: str) -> None:
    """Type a line and press Enter."""
    box(learner, key).focus()
    learner.page.keyboard.press("ControlOrMeta+a")
    learner.page.keyboard.type(text)
    learner.page.keyboard.press("Enter")


def test_a_rule_typed_changes_the_mask(learner: Learner) -> None:
    page = learner.open("mask_workshop")
    expect(visible_pairs(learner)).to_contain_text("21 of 64")
    write(learner, "work_rule", "j == i or j == 0")
    expect(visible_pairs(learner)).to_contain_text("15 of 64")
    seen = ["1" if j in (i, 0) else "✕" for i in range(8) for j in range(8)]
    expect(page.get_by_test_id("stVegaLiteChart").first.locator(NUMBERS)).to_have_text(seen)
    write(learner, "work_rule", "j == i | j == 0")
    expect(page.get_by_text("This rule cannot be used yet.")).to_be_visible()
    expect(visible_pairs(learner)).to_contain_text("15 of 64")
    learner.settle()


def test_boxes_are_ticked_by_keyboard(learner: Learner) -> None:
    page = learner.open("mask_workshop")
    fold = page.locator(".st-key-work_paint_fold summary")
    fold.focus()
    page.keyboard.press("Enter")
    grid = page.get_by_test_id("stDataFrame").locator("canvas[data-testid=data-grid-canvas]")
    expect(grid).to_be_visible()
    learner.settle()
    grid.focus()
    selected = page.locator("td[aria-selected=true], td:focus")
    page.keyboard.press("ArrowDown")
    expect(selected.first).to_be_attached()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    expect(box(learner, "work_paint")).to_have_value(re.compile(r"^\d-\d$"))
    for _ in range(2):  # the second before the first has been answered
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Space")
    expect(box(learner, "work_paint")).to_have_value(re.compile(r"^(\d-\d ?){3}$"))
    expect(page.get_by_text("3 painted exceptions to the rule")).to_be_visible()
    learner.settle()
    write(learner, "work_paint", "0-7")
    expect(visible_pairs(learner)).to_contain_text("22 of 64")
    expect(page.get_by_test_id("glide-cell-8-0")).to_have_text("true")
    page.get_by_role("button", name="Clear the exceptions").click()
    expect(visible_pairs(learner)).to_contain_text("21 of 64")
    expect(page.get_by_test_id("glide-cell-8-0")).to_have_text("false")
    learner.settle()


def test_a_strangers_rule_opens_the_page(learner: Learner) -> None:
    rule = "<img src=x onerror=alert(1)> " + "(" * 150
    page = learner.open(f"mask_workshop?work_rule={quote_plus(rule)}&work_paint=:red[x]")
    expect(page.get_by_text("This rule cannot be used yet.")).to_be_visible()
    expect(page.locator("[data-testid=stMain] img")).to_have_count(0)
    expect(visible_pairs(learner)).to_contain_text("21 of 64")


def test_a_challenge_is_solved(learner: Learner) -> None:
    page = learner.open("mask_workshop?work_part=Challenges")
    write(learner, "work_ch_1", "j == i")
    expect(page.get_by_text("Query 0 must not attend to key 0.")).to_be_visible()
    write(learner, "work_ch_1", "i - j == 1")
    expect(page.get_by_text("The same mask at 6 × 6, and at 13 × 13 as well.")).to_be_visible()
    learner.settle()
    page.reload()
    learner.arrive("Mask workshop")
    expect(page.get_by_text("The same mask at 6 × 6, and at 13 × 13 as well.")).to_be_visible()
