"""The learner's own picture: chosen here, made small, and kept in the session that sent it."""

import streamlit as st
from torch import Tensor

from attention_core.dashboard.causal_masking.image_file import MAX_MEGABYTES, decode_image


def learner_image(key: str) -> Tensor | None:
    """A file chooser, and the picture that the learner chose with it; None until there is one.

    The picture stays in the session when the learner changes the page and returns.
    """
    st.file_uploader(
        "Your picture: PNG or JPEG",
        ["png", "jpg", "jpeg"],
        key=f"{key}_file",
        max_upload_size=MAX_MEGABYTES,
        on_change=_receive,
        args=(key,),
        help="It is made small, shown to you only, and forgotten when you close this tab.",
    )
    held = st.session_state.get(f"{key}_held")
    if isinstance(held, str):
        st.warning(held, icon=":material/broken_image:")
    return held if isinstance(held, Tensor) else None


def _receive(key: str) -> None:
    """Keep the new picture, or the sentence that says why there is none."""
    file = st.session_state.get(f"{key}_file")
    held: Tensor | str | None = None
    if file is not None:
        try:
            held = decode_image(file.getvalue())
        except ValueError as error:
            held = str(error)
    st.session_state[f"{key}_held"] = held
