"""From `streamlit run` to the first painted heatmap, against an empty app that imports torch.

    python -m benchmarks.startup [--rounds 5]

Target: at most 1.3 times. A third app, one Altair heatmap and nothing else, shows how much of it
Streamlit, Altair and pandas take by themselves.
"""

import argparse
import statistics
import time
from pathlib import Path

from playwright.sync_api import Browser

from benchmarks.browser import APP, EMPTY_APP, TIMEOUT, chromium, serve

IMPORTS_TORCH = EMPTY_APP.with_name("imports_torch.py")
ONE_HEATMAP = EMPTY_APP.with_name("one_heatmap.py")
TARGET = 1.3
TEXT, HEATMAP = "[data-testid=stText]", ".st-key-qkv_weights_box .mark-rect path"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="(default 5, after one to warm up)")
    rounds = parser.parse_args().rounds
    apps = {
        "empty app with torch": (IMPORTS_TORCH, "", TEXT),
        "one Altair heatmap": (ONE_HEATMAP, "", HEATMAP),
        "the QKV page": (APP, "qkv_formula", HEATMAP),
    }
    times: dict[str, list[float]] = {name: [] for name in apps}
    with chromium() as browser:
        for _ in range(rounds + 1):
            for name, (script, path, selector) in apps.items():
                times[name].append(first_paint(browser, script, path, selector))
    medians = {name: statistics.median(measured[1:]) for name, measured in times.items()}
    base = medians["empty app with torch"]
    for name, median in medians.items():
        print(f"{name:22} {median:.2f} s  {rounded(times[name])}  {median / base:.2f}x")
    print(f"target {TARGET}x")


def first_paint(browser: Browser, script: Path, path: str, selector: str) -> float:
    """Seconds from starting a server to the first frame with `selector` in a new browser."""
    start = time.perf_counter()
    with serve(script) as server:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"{server.url}/{path}", wait_until="commit")
        page.wait_for_selector(selector, timeout=TIMEOUT * 1000)
        page.evaluate("() => new Promise(requestAnimationFrame)")
        elapsed = time.perf_counter() - start
        page.context.close()
    return elapsed


def rounded(times: list[float]) -> str:
    return "(" + ", ".join(f"{seconds:.2f}" for seconds in times[1:]) + ")"


if __name__ == "__main__":
    main()
