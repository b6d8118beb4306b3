"""How long from a key press to the changed picture: measured inside the page, frame by frame."""

import statistics

from playwright.sync_api import Locator, Page

from benchmarks.browser import wait_until_idle

# Resolves with the time from the next key press to the frame after the one in which the content
# of `selector` differs. A chart that is being replaced has no marks, and does not count.
STOPWATCH = """
(selector) => {
    const content = () => {
        const element = document.querySelector(selector);
        const empty = element?.matches('svg:not(:has(.mark-image image, .mark-rect path))');
        return !element || empty ? null : element.outerHTML;
    };
    window.painted = new Promise((resolve) => {
        const before = content();
        let pressed = null;
        document.addEventListener(
            'keydown', () => { pressed = performance.now(); }, {once: true, capture: true});
        const look = () => {
            const now = pressed === null ? null : content();
            if (now === null || now === before) requestAnimationFrame(look);
            else requestAnimationFrame(() => resolve(performance.now() - pressed));
        };
        look();
    });
}
"""


def press(page: Page, slider: Locator, key: str, selector: str) -> float:
    """Press `key` on the slider; milliseconds until the content of `selector` is repainted."""
    page.bring_to_front()
    slider.focus()
    page.evaluate(STOPWATCH, selector)
    page.keyboard.press(key)
    elapsed: float = page.evaluate("window.painted")
    wait_until_idle(page)
    page.wait_for_timeout(100)  # whatever else is still being drawn is not the next press's
    return elapsed


def summary(times: list[float]) -> str:
    low, middle, high = statistics.quantiles(times)
    return f"{middle:6.0f} ms  (quartiles {low:.0f} to {high:.0f}, {len(times)} presses)"
