"""What the names mean, and what is told once the fault is out: its lines, its story, its source."""

import streamlit as st

from attention_core.dashboard.bug_lab.difference import repair
from attention_core.dashboard.bug_lab.names import NAMES
from attention_core.dashboard.bug_lab.stories import STORIES
from attention_core.dashboard.panels.source import show_source
from attention_core.faults import Implementation


def explain(truth: Implementation) -> None:
    """The repair as a diff, why people write it, how to notice it, and the whole source."""
    story, difference = STORIES[truth], repair(truth)
    if difference:
        st.markdown("**The repair.** − stands in the specimen, + in the right one:")
        # As plain text: the theme's colours for a diff are too pale to project.
        st.code(difference, language=None)
    else:
        st.markdown("**No repair.** Line by line, this is the right implementation.")
    st.markdown(f"**Why people write it.** {story.why}")
    st.markdown(f"**How to notice it in your own code.** {story.notice}")
    if story.hides:
        st.markdown(f"**When it does not show.** {story.hides}")
    show_source(truth, key="lab_source")


def explain_the_names() -> None:
    """One sentence for each diagnosis, behind a fold."""
    fold = st.expander(
        "What the thirteen names mean",
        icon=":material/menu_book:",
        key="lab_meanings",
        on_change="rerun",
    )
    with fold:
        if fold.open:
            for name in NAMES.values():
                st.markdown(f"**{name.short}.** {name.meaning}")
