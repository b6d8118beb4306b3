"""A click on a weight chooses it: the selectors move and its story opens."""

import re

from playwright.sync_api import expect


def test_a_click_on_a_weight_tells_its_story(learner):
    page = learner.open("qkv_formula")
    cells = page.locator(".st-key-qkv_weights_box g.mark-rect path[aria-roledescription]")
    cells.nth(3 * 5 + 1).click()  # query 3, key 1 of the lesson's five by five
    expect(page.get_by_text("Query 3, key 1 and their products")).to_be_visible()
    expect(page).to_have_url(re.compile("qkv_i=3"))
    expect(page).to_have_url(re.compile("qkv_j=1"))
    learner.settle()
