"""From `streamlit run` to the first painted heatmap, against an empty app that imports torch.

    python -m benchmarks.startup [--rounds 5]

Target: at most 1.3 times. Measured are the Overview, which `streamlit run` opens, and the QKV page,
opened by its address. One more app, an Altair heatmap and nothing else, shows how much of it
Streamlit, Altair and pandas take by themselves.
"""

import argparse
import json
import statistics
import time
from pathlib import Path

from playwright.sync_api import Browser

from benchmarks.browser import APP, EMPTY_APP, TIMEOUT, chromium, serve

IMPORTS_TORCH = EMPTY_APP.with_name("imports_torch.py")
ONE_HEATMAP = EMPTY_APP.with_name("one_heatmap.py")
TARGET = 1.3
# When the first frame with `selector` has been painted, in milliseconds since 1970. It is noted
# inside the page: a question from outside waits until the page has nothing else to do.
STOPWATCH = """
window.painted = new Promise((resolve) => {
    const look = () => {
        if (!document.querySelector(SELECTOR)) return requestAnimationFrame(look);
        const {port1, port2} = new MessageChannel();  // its message comes after this frame
        port1.onmessage = () => resolve(performance.timeOrigin + performance.now());
        port2.postMessage(null);
    };
    look();
});
"""
TEXT, CELL, NUMBER = "[data-testid=stText]", ".mark-rect path", ".mark-text.role-mark text"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="(default 5, after one to warm up)")
    rounds = parser.parse_args().rounds
    apps = {
        "empty app with torch": (IMPORTS_TORCH, "", TEXT),
        "one Altair heatmap": (ONE_HEATMAP, "", CELL),
        "the Overview": (APP, "", NUMBER),
        "the QKV page": (APP, "qkv_formula", NUMBER),
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
    start = time.time()
    with serve(script) as server:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.add_init_script(STOPWATCH.replace("SELECTOR", json.dumps(selector)))
        page.goto(f"{server.url}/{path}", wait_until="commit")
        page.wait_for_selector(selector, timeout=TIMEOUT * 1000)
        painted: float = page.evaluate("window.painted")
        page.context.close()
    return painted / 1000 - start


def rounded(times: list[float]) -> str:
    return "(" + ", ".join(f"{seconds:.2f}" for seconds in times[1:]) + ")"


if __name__ == "__main__":
    main()
