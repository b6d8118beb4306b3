"""The README keeps its word: its commands, its snippets, its links, its picture."""

import doctest
import re
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from attention_core.dashboard.lesson import PAGES

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
RUN = "pip install -r requirements.txt && streamlit run streamlit_app.py"
TEST = "pip install -r requirements-dev.txt && pytest"
LINKS = re.findall(r"`/(\w+)\?([^`]+)`", README)


def test_the_snippets_give_what_they_say() -> None:
    failed, tried = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert failed == 0
    assert tried > 5


def test_the_commands_come_first_and_ci_runs_the_second() -> None:
    assert README.index("docs/screenshot.png") < README.index(RUN) < README.index(TEST)
    assert len(README[: README.index(TEST)].splitlines()) < 25
    assert TEST in (ROOT / ".ci" / "run").read_text("utf-8")


def test_the_files_that_it_names_exist() -> None:
    named = re.findall(r"\]\(([^):]+)\)", README)
    assert {"docs/screenshot.png", "LICENSE", "CONTRIBUTING.md"} <= set(named)
    headings = re.findall(r"^#+ (.+)$", README, re.MULTILINE)
    places = {"#" + heading.lower().replace(" ", "-") for heading in headings}
    assert [name for name in named if name not in places and not (ROOT / name).is_file()] == []
    assert (ROOT / "docs" / "screenshot.png").stat().st_size < 200_000


@pytest.mark.parametrize(("path", "query"), LINKS)
def test_its_deep_links_open_in_their_state(path: str, query: str) -> None:
    page = next(page for page in PAGES[1:] if page.path == path)
    app = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=60).run()
    app.switch_page(page.file)
    for key, value in parse_qsl(query):
        app.query_params[key] = value
    app.run()
    for key, value in parse_qsl(query):
        found = app.session_state[key]
        assert (found if isinstance(found, str) else f"{found:g}") == value


def test_it_shows_deep_links() -> None:
    assert len(LINKS) >= 3
