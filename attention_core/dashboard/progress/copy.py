"""Progress to take along: saved as a small file, and taken up from one again."""

import streamlit as st

from attention_core.dashboard.panels.value_errors import show_value_errors
from attention_core.dashboard.progress.file import read_progress, write_progress
from attention_core.dashboard.progress.progress import Progress

_TAKEN_UP = "progress_file_taken_up"
NAME = "attention-lesson-progress.json"


def offer_progress_file() -> None:
    """Offer the progress as a file, and take up one that was saved; what is done here stands."""
    progress = Progress.here()
    with st.expander(
        "Take your progress to another browser", icon=":material/save:", key="overview_copy"
    ):
        st.markdown(
            "Your progress is kept in this browser only. Save it as a small file to go on "
            "elsewhere, or to hand it in. Loading a file adds what it holds; a right answer is "
            "never replaced."
        )
        if progress.entries:
            st.download_button(
                "Save my progress",
                write_progress(progress.entries),
                NAME,
                "application/json",
                icon=":material/download:",
                on_click="ignore",
            )
        file = st.file_uploader(
            "Load a progress file", "json", key="overview_progress_file", max_upload_size=1
        )
        if file is not None:
            with show_value_errors("This file cannot be loaded."):
                entries, others = read_progress(file.getvalue())
                if file.file_id != st.session_state.get(_TAKEN_UP):  # once, lest it undo "Forget"
                    st.session_state[_TAKEN_UP] = file.file_id
                    progress.join(entries)
                    st.rerun()  # the list stands above
                left_out = f" {others} more could not be read." if others else ""
                st.text(f"Answers in this file: {len(entries)}.{left_out}")
