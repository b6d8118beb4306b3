"""From a key press on a slider to the painted weights, against an empty app in the same run.

    python -m benchmarks.latency [--presses 40]

Targets: at T = 16 at most 1.6 times the empty app, at T = 128 at most 2.5 times.
"""

import argparse
import statistics
from itertools import cycle, islice

from playwright.sync_api import Browser, Locator, Page

from benchmarks.browser import EMPTY_APP, chromium, serve, wait_until_idle
from benchmarks.painting import press, summary

WEIGHTS = ".st-key-qkv_weights_box svg.marks"
TEXT = "[data-testid=stText]"
TARGETS = {16: 1.6, 128: 2.5}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--presses", type=int, default=40, help="per slider (default 40)")
    presses = parser.parse_args().presses
    with serve(EMPTY_APP) as empty, serve() as app, chromium() as browser:
        floor_page = open_tab(browser, empty.url, TEXT)
        for n, target in TARGETS.items():
            page = open_tab(browser, f"{app.url}/qkv_formula?qkv_n={n}", WEIGHTS)
            compare(floor_page, page, n, target, presses)
            page.context.close()


def compare(floor_page: Page, page: Page, n: int, target: float, presses: int) -> None:
    """Press by turns on the empty app and on the page's two sliders, and print the medians."""
    floor = slider(floor_page, "Value")
    seed, length = slider(page, "Seed"), slider(page, "Sequence length")
    times: dict[str, list[float]] = {"empty app": [], "Seed": [], "Sequence length": []}
    for back_and_forth in islice(cycle(["ArrowLeft", "ArrowRight"]), presses):
        times["empty app"].append(press(floor_page, floor, back_and_forth, TEXT))
        times["Seed"].append(press(page, seed, "ArrowRight", WEIGHTS))
        times["empty app"].append(press(floor_page, floor, back_and_forth, TEXT))
        times["Sequence length"].append(press(page, length, back_and_forth, WEIGHTS))
    base = statistics.median(times["empty app"])
    print(f"T = {n}, target {target:.1f} times the empty app")
    for name, measured in times.items():
        ratio = statistics.median(measured) / base
        print(f"  {name:18} {summary(measured)}  {ratio:.2f}x", flush=True)


def slider(page: Page, label: str) -> Locator:
    return page.locator(f'input[type=range][aria-label="{label}"]')


def open_tab(browser: Browser, url: str, selector: str) -> Page:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(url)
    page.wait_for_selector(selector)
    wait_until_idle(page)
    return page


if __name__ == "__main__":
    main()
