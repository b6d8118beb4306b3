"""A page on screen and what its buttons give: the notebook, run far from the project, and files."""

import ast
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from symtable import symtable
from typing import Any

import nbformat
import numpy as np
import pyarrow as pa
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from attention_core.dashboard.export import page_export
from attention_core.dashboard.lesson import PAGES

ROOT = Path(__file__).parents[2]
RUNNER = Path(__file__).with_name("notebook_runner.py")
LIBRARIES = {"torch", "numpy", "altair", "pandas", *sys.stdlib_module_names}
DOWNLOAD_BUTTON = st.download_button
AGREEMENT = ("agreement.row_sum_deviation", "agreement.torch_difference")
File = tuple[str, bytes]  # name and content
State = tuple[str, Mapping[str, Any]]  # page, and what its link says


@dataclass
class PageExport:
    """A page on screen, and what its buttons gave."""

    app: AppTest
    notebook: bytes
    files: dict[str, Callable[[], Any]]

    def cells(self, kind: str) -> list[str]:
        found = json.loads(self.notebook)["cells"]
        return ["".join(cell["source"]) for cell in found if cell["cell_type"] == kind]


def take(
    state: State, *, monkeypatch: pytest.MonkeyPatch, upload: File | None = None
) -> PageExport:
    """Open a page by a link, open its fold, and press the button for the notebook."""
    file, query = state
    files: dict[str, Callable[[], Any]] = {}

    def noted(label: str, data: Callable[[], Any], *arguments: Any, **named: Any) -> bool:
        files[named["key"]] = data
        return DOWNLOAD_BUTTON(label, data, *arguments, **named)

    monkeypatch.setattr(page_export, "GRACE", 0)
    monkeypatch.setattr(st, "download_button", noted)
    prefix = next(page.prefix for page in PAGES if page.file.endswith(file))
    app = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=60).run()
    if file != "streamlit_app.py":
        app.switch_page(f"pages/{file}")
    for key, value in query.items():
        app.query_params[key] = value
    app.run()
    if upload:
        app.file_uploader[0].set_value((*upload, "")).run()
    app.selectbox(key="dtype").set_value(query.get("dtype", "float32"))
    app.session_state[f"{prefix}_files"] = True
    app.run()
    assert not app.exception
    return PageExport(app, files[f"{prefix}_notebook"](), files)


def take_all(states: Mapping[str, State], uploads: Mapping[str, File]) -> dict[str, PageExport]:
    """The pages in these states, by name."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        return {
            name: take(state, monkeypatch=monkeypatch, upload=uploads.get(name))
            for name, state in states.items()
        }


def run_all(
    export: Mapping[str, PageExport],
    probes: Mapping[str, Mapping[str, str]],
    uploads: Mapping[str, File],
    folder: Path,
) -> dict[str, dict[str, Any]]:
    """What the notebooks printed and computed, in a folder that holds the learner's files."""
    jobs = []
    for number, (name, page) in enumerate(export.items()):
        path = folder / f"{number}.ipynb"
        path.write_bytes(page.notebook)
        jobs.append([str(path), probes[name]])
    for file, data in uploads.values():
        (folder / file).write_bytes(data)
    process = subprocess.run(
        [sys.executable, "-I", str(RUNNER)],
        input=json.dumps(jobs),
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr[-3000:]
    return dict(zip(export, json.loads(process.stdout), strict=True))


def values(ran: dict[str, dict[str, Any]], name: str) -> dict[str, Any]:
    found: dict[str, Any] = ran[name]["values"]
    return found


def imported(source: str) -> set[str]:
    """The roots of all modules that a piece of code imports."""
    nodes = list(ast.walk(ast.parse(source)))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    return {name.partition(".")[0] for name in names}


def metrics(app: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in app.metric}


def matrix(app: AppTest, title: str) -> list[list[float]]:
    """The numbers of the heatmap with this title, as they went to the browser."""
    for chart in app.get("vega_lite_chart"):
        if json.loads(chart.proto.spec).get("title") == title:
            [dataset] = chart.proto.datasets
            data = pa.ipc.open_stream(BytesIO(dataset.data.data)).read_pandas()
            cells: list[list[float]] = data.pivot(index="i", columns="j", values="value").values
            return np.asarray(cells).tolist()
    raise LookupError(title)


def alerts(app: AppTest) -> list[str]:
    return [element.value for kind in ("success", "warning", "info") for element in app.get(kind)]


def alert(app: AppTest, start: str) -> str:
    """The only verdict or result on screen that starts like this."""
    (found,) = (text for text in alerts(app) if start in text)
    return found


def agrees(app: AppTest, found: dict[str, Any]) -> None:
    shown = metrics(app)
    labels = ("Largest |row sum − 1|", "Max abs diff to PyTorch")
    for label, name in zip(labels, AGREEMENT, strict=True):
        assert shown[label] == f"{found[name]:.2e}"


def assert_valid_and_plain(page: PageExport) -> None:
    """A notebook as nbformat wants it, with nothing of this machine, and no foreign imports."""
    notebook = nbformat.reads(page.notebook.decode(), 4)
    nbformat.validate(notebook)
    assert notebook.nbformat_minor >= 5
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    text = page.notebook.decode()
    for personal in (str(ROOT), str(Path.home()), "/tmp", sys.prefix):
        assert personal not in text
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert imported(cell.source) <= LIBRARIES


def assert_no_name_twice(page: PageExport, *, reports: bool) -> None:
    """The library looks its names up when it is called: a cell must not put others there."""
    names: dict[bool, set[str]] = {True: set(), False: set()}  # of the library, of the page
    library = False
    for cell in nbformat.reads(page.notebook.decode(), 4).cells:
        if cell.cell_type == "markdown" and cell.source.startswith("## "):
            library = cell.source.startswith("## The code")
        elif cell.cell_type == "code":
            symbols = symtable(cell.source, cell.id, "exec").get_symbols()
            names[library] |= {symbol.get_name() for symbol in symbols if symbol.is_assigned()}
    assert {"dtype", "device"} <= names[False]
    assert ("report" in names[True]) == reports
    assert not names[True] & names[False]
