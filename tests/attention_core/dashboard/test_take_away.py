"""A file is made of what is on screen when it is asked for, and of nothing older."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from attention_core.dashboard import take_away
from attention_core.dashboard.chapter import Chapter, Choice
from attention_core.dashboard.lesson import QKV_FORMULA, RETRIEVAL
from attention_core.dashboard.take_away import Taken
from attention_core.dashboard.weight_files import Matrix

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(take_away, "GRACE", 0)
    monkeypatch.setattr(take_away, "PATIENCE", 0)


def run_of(page, n, *, complete=True) -> Taken:
    taken = Taken(page, "float32", "cpu")
    taken.chapters["One"] = Chapter("One", ("Words.",), (Choice("n", n, "of them"),))
    taken.weights["Weights"] = Matrix(torch.full((1, 2), float(n)))
    if complete:
        taken.complete.set()
    return taken


def n_in(data: bytes) -> int:
    return next(n for n in range(9) if f"n = {n}  # of them" in data.decode())


def test_the_button_of_an_earlier_run_gives_the_latest_state():
    earlier = run_of(QKV_FORMULA, 3)
    runs = {"latest": run_of(QKV_FORMULA, 5)}
    assert n_in(take_away._make(runs, earlier, Taken.notebook)) == 5
    csv = take_away._make(runs, earlier, Taken.csv, "Weights")
    assert csv.endswith("query 0,5.0,5.0\n")


def test_a_fragment_brings_the_run_up_to_date():
    taken = run_of(QKV_FORMULA, 3)
    runs = {"latest": taken}
    taken.chapters["One"] = Chapter("One", ("Words.",), (Choice("n", 4, "of them"),))
    assert n_in(take_away._make(runs, taken, Taken.notebook)) == 4


def test_a_run_that_did_not_end_gives_nothing():
    own = run_of(QKV_FORMULA, 3)
    runs = {"latest": run_of(QKV_FORMULA, 5, complete=False)}
    assert n_in(take_away._make(runs, own, Taken.notebook)) == 3


def test_another_page_gives_nothing():
    own = run_of(QKV_FORMULA, 3)
    assert n_in(take_away._make({"latest": run_of(RETRIEVAL, 5)}, own, Taken.notebook)) == 3


def test_nobody_waits_for_nbformat_before_asking_for_a_notebook():
    code = "import attention_core.dashboard.frame, sys; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert "attention_core.dashboard.take_away" in loaded
    assert "nbformat" not in loaded
    assert "attention_core.dashboard.notebook" not in loaded
