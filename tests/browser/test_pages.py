"""Every page, in a real browser: opens cleanly in both sizes and themes, and takes any address."""

from pathlib import Path
from urllib.parse import urlencode

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from attention_core.dashboard.lesson import PAGES
from tests.support.learner import Learner, title_of

ROOT = Path(__file__).parents[2]
PATHS = ["", *sorted(file.stem.partition("_")[2] for file in ROOT.glob("pages/*.py"))]
PREFIXES = {page.title: page.prefix for page in PAGES}
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}
HOSTILE = ("1e9", "")  # the rest of them without a browser, in tests/pages
ROUNDING = ("scrollable-region-focusable", '<span class="katex-display">')
OVERFLOW = """() => {
    const root = document.scrollingElement, main = document.querySelector('[data-testid=stMain]');
    return Math.max(root.scrollWidth - root.clientWidth, main.scrollWidth - main.clientWidth);
}"""


def test_every_page_file_is_on_the_menu() -> None:
    assert {page.file for page in PAGES} == {
        "streamlit_app.py",
        *(f"pages/{file.name}" for file in ROOT.glob("pages/*.py")),
    }


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path or "overview")
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_page_opens(new_learner, path: str, size: str, theme: str) -> None:
    learner: Learner = new_learner(SIZES[size], theme)
    page = learner.open(path)
    expect(page.get_by_test_id("stException")).to_have_count(0)
    for entry in PAGES:
        expect(learner.menu_link(entry.title)).to_have_count(1)
    assert page.evaluate(OVERFLOW) == 0
    for chart in page.get_by_test_id("stVegaLiteChart").all():
        assert len(chart.get_attribute("aria-label") or "") > 10
    assert serious_violations(page) == []


def serious_violations(page: Page) -> list[str]:
    """What axe finds of serious or critical impact: the rule and the element of each."""
    return [
        f"{violation['id']}: {node['html'][:200]}"
        for violation in Axe().run(page).response["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
        # A formula overflows its own box by two pixels of rounding: there is nothing to scroll.
        if (violation["id"], node["html"][:28]) != ROUNDING
    ]


@pytest.mark.parametrize("path", PATHS[1:])
def test_strangers_addresses_open_a_page_in_a_legal_state(new_learner, path: str) -> None:
    learner: Learner = new_learner()
    page = learner.open(path)
    keys = sorted({*learner.keys(PREFIXES[title_of(path)]), "device", "dtype"})
    assert len(keys) > 2
    queries = [[(key, value) for key in keys] for value in HOSTILE]
    queries += [[(key, value) for key in keys for value in ("2", "3")]]  # all of them twice
    queries += [[(keys[-1], "7" * 5000)]]  # alone: a server takes no longer an address
    for query in queries:
        learner.open(f"{path}?{urlencode(query)}")
        expect(page.get_by_test_id("stException")).to_have_count(0)


def test_an_unknown_address_shows_the_overview_with_a_notice(learner: Learner) -> None:
    learner.page.goto(f"{learner.url}/nope")
    learner.arrive(PAGES[0].title)
    expect(learner.page.get_by_role("dialog")).to_contain_text("Page not found")
    expect(learner.page.get_by_test_id("stException")).to_have_count(0)
    assert all(error.startswith("The page that you have requested") for error in learner.errors)
    learner.errors.clear()  # Streamlit repeats the notice there


def test_an_embedded_page_keeps_its_settings(learner: Learner) -> None:
    page = learner.open("qkv_formula?embed=true&qkv_n=3")
    expect(learner.slider("Sequence length")).to_have_value("3")
    expect(learner.menu_link(PAGES[0].title)).to_be_visible()
    expect(page.get_by_test_id("stMainMenu")).to_have_count(0)
    learner.open("qkv_formula")
    expect(page.get_by_test_id("stMainMenu")).to_have_count(1)  # so it was the embedding
