"""Beyond the lesson: look at the attention of your own model, head by head."""

import streamlit as st
from torch import Tensor

from attention_core import attention, parse_mask_rule
from attention_core.dashboard import controls
from attention_core.dashboard.formula import formula
from attention_core.dashboard.frame import close_page, friendly, open_page
from attention_core.dashboard.lesson import YOUR_TENSORS as PAGE
from attention_core.dashboard.own_heads.all_heads import choose_head, show_all_heads
from attention_core.dashboard.own_heads.computing import overview, rule_tensor
from attention_core.dashboard.own_heads.held_file import Shown, choose_tensors
from attention_core.dashboard.own_heads.one_head import Chosen, show_head
from attention_core.dashboard.own_heads.proof import show_proof
from attention_core.dashboard.own_heads.remembered import remembered
from attention_core.dashboard.own_heads.saving import show_saving
from attention_core.dashboard.source import show_source
from attention_core.dashboard.tensor_files.loaded import Loaded, Weights
from attention_core.head_measures import measure_head
from attention_core.large_heads import head_weights

RULE = "A condition on query i and key j, as in the mask workshop; it joins the mask of the file."


def choose_mask(tensors: Loaded) -> tuple[str, Tensor | None]:
    """The learner's rule and its mask; None for an empty rule, and for one that makes no sense."""
    if isinstance(tensors, Weights):
        st.caption(
            "These weights are finished: no mask can be put on them, as a mask belongs before the "
            "softmax."
        )
        return "", None
    rule = controls.text(
        "Mask by a rule, such as j <= i or abs(i - j) < 3", "", key="own_rule", help=RULE
    ).strip()
    if rule:
        with friendly():
            return rule, rule_tensor(parse_mask_rule(rule), tensors, setting)
    return "", None


def counted(n: int, one: str, several: str = "") -> str:
    """1 head, 2 heads."""
    return f"{n} {one if n == 1 else several or f'{one}s'}"


def look_at(shown: Shown) -> None:
    """All heads, then one of them, then the proof."""
    tensors = shown.tensors
    batch, heads, n_q, n_k = tensors.shape
    st.header("All heads")
    st.markdown(
        f"The file holds {counted(batch, 'batch element')} with {counted(heads, 'head')}, of "
        f"{counted(n_q, 'query', 'queries')} (rows) and {counted(n_k, 'key')} (columns). Which of "
        "the heads look alike, and which stands out?"
    )
    rule, mask = choose_mask(tensors)
    key = (shown.identity, rule, setting)
    with st.spinner("Computing the weights of all heads …", show_time=True):
        found = remembered("own_overview", key, lambda: overview(tensors, mask, setting))
    b, h = choose_head(batch, heads)
    show_all_heads(found, (b, h), n_k)

    st.header("One head")
    head = Chosen(tensors, b, h, mask, setting)
    show_head(head)

    st.subheader("Is it right?")
    show_proof(head, key)


setting = open_page(PAGE)
st.markdown(
    "A transformer layer does not compute attention once, but several times side by side, each "
    "time with other q, k and v. Each of these is called a **head**, and each may look for "
    "something else: the token before, the start of the text, a word of the same kind."
)
formula(r"\text{head}_h = \text{softmax}\!\left(\frac{Q_h K_h^\top}{\sqrt{d_k}}\right) V_h")
st.markdown(
    "Three small files are here to begin with. Then bring the heads of **your own model**: q, k "
    "and v, from which the weights are computed here, or the finished weights."
)
show_saving()
shown = choose_tensors()
with friendly():
    look_at(shown)
show_source(head_weights, attention, measure_head, key="own_source")
close_page(PAGE)
