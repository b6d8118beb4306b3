"""What a learner takes away is what is on screen when the button is clicked."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.learner import Learner

NOTEBOOK = "Take this page away as a notebook"
FILES = "Weights and pictures as files"
SVG = "{http://www.w3.org/2000/svg}"


def download(page: Page, button: str) -> tuple[str, bytes]:
    """The name and the content of the file behind a button."""
    with page.expect_download() as waiting:
        page.get_by_role("button", name=button, exact=True).click()
    return waiting.value.suggested_filename, Path(waiting.value.path()).read_bytes()


def choices(notebook: bytes) -> str:
    cells = json.loads(notebook)["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def test_the_notebook_has_the_number_of_a_slider_that_was_moved(learner: Learner) -> None:
    page = learner.open("qkv_formula")
    address = page.url
    for seed in ("1", "2"):
        learner.press(learner.slider("Seed"), "ArrowRight")
        expect(page).to_have_url(f"{address}?qkv_seed={seed}")
        learner.settle()
        name, notebook = download(page, NOTEBOOK)
        assert name == "attention_qkv_formula.ipynb"
        assert f"\nseed = {seed}  #" in choices(notebook)
    expect(learner.slider("Seed")).to_have_value("2")  # and nothing was reset


def test_what_was_typed_last_is_in_the_notebook(learner: Learner) -> None:
    page = learner.open("retrieval?ret_from=My+own+words")
    page.get_by_label("Your sequence").fill("alpha beta")  # neither Enter nor a click elsewhere
    _, notebook = download(page, NOTEBOOK)
    assert "names = ['alpha', 'beta', 'dog']" in choices(notebook)


@pytest.mark.parametrize(
    ("address", "choice"),
    [
        ("mask_workshop?work_rule=j+%3C+3", "rule = 'j < 3'  #"),
        ("bug_lab?lab_heads=3", "heads = 3  #"),
        ("your_tensors?own_h=1", "h = 1  #"),
    ],
)
def test_the_pages_beyond_the_lesson(learner: Learner, address: str, choice: str) -> None:
    page = learner.open(address)
    name, notebook = download(page, NOTEBOOK)
    assert name == f"attention_{address.partition('?')[0]}.ipynb"
    assert choice in choices(notebook)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_picture_is_saved_as_it_stands_there(new_learner, theme: str) -> None:
    learner: Learner = new_learner(theme=theme)
    page = learner.open("causal_masking?mask_n=3")
    page.get_by_text(FILES).click()
    title = "Weights with the mask"
    name, svg = download(page, f"{title} as SVG")
    assert name == "weights_with_the_mask.svg"
    root = ET.fromstring(svg)
    texts = [text.text for text in root.iter(f"{SVG}text")]
    chart = page.locator("[data-testid=stVegaLiteChart] svg.marks").filter(has_text=title)
    assert texts == chart.locator("text").all_text_contents()
    assert "1.00" in texts  # query 0 has only itself
    gradients = {gradient.get("id") for gradient in root.iter(f"{SVG}linearGradient")}
    filled = {part.get("fill") for part in root.iter() if "url" in (part.get("fill") or "")}
    assert filled == {f"url(#{gradient})" for gradient in gradients} != set()
    (alt,) = root.findall(f"{SVG}title")
    assert "the largest on a future key is 0" in (alt.text or "")


def test_a_picture_is_saved_as_png_from_its_own_toolbar(learner: Learner) -> None:
    page = learner.open("causal_masking?mask_n=3")
    title = "Weights with the mask"
    frame = page.get_by_test_id("stFullScreenFrame").filter(has_text=title)
    frame.get_by_role("button", name="Download as PNG").focus()
    with page.expect_download() as waiting:
        page.keyboard.press("Enter")
    assert Path(waiting.value.path()).read_bytes().startswith(b"\x89PNG")


def test_the_list_of_pictures_follows_the_page(learner: Learner) -> None:
    page = learner.open("qkv_formula")
    page.get_by_text(FILES).click()
    expect(page.get_by_role("button", name="as SVG")).to_have_count(6)
    page.get_by_role("radio", name="Both", exact=True).click()
    expect(page.get_by_role("button", name="Scores, K = Q as SVG")).to_be_visible()
    expect(page.get_by_role("button", name="as SVG")).to_have_count(8)


def test_weights_by_the_keyboard_alone(learner: Learner) -> None:
    page = learner.open("qkv_formula?qkv_n=2")
    page.get_by_text(FILES).click()
    page.get_by_role("button", name="CSV", exact=True).focus()
    with page.expect_download() as waiting:
        page.keyboard.press("Enter")
    head, *rows = Path(waiting.value.path()).read_text("utf-8").splitlines()
    assert head == "query \\ key,key 0,key 1"
    assert [row.split(",")[0] for row in rows] == ["query 0", "query 1"]
    assert sum(map(float, rows[0].split(",")[1:])) == pytest.approx(1, abs=1e-6)
