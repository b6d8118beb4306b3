"""Causal masking in the browser: step through a generation, choose a patch, upload a picture."""

import io
import re

import torch
from PIL import Image
from playwright.sync_api import expect

from tests.support.learner import Learner


def test_next_adds_a_key_to_the_cache(learner: Learner) -> None:
    page = learner.open("causal_masking?mask_t=2")
    cache = page.get_by_test_id("stMetric").filter(has_text="Keys in the cache")
    expect(cache).to_contain_text("3 of 5")
    page.get_by_role("button", name="Next", exact=True).click()
    expect(cache).to_contain_text("4 of 5")
    page.get_by_role("button", name="Next", exact=True).click()
    expect(cache).to_contain_text("5 of 5")
    expect(page.get_by_role("button", name="Next", exact=True)).to_be_disabled()
    learner.settle()


def test_a_click_on_the_picture_chooses_the_patch(learner: Learner) -> None:
    page = learner.open("causal_masking")
    chart = page.locator("[data-testid=stVegaLiteChart]", has_text="The picture in patches")
    chart.scroll_into_view_if_needed()
    cells = chart.locator("g.mark-rect").last.locator("path")  # on top, to be clicked
    cells.nth(4 * 6 + 3).click()  # row 4, column 3 of 6 by 6 patches
    expect(page.get_by_text(re.compile(r"Patch \(4, 3\) puts"))).to_be_visible()
    learner.settle()


def test_a_learners_picture_is_shown_and_a_broken_file_is_explained(learner: Learner) -> None:
    page = learner.open("causal_masking?mask_picture=My+own")
    chooser = page.locator("input[type=file]")
    chooser.set_input_files({"name": "x.png", "mimeType": "image/png", "buffer": b"no picture"})
    expect(page.get_by_text("cannot be read as a PNG or JPEG")).to_be_visible()
    expect(page.get_by_text(re.compile(r"Patch \(1, 1\) puts"))).to_be_visible()
    noise = torch.randint(0, 256, (60, 80, 3), generator=torch.Generator().manual_seed(0))
    file = io.BytesIO()
    Image.fromarray(noise.byte().numpy()).save(file, "PNG")
    before = page.get_by_text(re.compile(r"Patch \(1, 1\) puts")).inner_text()
    chooser.set_input_files(
        {"name": "noise.png", "mimeType": "image/png", "buffer": file.getvalue()}
    )
    expect(page.get_by_text("cannot be read as a PNG or JPEG")).to_have_count(0)
    expect(page.get_by_text(re.compile(r"Patch \(1, 1\) puts"))).not_to_have_text(before)
    learner.settle()
