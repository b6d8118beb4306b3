"""Make the picture of the README from the running app.

python -m scripts.screenshot
"""

from benchmarks.browser import ROOT, chromium, serve, wait_until_idle

TARGET = ROOT / "docs" / "screenshot.png"
ALL_DRAWN = """document.querySelectorAll('[data-testid=stVegaLiteChart] svg.marks').length >= 6
    && !document.querySelector('[data-testid=stSkeleton]')"""


def main() -> None:
    with serve() as app, chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 1040}, color_scheme="light")
        page.goto(f"{app.url}/qkv_formula")
        page.wait_for_function(ALL_DRAWN)
        wait_until_idle(page)
        page.locator(".katex-display").first.evaluate("(formula) => formula.scrollIntoView()")
        TARGET.parent.mkdir(exist_ok=True)
        page.screenshot(path=TARGET)
    print(f"{TARGET.relative_to(ROOT)}: {TARGET.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
