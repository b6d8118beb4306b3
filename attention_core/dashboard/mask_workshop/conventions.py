"""The learner's mask in five conventions: runnable code, its trap, and proof that it is right."""

from functools import partial

import streamlit as st

from attention_core.agreement import compare_with_torch
from attention_core.conventions.calls import (
    blocked,
    bottom_right_causal,
    multihead,
    top_left_causal,
)
from attention_core.conventions.comparison import (
    ADDED,
    BOOLEAN,
    CALLS,
    CONVENTIONS,
    FLEX,
    IS_CAUSAL,
    MULTIHEAD,
    cannot_say,
    difference_in,
)
from attention_core.conventions.snippets import snippets
from attention_core.dashboard import controls
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.export.page_export import keep_section
from attention_core.dashboard.mask_workshop.conventions_notebook import convention_section
from attention_core.dashboard.mask_workshop.current_mask import CurrentMask
from attention_core.dashboard.mask_workshop.polarity import show_mix_up
from attention_core.dashboard.panels.source import show_source
from attention_core.dashboard.panels.value_errors import show_value_errors

TRAPS = {
    BOOLEAN: "**True = may attend.** It is this project's convention too. *The trap:* "
    "not every call of PyTorch's reads True this way. Compare the third one.",
    ADDED: "A mask of **numbers** is *added* to the scores: 0 changes nothing, and −∞ becomes the "
    "weight 0. *The trap:* a mask of ones and zeros as floats is added too. It hides nothing: it "
    "moves some scores up by 1.",
    MULTIHEAD: "**True = may not attend**, so the mask goes in as `~mask`. *The trap:* forget the "
    "`~`: what happens then is the question below.",
    IS_CAUSAL: "No mask at all, one word for it. *The trap:* there are **two triangles**. "
    "`is_causal=True` lets both sequences *start* together, `causal_lower_right` lets them *end* "
    "together, as a cache needs it. Where n_q = n_k the two are the same.",
    FLEX: "A **function** of positions, True = may attend, which `torch.compile` builds into "
    "one fast GPU program. *The trap:* positions are tensors here, so `and`, `or`, `not` become "
    "`&`, `|`, `~`, each part in parentheses. What tensors cannot say is looked up in a table. "
    "Without `torch.compile` it warns that it is slow; the numbers are the same.",
}


def show_conventions(current: CurrentMask, settings: ComputeSettings) -> None:
    """One convention at a time, and what happens when two of them are mixed up."""
    st.markdown(
        "One mask, five ways to hand it to PyTorch. Every program below is complete: copy it, run "
        "it, and it prints the output of this page, from the same q, k and v."
    )
    name = controls.segments("Convention", CONVENTIONS, key="work_conv_way")
    st.markdown(TRAPS[name])
    with show_value_errors():
        _show_one(name, current)
    show_source(CALLS[name], key="work_conv_source")
    st.subheader("Mix two of them up")
    show_mix_up(current)


def _show_one(name: str, current: CurrentMask) -> None:
    (n_q, d_k), (n_k, d_v) = current.q.shape, current.v.shape
    if refusal := cannot_say(name, current.mask, d_k, d_v):
        st.info(f"{refusal} So here it has no program.", icon=":material/block:")
        keep_section(convention_section(name, TRAPS[name], None, refusal))
        return
    program = partial(
        snippets,
        current.rule,
        n_q,
        n_k,
        d_k,
        d_v,
        seed=current.seed,
        exceptions=current.exceptions,
        dtype=current.q.dtype,
    )
    st.code(program(device=current.q.device)[name], language="python", wrap_lines=True)
    # A notebook may run where the device is not; a CPU is everywhere.
    keep_section(convention_section(name, TRAPS[name], program(device="cpu")[name]))
    qkv = current.q, current.k, current.v
    with st.spinner("Calling PyTorch…"):  # FlexAttention's first call starts the compiler: 2 s
        difference = difference_in(name, *qkv, current.mask)
    tolerance = compare_with_torch(*qkv, current.mask).tolerance
    agrees = difference <= tolerance
    st.metric("Max abs diff of this call to this page's output", f"{difference:.2e}")
    st.markdown(
        f":green[:material/check_circle:] The same output: rounding explains up to {tolerance:.1e}."
        if agrees
        else f":red[:material/error:] Not the same: rounding explains {tolerance:.1e} only."
    )
    if note := _note(name, current):
        st.markdown(note)


def _note(name: str, current: CurrentMask) -> str:
    """What is special about this mask in this convention; "" if nothing is."""
    fully_masked = int((~current.mask.any(-1)).sum())
    if name == MULTIHEAD and fully_masked:
        weighted = multihead(
            current.q, current.k, current.v, blocked(current.mask), need_weights=True
        )
        poisoned = int(weighted.isnan().any(-1).sum())
        return (
            f"**Dead rows:** {fully_masked} of your queries may attend to nothing. With "
            "`need_weights=False` their output is 0. Leave that out, as most people do, and "
            f"{poisoned} rows of the output are NaN."
        )
    if name == IS_CAUSAL:
        n_q, n_k = current.mask.shape
        starts, ends = top_left_causal(current.mask), bottom_right_causal(current.mask)
        if starts and ends:
            return f"With {n_q} queries and {n_k} keys, your mask is both triangles."
        if starts:
            return "Your mask is the top-left triangle. `causal_lower_right` would be another mask."
        warned = " PyTorch warns of NaN here; current versions give 0." if n_q > n_k else ""
        other = "`is_causal=True` would be another mask."
        return f"Your mask is the bottom-right triangle. {other}{warned}"
    return ""
