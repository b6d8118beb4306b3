"""Uploads in a real browser: a file's numbers, a broken file, two learners, zoom, and a click."""

import re
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from playwright.sync_api import Locator, expect
from safetensors.torch import save_file

from tests.support.learner import Learner

OWN = "your_tensors?own_from=My+own+file"
HEADS, N_Q, N_K, D = 2, 5, 7, 3
CELL = re.compile("^Weight of query 4 on key 3")


def save_heads(path: Path, seed: int) -> tuple[Path, str]:
    """A file of random q, k, v, and its weight of query 4 on key 3 in head 0, by PyTorch."""
    generator = torch.Generator().manual_seed(seed)
    q, k, v = (torch.randn(HEADS, n, D, generator=generator) for n in (N_Q, N_K, N_K))
    save_file({"q": q, "k": k, "v": v}, path)
    weights = F.scaled_dot_product_attention(q, k, torch.eye(N_K).expand(HEADS, -1, -1))
    return path, f"{float(weights[0, 4, 3]):.9f}"[:6]


@pytest.fixture
def heads(tmp_path: Path) -> tuple[Path, str]:
    return save_heads(tmp_path / "<b>mine.safetensors", 0)


def choose_file(learner: Learner, path: Path) -> None:
    learner.page.locator("input[type=file]").set_input_files(path)


def expect_weight(learner: Learner, weight: str) -> None:
    cell = re.compile(f"{CELL.pattern}{re.escape(weight)}")
    expect(learner.page.get_by_test_id("stMetric").filter(has_text=cell)).to_have_count(1)
    learner.settle()


def sample_weight(learner: Learner) -> str:
    metric = learner.page.get_by_test_id("stMetric").filter(has_text=CELL)
    return metric.get_by_test_id("stMetricValue").inner_text()


def end_of(learner: Learner, what: str, end: str) -> Locator:
    """One of the two ends of a range."""
    return learner.page.get_by_role("slider", name=re.compile(f"{what} in view — {end}"))


def test_an_upload_shows_its_numbers_and_a_broken_file_loses_nothing(
    learner: Learner, heads: tuple[Path, str], tmp_path: Path
) -> None:
    page = learner.open(OWN)
    sample = sample_weight(learner)
    broken = tmp_path / "broken.npz"
    broken.write_bytes(b"PK\x03\x04 this is no archive")
    choose_file(learner, broken)
    expect(page.get_by_text("The file is damaged or was cut off")).to_be_visible()
    learner.settle()
    assert sample_weight(learner) == sample

    path, weight = heads
    choose_file(learner, path)
    expect_weight(learner, weight)
    expect(page.get_by_text("Shown below: <b>mine.safetensors", exact=True)).to_be_visible()
    expect(page.get_by_text("The file is damaged")).to_have_count(0)
    choose_file(learner, broken)
    expect(page.get_by_text("The file is damaged or was cut off")).to_be_visible()
    expect_weight(learner, weight)

    page.get_by_role("button", name="Forget my file").click()
    expect(page.get_by_text("Until there is a file to show")).to_be_visible()
    learner.settle()
    assert sample_weight(learner) == sample
    expect(page.get_by_text("mine", exact=False)).to_have_count(0)


def test_two_learners_do_not_see_each_others_files(new_learner, tmp_path: Path) -> None:
    one, other = new_learner(), new_learner()
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    for learner in (one, other):
        learner.open(OWN)
    first, weight = save_heads(tmp_path / "a" / "heads.safetensors", 1)
    choose_file(one, first)
    expect_weight(one, weight)
    other.page.reload()
    other.arrive("Your tensors")
    expect(other.page.get_by_text("Until there is a file to show")).to_be_visible()
    second, another = save_heads(tmp_path / "b" / "heads.safetensors", 2)
    choose_file(other, second)
    expect_weight(other, another)
    one.press(end_of(one, "Queries", "start"), "ArrowRight")
    expect_weight(one, weight)
    assert weight != another


def test_zoom_by_keyboard_and_a_click_on_a_cell(learner: Learner, heads: tuple[Path, str]) -> None:
    page = learner.open(OWN)
    choose_file(learner, heads[0])
    expect_weight(learner, heads[1])
    chart = page.locator(".st-key-own_weights_box [data-testid=stVegaLiteChart]")
    expect(chart).to_have_attribute("aria-label", re.compile("queries 0 to 4, keys 0 to 6"))
    learner.press(end_of(learner, "Queries", "start"), "ArrowRight")
    expect(chart).to_have_attribute("aria-label", re.compile("queries 1 to 4, keys 0 to 6"))
    learner.press(end_of(learner, "Keys", "end"), "ArrowLeft")
    expect(chart).to_have_attribute("aria-label", re.compile("queries 1 to 4, keys 0 to 5"))
    expect(page).to_have_url(re.compile("own_rows_5=1&own_rows_5=4"))
    learner.settle()
    page.locator(".st-key-own_weights_box g.mark-rect path[aria-roledescription]").nth(
        6 + 2
    ).click()
    expect(page.get_by_test_id("stMetric").first).to_contain_text("Weight of query 2 on key 2")
    learner.settle()


def test_another_sample_is_shown_whole_and_names_change_the_axis(learner: Learner) -> None:
    page = learner.open("your_tensors")
    chart = page.locator(".st-key-own_weights_box [data-testid=stVegaLiteChart]")
    expect(chart).to_have_attribute("aria-label", re.compile("queries 0 to 10, keys 0 to 10"))
    page.get_by_role("combobox", name=re.compile("^Sample")).click()
    page.get_by_role("option", name="An attention sink").click()
    expect(chart).to_have_attribute("aria-label", re.compile("queries 0 to 12, keys 0 to 12"))
    learner.settle()
    for names in ("the cat", "a dog"):
        line = page.get_by_role("textbox", name=re.compile("^Names of the tokens"))
        line.fill(names)
        line.press("Enter")
        first = names.split()[0]
        expect(
            chart.locator("svg.marks text").filter(has_text=f"0 · {first}").first
        ).to_be_visible()
        expect(chart).to_have_attribute("aria-label", re.compile("queries 0 to 12, keys 0 to 12"))
        learner.settle()


def test_ends_in_the_wrong_order_show_all(learner: Learner) -> None:
    page = learner.open("your_tensors?own_columns_11=9&own_columns_11=2")
    chart = page.locator(".st-key-own_weights_box [data-testid=stVegaLiteChart]")
    expect(chart).to_have_attribute("aria-label", re.compile("queries 0 to 10, keys 0 to 10"))
    learner.press(end_of(learner, "Queries", "start"), "ArrowRight")
    expect(chart).to_have_attribute("aria-label", re.compile("queries 1 to 10, keys 0 to 10"))
    learner.settle()


def test_a_click_on_a_small_picture_chooses_the_head_again_and_again(learner: Learner) -> None:
    page = learner.open("your_tensors?own_sample=An+attention+sink")
    box = page.locator(".st-key-own_all_box")
    chart = box.locator("[data-testid=stVegaLiteChart]")
    expect(chart).to_have_attribute("aria-label", re.compile("round head 0 of batch element 0"))
    for _ in range(2):  # the second time the browser has this head as clicked already
        box.locator("path[aria-label='batch element 1, head 2']").click()
        expect(page).to_have_url(re.compile("own_b=1&.*own_h=2"))
        expect(chart).to_have_attribute("aria-label", re.compile("round head 2 of batch element 1"))
        learner.settle()
        page.get_by_role("combobox", name=re.compile("Head")).click()
        page.get_by_role("option", name="1", exact=True).click()
        expect(chart).to_have_attribute("aria-label", re.compile("round head 1 of batch element 1"))
        learner.settle()


@pytest.mark.parametrize("width", [390, 1280])
def test_weights_in_the_small_pictures_are_square(learner: Learner, width: int) -> None:
    page = learner.page
    page.set_viewport_size({"width": width, "height": 844})
    learner.open("your_tensors?own_sample=Cross-attention")
    mark = page.locator(".st-key-own_all_box path[aria-label='batch element 0, head 1']")
    box = mark.bounding_box()
    assert box is not None and box["width"] > 90
    assert box["height"] / box["width"] == pytest.approx(7 / 11, rel=0.02)


def test_a_slider_that_moves_quickly_there_and_back_keeps_the_page_alive(learner: Learner) -> None:
    full = "own_rows_11=0&own_rows_11=8&own_columns_11=0&own_columns_11=8"
    page = learner.open(f"your_tensors?{full}")
    thumb = end_of(learner, "Queries", "start")
    thumb.focus()
    for _ in range(10):
        for key in ("ArrowRight", "ArrowLeft"):
            for _ in range(5):
                page.keyboard.press(key)
            page.wait_for_timeout(60)  # a hand that turns round
    learner.settle()
    expect(thumb).to_have_value("0")
    expect(page.get_by_role("dialog")).to_have_count(0)
