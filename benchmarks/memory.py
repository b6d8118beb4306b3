"""Memory of the server with one learner and with thirty idle ones.

    python -m benchmarks.memory [--learners 30]

Target: all of them together cost less than 150 MB over the first.
"""

import argparse
import subprocess

from benchmarks.browser import TIMEOUT, chromium, serve, wait_until_idle

TARGET = 150  # MB
WEIGHTS = ".st-key-qkv_weights_box svg.marks"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--learners", type=int, default=30, help="(default 30)")
    learners = parser.parse_args().learners
    with serve() as app, chromium() as browser:
        print(f"server alone  {resident(app.pid):4.0f} MB")
        measured = []
        for learner in range(learners):  # each its own tensors: another seed
            page = browser.new_page()
            page.goto(f"{app.url}/qkv_formula?qkv_seed={learner}")
            page.wait_for_selector(WEIGHTS, timeout=TIMEOUT * 1000)
            wait_until_idle(page)
            measured.append(resident(app.pid))
        print(f"1 learner     {measured[0]:4.0f} MB")
        print(f"{learners} learners   {measured[-1]:4.0f} MB")
        print(f"difference    {measured[-1] - measured[0]:4.0f} MB, target {TARGET}")


def resident(pid: int) -> float:
    """The resident memory of a process in MB."""
    command = ["ps", "-o", "rss=", "-p", str(pid)]
    return int(subprocess.run(command, capture_output=True, check=True).stdout) / 1024


if __name__ == "__main__":
    main()
