"""From `streamlit run` to the first painted heatmap, against an empty app that imports torch.

    python -m benchmarks.startup [--rounds 5]

Target: at most 1.3 times.
"""

import argparse
import statistics
import time
from pathlib import Path

from playwright.sync_api import Browser

from benchmarks.browser import APP, EMPTY_APP, TIMEOUT, chromium, serve

IMPORTS_TORCH = EMPTY_APP.with_name("imports_torch.py")
TARGET = 1.3
TEXT, HEATMAP = "[data-testid=stText]", ".st-key-qkv_weights_box .mark-rect path"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="(default 5, after one to warm up)")
    rounds = parser.parse_args().rounds
    empty, app = [], []
    with chromium() as browser:
        for _ in range(rounds + 1):
            empty.append(first_paint(browser, IMPORTS_TORCH, "", TEXT))
            app.append(first_paint(browser, APP, "qkv_formula", HEATMAP))
    base, ours = statistics.median(empty[1:]), statistics.median(app[1:])
    print(f"empty app with torch   {base:.2f} s  {rounded(empty)}")
    print(f"first painted heatmap  {ours:.2f} s  {rounded(app)}")
    print(f"ratio {ours / base:.2f}, target {TARGET}")


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
