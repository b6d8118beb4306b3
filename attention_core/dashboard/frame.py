"""The frame that every page opens with one call: configuration, menu, device and dtype, reset."""

from base64 import b64encode
from itertools import groupby
from pathlib import Path

import streamlit as st
import torch

from attention_core.dashboard import controls, lesson
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.controls.url_state import UrlState
from attention_core.dashboard.export import page_export
from attention_core.dashboard.lesson import PAGES, Page
from attention_core.dashboard.link_maker import offer_link
from attention_core.dashboard.progress.browser import hear_from_browser, tell_browser
from attention_core.devices import available_devices, resolve_device

torch.set_num_threads(1)  # these tensors are small, and the learners share the cores


# The icon goes with the page: a Material icon, or a file, would take a request of its own.
_PNG = Path(__file__).with_name("icon.png").read_bytes()
ICON = f"data:image/png;base64,{b64encode(_PNG).decode()}"


def arriving(page: Page) -> bool:
    """Whether the learner comes from another page, or from nowhere. Ask before `open_page`."""
    return st.session_state.get("page") != page.file


def open_page(page: Page) -> ComputeSettings:
    """Draw the frame of `page` and return the learner's device and dtype."""
    UrlState.here().begin(page.prefix)
    hear_from_browser()
    st.set_page_config(page_title=f"{page.title} · {lesson.TITLE}", page_icon=ICON, layout="wide")
    with st.sidebar:
        st.caption(lesson.TITLE)
        _menu()
        _carry(page, ("device", "dtype"))
        settings = _computation()
        if st.button("Reset this page", icon=":material/restart_alt:", key=f"{page.prefix}_reset"):
            UrlState.here().reset(page.prefix)
    page_export.begin_export(page, dtype=settings.dtype, device=settings.device)
    st.title(page.title)
    st.markdown(page.objective)
    return settings


def close_page(page: Page) -> None:
    """End the page: what can be taken away, the way on, and for teachers a link to its state."""
    UrlState.here().end(page.prefix)
    tell_browser()
    page_export.offer_export(page)
    following = lesson.next_page(page)
    if following:
        st.page_link(
            following.file, label=f"Next: {following.title}", icon=":material/arrow_forward:"
        )
    else:
        st.page_link(
            lesson.OVERVIEW.file, label="Back to the Overview", icon=":material/arrow_back:"
        )
    offer_link(page)


def _menu() -> None:
    for group, pages in groupby(PAGES, key=lambda page: page.group):
        st.caption(group)
        for page in pages:
            st.page_link(page.file, label=page.title, icon=page.icon)


def _carry(page: Page, keys: tuple[str, ...]) -> None:
    """Keep settings that all pages share when the learner changes the page.

    Streamlit resets a bound control when its page changes; assigning its value keeps it.
    """
    if arriving(page):
        for key in keys:
            if key in st.session_state and key not in st.query_params:
                st.session_state[key] = st.session_state[key]
    st.session_state["page"] = page.file


def _computation() -> ComputeSettings:
    devices = {device.name: device for device in available_devices()}
    instead, fallback = resolve_device(st.query_params.get("device", "cpu"))
    if fallback:  # the control below drops what it does not offer, so remember it
        st.session_state["fallback"] = instead, fallback
    with st.expander("Computation", icon=":material/memory:"):
        name = controls.select("Device", list(devices), key="device")
        dtype = controls.select("Dtype", devices[name].dtypes, key="dtype")
        if devices[name].note:
            st.caption(devices[name].note)
    instead, fallback = st.session_state.get("fallback", ("", ""))
    if name == instead:
        st.warning(fallback, icon=":material/memory:")
    else:  # the learner has chosen another device since
        st.session_state.pop("fallback", None)
    return ComputeSettings(name, dtype)
