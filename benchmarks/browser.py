"""A Streamlit server and a Chromium, for the benchmarks, the browser tests and the screenshot."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[1]
APP = ROOT / "streamlit_app.py"
EMPTY_APP = ROOT / "benchmarks" / "apps" / "empty.py"
TIMEOUT = 60  # seconds, for anything that should have happened long before

IDLE = (
    "[data-testid=stApp][data-test-connection-state=CONNECTED][data-test-script-state=notRunning]"
)
SERVER_OPTIONS = (
    "--server.port=0",
    "--server.address=127.0.0.1",
    "--server.headless=true",
    "--server.fileWatcherType=none",
    "--browser.gatherUsageStats=false",
)
CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@dataclass(frozen=True)
class Server:
    """A running server: its address, its process, and the lines that it printed so far."""

    url: str
    pid: int
    log: list[str]


@contextmanager
def serve(script: Path = APP) -> Iterator[Server]:
    """Run `script` on a free port until the block ends. Needs a POSIX system."""
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", str(script), *SERVER_OPTIONS],
        cwd=ROOT,  # where .streamlit/config.toml lies
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,  # a process group of its own: ends whole, and alone
    )
    try:
        assert process.stdout
        log: list[str] = []
        url = None
        for line in process.stdout:
            log.append(line)
            if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                url = found.group()
                break
        if not url:
            raise RuntimeError("The server did not start:\n" + "".join(log))
        # Read on, lest a full pipe stops the server.
        Thread(target=log.extend, args=(process.stdout,), daemon=True).start()
        yield Server(url, process.pid, log)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def find_chromium() -> str | None:
    """The path of an installed Chromium or Chrome: $CHROMIUM, or the first one on the path."""
    names = (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, filter(None, names))), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless Chromium until the block ends."""
    path = find_chromium()
    if not path:
        raise RuntimeError("No Chromium: install it, or set CHROMIUM to the path of one.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(CHROMIUM_FLAGS))
        try:
            yield browser
        finally:
            browser.close()


def wait_until_idle(page: Page) -> None:
    """Wait until the app is connected and its script has come to its end."""
    page.wait_for_selector(IDLE, state="attached", timeout=TIMEOUT * 1000)
