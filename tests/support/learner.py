"""A learner at a browser: opens pages, finds controls, and notes every error."""

import re
from dataclasses import dataclass, field

from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, expect

from attention_core.dashboard.lesson import PAGES
from benchmarks.browser import wait_until_idle

TIMEOUT = 30_000  # ms; never waited for, unless something is wrong

# What Streamlit itself reports on a good day: at an address below "/" it looks for its server in
# two places, and the icon of the tab comes from a host that an offline machine does not reach.
EXPECTED = re.compile(r"/\w+/_stcore/(health|host-config)$|^https://fonts\.gstatic\.com/s/i/")

# Parts of the page that are fetched when first needed stand there as skeletons until then.
ALL_DRAWN = """() => !document.querySelector('[data-testid=stSkeleton]')
    && [...document.querySelectorAll('[data-testid=stVegaLiteChart]')]
        .filter((chart) => !chart.closest('details:not([open])'))
        .every((chart) => chart.querySelector('svg.marks, canvas.marks'))"""


@dataclass
class Learner:
    """A browser of its own, as of one learner, with one tab."""

    url: str
    context: BrowserContext
    errors: list[str] = field(default_factory=list)
    page: Page = field(init=False)

    def __post_init__(self) -> None:
        self.page = self.context.new_page()
        self.page.set_default_timeout(TIMEOUT)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._note)

    def _note(self, line: ConsoleMessage) -> None:
        if line.type == "error" and not EXPECTED.search(line.location["url"]):
            self.errors.append(f"{line.text} ({line.location['url']})")

    def open(self, path: str) -> Page:
        """Open `path`, which is "" for the Overview, and wait until all of it is there."""
        self.page.goto(f"{self.url}/{path}")
        self.arrive(title_of(path))
        return self.page

    def arrive(self, title: str) -> None:
        """Wait until the page with this title has been drawn."""
        heading = self.page.get_by_role("heading", level=1, name=title, exact=True)
        exception = self.page.get_by_test_id("stException")
        expect(heading.or_(exception).first).to_be_visible()
        expect(exception).to_have_count(0)
        self.settle()

    def settle(self) -> None:
        """Wait until the script has ended, and every chart has been drawn."""
        wait_until_idle(self.page)
        self.page.wait_for_function(ALL_DRAWN)

    def follow(self, title: str) -> None:
        """Go to another page through the menu, opening it first where it is folded away."""
        link = self.menu_link(title)
        if not link.is_visible():
            self.page.get_by_test_id("stExpandSidebarButton").click()
        link.click()
        self.arrive(title)

    def menu_link(self, title: str) -> Locator:
        links = self.page.get_by_test_id("stSidebar").get_by_test_id("stPageLink-NavLink")
        return links.filter(has_text=re.compile(rf"{title}$"))

    def slider(self, label: str) -> Locator:
        return self.page.locator(f'input[type=range][aria-label="{label}"]')

    def first_slider(self) -> Locator:
        """The first slider that can be moved: neither disabled nor folded away."""
        in_use = "input[type=range]:enabled:not(details:not([open]) *)"
        return self.page.locator(f"[data-testid=stMain] {in_use}").first

    def press(self, slider: Locator, key: str) -> str:
        """Press a key on a slider, and return its new value. The page has yet to answer."""
        before = slider.input_value()
        slider.focus()
        self.page.keyboard.press(key)
        expect(slider).not_to_have_value(before)
        return slider.input_value()

    def text(self) -> str:
        """The words and numbers of the page, the labels of its pictures among them."""
        return self.page.get_by_test_id("stMain").inner_text()

    def expect_text(self, text: str, *, other: bool = False) -> None:
        """Wait until the page reads exactly like this, or `other`: no longer like this."""
        main = "document.querySelector('[data-testid=stMain]')"
        same = "!==" if other else "==="
        self.page.wait_for_function(f"(text) => {main}.innerText {same} text", arg=text)

    def keys(self, prefix: str) -> set[str]:
        """The keys of the page's controls and pictures that start with this prefix."""
        classes: list[str] = self.page.locator("[class*=st-key-]").evaluate_all(
            "elements => elements.flatMap((element) => [...element.classList])"
        )
        keys = {name.removeprefix("st-key-") for name in classes if name.startswith("st-key-")}
        return {key for key in keys if key.startswith(f"{prefix}_")}


def title_of(path: str) -> str:
    """The title of the page at this path."""
    name = path.partition("?")[0]
    return next(page.title for page in PAGES if page.path == name)
