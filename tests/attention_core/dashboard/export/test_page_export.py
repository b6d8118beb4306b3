"""A file is made of what is on screen when it is asked for, and of nothing older."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from attention_core.dashboard.export import page_export
from attention_core.dashboard.export.notebook_section import Choice, NotebookSection
from attention_core.dashboard.export.page_export import PageExport
from attention_core.dashboard.export.weight_files import Matrix
from attention_core.dashboard.lesson import QKV_FORMULA, RETRIEVAL

ROOT = Path(__file__).parents[4]


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(page_export, "GRACE", 0)
    monkeypatch.setattr(page_export, "PATIENCE", 0)


def run_of(page, n, *, complete=True) -> PageExport:
    export = PageExport(page, "float32", "cpu")
    export.sections["One"] = NotebookSection("One", ("Words.",), (Choice("n", n, "of them"),))
    export.weights["Weights"] = Matrix(torch.full((1, 2), float(n)))
    if complete:
        export.complete.set()
    return export


def n_in(data: str | bytes) -> int:
    assert isinstance(data, bytes)
    return next(n for n in range(9) if f"n = {n}  # of them" in data.decode())


def test_the_button_of_an_earlier_run_gives_the_latest_state():
    earlier = run_of(QKV_FORMULA, 3)
    runs = {"latest": run_of(QKV_FORMULA, 5)}
    assert n_in(page_export._make(runs, earlier, PageExport.notebook)) == 5
    csv = page_export._make(runs, earlier, PageExport.csv, "Weights")
    assert isinstance(csv, str) and csv.endswith("query 0,5.0,5.0\n")


def test_a_fragment_brings_the_run_up_to_date():
    export = run_of(QKV_FORMULA, 3)
    runs = {"latest": export}
    export.sections["One"] = NotebookSection("One", ("Words.",), (Choice("n", 4, "of them"),))
    assert n_in(page_export._make(runs, export, PageExport.notebook)) == 4


def test_a_run_that_did_not_end_gives_nothing():
    own = run_of(QKV_FORMULA, 3)
    runs = {"latest": run_of(QKV_FORMULA, 5, complete=False)}
    assert n_in(page_export._make(runs, own, PageExport.notebook)) == 3


def test_another_page_gives_nothing():
    own = run_of(QKV_FORMULA, 3)
    assert n_in(page_export._make({"latest": run_of(RETRIEVAL, 5)}, own, PageExport.notebook)) == 3


def test_nobody_waits_for_nbformat_before_asking_for_a_notebook():
    code = "import attention_core.dashboard.frame, sys; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert "attention_core.dashboard.export.page_export" in loaded
    assert "nbformat" not in loaded
    assert "attention_core.dashboard.export.notebook" not in loaded
