"""Beyond the lesson: look at the attention of your own model, head by head."""

import streamlit as st

from first_screen import first_screen

with first_screen():
    from attention_core import attention
    from attention_core.dashboard.lesson import YOUR_TENSORS as PAGE
    from attention_core.dashboard.page import (
        close_page,
        displayed,
        formula,
        keep_section,
        open_page,
        show_source,
        show_value_errors,
    )
    from attention_core.dashboard.your_tensors.all_heads import choose_head, show_all_heads
    from attention_core.dashboard.your_tensors.computing import overview
    from attention_core.dashboard.your_tensors.held_file import Shown, choose_tensors
    from attention_core.dashboard.your_tensors.notebook import head_section
    from attention_core.dashboard.your_tensors.one_head import show_head
    from attention_core.dashboard.your_tensors.own_rule import choose_mask
    from attention_core.dashboard.your_tensors.proof import show_proof
    from attention_core.dashboard.your_tensors.saving import show_saving
    from attention_core.dashboard.your_tensors.selected_head import SelectedHead
    from attention_core.dashboard.your_tensors.session_cache import OVERVIEW, remembered
    from attention_core.dashboard.your_tensors.tensor_files.loaded import Loaded, Projections
    from attention_core.heads.blockwise import weights_blockwise
    from attention_core.heads.measures import measure_head

WHICH = (
    " Which of the heads look alike, and which stands out? Choose one here, or click its picture."
)


def counted(n: int, one: str, several: str = "") -> str:
    """1 head, 2 heads."""
    return f"{n} {one if n == 1 else several or f'{one}s'}"


def about_mask(tensors: Loaded) -> str:
    """Whether the file holds a mask; finished weights say what they are elsewhere."""
    if not isinstance(tensors, Projections):
        return ""
    return " It holds no mask." if tensors.allowed is None else " It also holds a mask."


def look_at(shown: Shown) -> None:
    """All heads, then one of them, then the proof."""
    tensors = shown.tensors
    batch, heads, n_q, n_k = tensors.shape
    st.header("All heads")
    st.markdown(
        f"The file holds {counted(batch, 'batch element')} with {counted(heads, 'head')}, of "
        f"{counted(n_q, 'query', 'queries')} (rows) and {counted(n_k, 'key')} (columns)."
        f"{about_mask(tensors)}{WHICH if batch * heads > 1 else ''}"
    )
    rule, mask = choose_mask(tensors, settings)
    key = (shown.identity, rule, settings)
    with st.spinner("Computing the weights of all heads …", show_time=True):
        found = remembered(OVERVIEW, key, lambda: overview(tensors, mask, settings))
    b, h = choose_head(batch, heads)
    show_all_heads(found, (b, h), (n_q, n_k))

    st.header("One head")
    words = (intro, displayed(head_tex))
    keep_section(head_section(words, tensors, b, h, file=shown.file, rule=rule))
    head = SelectedHead(tensors, b, h, mask, settings)
    show_head(head)

    st.subheader("Is it right?")
    show_proof(head, key)


settings = open_page(PAGE)
intro = (
    "A transformer layer does not compute attention once, but several times side by side, each "
    "time with other q, k and v. Each such computation is called a **head**, and may look for "
    "something else: the token before, the start of the text, a word of the same kind."
)
head_tex = r"\text{head}_h = \text{softmax}\!\left(\frac{Q_h K_h^\top}{\sqrt{d_k}}\right) V_h"
st.markdown(intro)
formula(head_tex)
st.markdown(
    "Three small files are here to begin with, made by a script and not by a trained model. Then "
    "bring the heads of **your own model**: q, k and v, from which the weights are computed here, "
    "or the finished weights."
)
show_saving()
shown = choose_tensors()
with show_value_errors():
    look_at(shown)
show_source(weights_blockwise, attention, measure_head, key="own_source")
close_page(PAGE)
