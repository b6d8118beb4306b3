"""Which heads are shown: those of a sample, or of the file that this learner uploaded.

What a learner uploads lives in the session alone, under no name that another session could ask
for. A file that cannot be read changes nothing: what was shown before stays.
"""

from dataclasses import dataclass

import streamlit as st
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

from attention_core.dashboard import controls
from attention_core.dashboard.controls.url_state import hides_solutions
from attention_core.dashboard.your_tensors.samples import SAMPLES, Sample
from attention_core.dashboard.your_tensors.session_cache import SLOTS
from attention_core.dashboard.your_tensors.tensor_files.limits import (
    MAX_MEGABYTES,
    MAX_POSITIONS,
    TensorFileError,
)
from attention_core.dashboard.your_tensors.tensor_files.loaded import Loaded
from attention_core.dashboard.your_tensors.tensor_files.reading import read_tensors

SAMPLE, OWN = "A sample", "My own file"
_HELD, _PROBLEM, _COUNT = "own_held", "own_problem", "own_count"


@dataclass(frozen=True, eq=False)
class Shown:
    """The tensors, an identity that no other file of this session shares, and the file's name."""

    tensors: Loaded
    identity: str
    file: str


def choose_tensors() -> Shown:
    """Sample or own file: the controls, the messages, and what is to be shown."""
    if controls.segments("Show", (SAMPLE, OWN), key="own_from") == OWN:
        _receive_file()
        if _HELD in st.session_state:
            return _own_file()
        st.caption("Until there is a file to show, you see the sample.")
    title = controls.select("Sample", [sample.title for sample in SAMPLES], key="own_sample")
    return _ask_about(next(sample for sample in SAMPLES if sample.title == title))


def _own_file() -> Shown:
    shown: Shown = st.session_state[_HELD]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(f"Shown below: {shown.file}")
        st.button(
            "Forget my file",
            key="own_forget",
            icon=":material/delete:",
            on_click=_forget,
            args=(_HELD, _PROBLEM, *SLOTS),
        )
    return shown


def _ask_about(sample: Sample) -> Shown:
    st.markdown(f"*Predict first:* {sample.predict}")
    if not hides_solutions():
        with st.expander("The answer", icon=":material/visibility:"):
            st.markdown(sample.answer)
    return Shown(sample.load(), sample.file, sample.file)


def _receive_file() -> None:
    count = st.session_state.get(_COUNT, 0)
    st.markdown(
        "Name the arrays `q`, `k`, `v` and, if you like, `mask`, or one array `weights`; up to "
        "four dimensions (batch, heads, n, d)."
    )
    st.file_uploader(
        "Your tensors: .npz, .npy or .safetensors",
        ["npz", "npy", "safetensors"],
        key=f"own_file_{count}",
        max_upload_size=MAX_MEGABYTES,
        on_change=_read,
        args=(f"own_file_{count}",),
        help=f"Up to {MAX_MEGABYTES} MB, and {MAX_POSITIONS:,} queries and keys. It is shown to "
        "you only, and forgotten when you close this tab.",
    )
    if _PROBLEM in st.session_state:
        with st.container(border=True):
            st.markdown(":material/broken_image: **This file cannot be shown.**")
            st.text(st.session_state[_PROBLEM])


def _read(key: str) -> None:
    """Hold the new tensors, or the sentence that says why there are none; the file itself goes."""
    file = st.session_state.get(key)
    if file is None:
        return
    _forget(_PROBLEM)
    try:
        tensors = read_tensors(file.getvalue())
    except TensorFileError as error:
        st.session_state[_PROBLEM] = f"{file.name}: {error}"
    else:
        _forget(_HELD)
        st.session_state[_HELD] = Shown(tensors, f"own {file.file_id}", file.name)
    _drop(file.file_id)
    st.session_state[_COUNT] = st.session_state.get(_COUNT, 0) + 1  # the next chooser is empty


def _forget(*names: str) -> None:
    for name in names:
        st.session_state.pop(name, None)


def _drop(file_id: str) -> None:
    """Remove the bytes of a file, which Streamlit would keep until the session ends.

    As its own chat input does; there is no public way.
    """
    context = get_script_run_ctx()
    if context and isinstance(context.uploaded_file_mgr, MemoryUploadedFileManager):
        context.uploaded_file_mgr.remove_file(context.session_id, file_id)
