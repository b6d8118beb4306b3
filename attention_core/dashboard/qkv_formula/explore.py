"""The formula to play with: sliders, six charts, one weight retold, and the proof."""

import streamlit as st

from attention_core.agreement import compare
from attention_core.attention import attention_steps
from attention_core.dashboard import controls
from attention_core.dashboard.charts.chart import show, show_tables, yield_to_browser
from attention_core.dashboard.charts.heatmap import MARKED_CELLS
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.export.page_export import keep_section
from attention_core.dashboard.export.weight_files import Matrix
from attention_core.dashboard.panels.agreement import show_agreement, show_overflow
from attention_core.dashboard.qkv_formula.cell_story import show_cell_story
from attention_core.dashboard.qkv_formula.formula_charts import signed_charts, weights_heatmap
from attention_core.dashboard.qkv_formula.notebook import formula_section
from attention_core.dashboard.tensors import MAX_BATCH, MAX_D, MAX_N, cached_qkv
from attention_core.trace import trace_steps

KEY = 4  # to begin with: query 0 gives it most of its weight
SEED = "Where the random numbers start: the same seed gives the same Q, K and V everywhere."


def choose_batch() -> tuple[int, int, int | None]:
    """How many sequences, which of them is shown, and how many keys if they are of another one."""
    with st.expander("Batch, and keys of another sequence", icon=":material/tune:"):
        st.markdown(
            "A batch is several sequences, computed at once. The pictures show one of them."
        )
        batch = controls.slider("Batch size", 1, MAX_BATCH, 2, key="qkv_batch")
        shown = controls.position("Element of the batch to show", batch, key="qkv_b")
        cross = controls.toggle("Keys of another sequence", key="qkv_cross")
        n_k = controls.slider("Number of keys", 1, MAX_N, 7, key="qkv_nk") if cross else None
    return batch, shown, n_k


@st.fragment
def follow_the_formula(
    settings: ComputeSettings,
    words: tuple[str, ...],
    batch: int,
    shown: int,
    other_n_k: int | None,
) -> None:
    """Sliders, charts, numbers. What the slider's chart need not wait for comes after it."""
    first, second, third = st.columns(3)
    with first:
        label = "Number of queries" if other_n_k else "Sequence length"
        n_q = controls.slider(label, 1, MAX_N, 5, key="qkv_n")
    with second:
        d_k = controls.slider("Dimensions d_k", 1, MAX_D, 8, key="qkv_d")
    with third:
        seed = controls.slider("Seed", 0, 99, 0, key="qkv_seed", help=SEED)
    n_k = other_n_k or n_q
    q, k, v = cached_qkv(batch, n_q, n_k, d_k, seed, settings.dtype, settings.device)
    steps = attention_steps(q, k, v)
    head = steps[shown]

    choice, above, below = st.container(horizontal=True), st.columns(3), st.columns(3)
    chosen = (
        controls.position_to_be(n_q, key="qkv_i"),
        controls.position_to_be(n_k, key="qkv_j", default=KEY),
    )
    weights = weights_heatmap(head.weights, chosen)
    with below[0].container(key="qkv_weights_box"):
        show(weights, key="qkv_weights", on_select=_choose_cell)
    yield_to_browser()

    signed = signed_charts(q[shown], k[shown], v[shown], head.scores, head.output)
    charts = {"Weights": weights, **dict(signed)}
    agreement = compare(steps, q, k, v)
    sizes = {"batch": batch, "shown": shown, "n_q": n_q, "n_k": n_k, "d_k": d_k, "seed": seed}
    keep_section(formula_section(words, **sizes, chosen=chosen), {"Weights": Matrix(head.weights)})

    with choice:
        i = controls.position("Look at query i", n_q, key="qkv_i")
        j = controls.position("and key j", n_k, key="qkv_j", default=KEY)
    for place, name in zip((*above, *below[1:]), ("Q", "K", "Scores", "V", "Output"), strict=True):
        with place:
            show(charts[name], key=f"qkv_{name.lower()}")
    click = ", or click on it" if n_q * n_k <= MARKED_CELLS else ""
    st.markdown(
        f"Query {i} puts **{100 * float(head.weights[i, j]):.1f} %** of its weight on key "
        f"{j}; an even share among {n_k} {'keys' if n_k > 1 else 'key'} is {100 / n_k:.3g} %. "
        f"Where does this number come from? Choose another one in the lists above{click}."
    )
    if controls.toggle("Show how this weight comes about", key="qkv_story"):
        trace = trace_steps(head, q[shown], k[shown], v[shown], i, j)
        show_cell_story(trace, q[shown], k[shown], key="qkv")

    st.subheader("Is it right?")
    if batch > 1:
        st.markdown(f"For all {batch} sequences of the *batch*, of which the pictures show one:")
    show_overflow(steps.overflow, settings.dtype)
    show_agreement(steps.output.shape, agreement, settings.dtype)
    show_tables(charts, key="qkv_tables")


def _choose_cell() -> None:
    """A click on the weights moves the two selectors."""
    for cell in st.session_state["qkv_weights"]["selection"]["cell"]:
        st.session_state["qkv_i"], st.session_state["qkv_j"] = cell["i"], cell["j"]
        st.session_state["qkv_story"] = True
