"""One server and one Chromium for all browser tests, and a way to open pages in it."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, expect

from benchmarks.browser import Server, chromium, find_chromium, serve
from tests.support.learner import TIMEOUT, Learner

expect.set_options(timeout=TIMEOUT)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not find_chromium() and os.environ.get("REQUIRE_BROWSER") != "1":
        pytest.skip("no Chromium on the path, and CHROMIUM is not set")
    with chromium() as running:
        yield running


@pytest.fixture(scope="session")
def server(browser: Browser) -> Iterator[Server]:
    with serve() as running:
        yield running
        assert "Traceback" not in "".join(running.log)


Theme = Literal["light", "dark"]
OpenLearner = Callable[..., Learner]


@pytest.fixture
def new_learner(browser: Browser, server: Server) -> Iterator[OpenLearner]:
    """Make learners; at the end of the test none of them may have met an error."""
    learners: list[Learner] = []

    def new(
        size: tuple[int, int] = (1280, 900), theme: Theme = "light", url: str | None = None
    ) -> Learner:
        width, height = size
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=theme
        )
        learners.append(Learner(url or server.url, context))
        return learners[-1]

    yield new
    for learner in learners:
        learner.context.close()
    assert [error for learner in learners for error in learner.errors] == []


@pytest.fixture
def learner(new_learner: OpenLearner) -> Learner:
    return new_learner()
