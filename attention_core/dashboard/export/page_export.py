"""Take it away: the page as a notebook, its weights and its pictures as files.

A page only notes what it shows. Files are made when a learner asks for one, of what is on screen at
that moment, also where a part of the page ran by itself since (a fragment).
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from threading import Event
from typing import Any

import streamlit as st

from attention_core.dashboard.export.chart_files import offer_charts
from attention_core.dashboard.export.notebook_section import NotebookSection
from attention_core.dashboard.export.weight_files import Matrix, as_csv, as_npy
from attention_core.dashboard.lesson import Page

_RUNS, _LATEST = "take_away", "latest"
# A click on a button also ends the typing in a text field. The page's new run and the request for
# the file then arrive together, and the file must wait for the run.
GRACE, PATIENCE = 0.15, 5.0  # seconds


@dataclass(frozen=True, eq=False)
class PageExport:
    """What one run of a page has shown so far; its fragments go on to bring it up to date."""

    page: Page
    dtype: str
    device: str
    sections: dict[str, NotebookSection] = field(default_factory=dict)
    weights: dict[str, Matrix] = field(default_factory=dict)
    complete: Event = field(default_factory=Event)

    def notebook(self) -> bytes:
        from attention_core.dashboard.export.notebook import to_bytes  # not before it is asked for

        sections = list(self.sections.values())
        return to_bytes(self.page.title, self.page.objective, self.dtype, self.device, sections)

    def csv(self, name: str) -> str:
        return as_csv(self.weights[name])

    def npy(self, name: str) -> bytes:
        return as_npy(self.weights[name])


def begin_export(page: Page, *, dtype: str, device: str) -> None:
    """Note that a page runs from its top."""
    _runs()[_LATEST] = PageExport(page, dtype, device)


def keep_section(section: NotebookSection, weights: Mapping[str, Matrix] | None = None) -> None:
    """Note a part of the page for its notebook, and weights to be saved, by the picture's name.

    A chapter of the same title is replaced, and keeps its place. A part that is drawn without its
    page has no notebook.
    """
    export = _runs().get(_LATEST)
    if export is None:
        return
    export.sections[section.title] = section
    export.weights.update(weights or {})


def offer_export(page: Page) -> None:
    """The button for the notebook, and a fold with all else; nothing if the page kept nothing."""
    runs = _runs()
    export = runs[_LATEST]
    export.complete.set()
    if not export.sections:
        return
    name = page.title.lower().replace(" ", "_")
    st.divider()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            "Take this page away as a notebook",
            partial(_make, runs, export, PageExport.notebook),
            f"attention_{name}.ipynb",
            "application/x-ipynb+json",
            key=f"{page.prefix}_notebook",
            on_click="ignore",
            icon=":material/download:",
        )
        st.caption("As it is now, with its code and checks. It runs without this app.", width=420)
    _offer_files(runs, export, name)


def _runs() -> dict[str, PageExport]:
    """The latest run of this session: files are made where there is no session state to read."""
    runs: dict[str, PageExport] = st.session_state.setdefault(_RUNS, {})
    return runs


def _make(
    runs: dict[str, PageExport],
    export: PageExport,
    make: Callable[..., str | bytes],
    *arguments: Any,
) -> str | bytes:
    """A file of the page's latest run; of the run that drew the button, if there is no later one
    that came to its end."""
    time.sleep(GRACE)
    latest = runs[_LATEST]
    later = latest.page is export.page and latest.complete.wait(PATIENCE) and latest.sections
    return make(latest if later else export, *arguments)


@st.fragment
def _offer_files(runs: dict[str, PageExport], export: PageExport, name: str) -> None:
    prefix = export.page.prefix
    fold = st.expander(
        "Weights and pictures as files",
        icon=":material/folder_zip:",
        key=f"{prefix}_files",
        on_change="rerun",
    )
    with fold:
        if not fold.open:
            return
        kinds: tuple[tuple[str, str, str, Callable[..., str | bytes]], ...] = (
            ("CSV", "csv", "text/csv", PageExport.csv),
            (".npy", "npy", "application/octet-stream", PageExport.npy),
        )
        for number, title in enumerate(export.weights):
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(title, width="stretch")
                for label, ending, mime, make in kinds:
                    st.download_button(
                        label,
                        partial(_make, runs, export, make, title),
                        f"{name}_{title.lower().replace(' ', '_')}.{ending}",
                        mime,
                        key=f"{prefix}_{ending}_{number}",
                        help=f"{title} as {label}",
                        on_click="ignore",
                    )
        st.caption(
            "The pictures above as SVG. For a PNG, use the download button in a picture's corner."
        )
        offer_charts(key=f"{prefix}_pictures")
