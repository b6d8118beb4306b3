"""Exercise 3, third part: a local window beside a convolution kernel."""

from functools import partial

import streamlit as st
import torch

from attention_core.agreement import compare_with_torch
from attention_core.attention import attention
from attention_core.convolution import toeplitz
from attention_core.dashboard import controls
from attention_core.dashboard.charts.chart import show, show_tables
from attention_core.dashboard.charts.heatmap import heatmap
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.exercises.local_window_notebook import content_section
from attention_core.dashboard.export.page_export import keep
from attention_core.dashboard.export.weight_files import Matrix
from attention_core.dashboard.panels.agreement import show_agreement
from attention_core.dashboard.panels.formula import formula
from attention_core.dashboard.questions.exercise import Question, check, predict
from attention_core.dashboard.tensors import cached_qkv
from attention_core.devices import DTYPES
from attention_core.masks import local, mask_tensor

N, D = 8, 8
KERNEL = (0.25, 0.5, 0.25)
KERNEL_ONLY, ATTENTION_ONLY, BOTH, NEITHER = (
    "Only the kernel's",
    "Only attention's",
    "Both",
    "Neither",
)

CONTENT = Question(
    "ex_window_content",
    "The content moves by one position: whose weights change",
    (
        "Where do the numbers in the kernel come from? Which of them depends on the tokens?",
        "And the weights of attention: what are they computed from, once the mask has spoken?",
        "The mask says *where* attention may look. How much weight goes there is up to q·k.",
    ),
)
FEEDBACK = {
    KERNEL_ONLY: "It is the other way round: the kernel's numbers are the same for every input.",
    ATTENTION_ONLY: "The kernel's numbers are parameters, attention's come from the tokens.",
    BOTH: "The *output* of both changes. But the kernel's weights are its parameters, they are "
    "the same for every input.",
    NEITHER: "The band stays, for both. Inside it, attention's weights are a softmax of q·k, and "
    "so they go with the tokens.",
}
TASK = (
    "A convolution is a matrix too: its kernel, here "
    f"[{', '.join(map(str, KERNEL))}], repeated along the diagonal. It has the same band as a "
    "local window of width 3. Now all tokens **move on by one position** (the last one becomes "
    "the first). Whose weights change?"
)


def show_fixed_weights(settings: ComputeSettings) -> bool:
    """Predict whose weights move with the content, then move it."""
    st.subheader("Beside a convolution kernel")
    st.markdown(TASK)
    section = partial(content_section, CONTENT.title, TASK)
    keep(section())
    answer = predict(
        CONTENT,
        lambda locked: controls.choice(
            "Which weights change?",
            dict.fromkeys((KERNEL_ONLY, ATTENTION_ONLY, BOTH, NEITHER), ""),
            key=f"{CONTENT.key}_guess",
            disabled=locked,
        ),
    )
    if answer is None:
        return False
    moved_by_one = _largest_changes(settings, seed=0, shift=1)
    guess = answer.guess
    verdict = check(
        CONTENT,
        answer,
        said=f"“{guess}”",
        right=guess == ATTENTION_ONLY,
        result=f"the kernel's weights change by {moved_by_one[0]:.0f}, attention's by up to "
        f"{moved_by_one[1]:.2f}",
        feedback="" if guess is None else FEEDBACK[guess],
    )
    st.markdown("Move the content, or take other content. What follows it, and what stays?")
    left, right = st.columns(2, gap="large")
    with left:
        shift = controls.slider("Move all tokens on by", 0, N - 1, 1, key="ex_window_shift")
    with right:
        seed = controls.slider("Content (seed)", 0, 20, 0, key="ex_window_seed")
    _, weights, _ = kernel_and_attention(settings, seed, shift)
    keep(section(guess, verdict, seed, shift), {"Weights in the window": Matrix(weights)})
    _charts(settings, seed, shift)
    st.markdown("**Why.** Both are a weighted sum over the same three neighbours:")
    formula(r"\text{convolution: } w_{ij} = \text{kernel}_{\,j - i + 1}")
    formula(
        r"\text{attention: } w_{ij} = \frac{e^{q_i \cdot k_j / \sqrt{d_k}}}"
        r"{\sum_{|j' - i| \le 1} e^{q_i \cdot k_{j'} / \sqrt{d_k}}}"
    )
    st.markdown(
        "The first depends on $j - i$ alone, so it repeats itself along every diagonal. The second "
        "depends on what stands at $i$ and $j$. At the ends they differ once more: the kernel runs "
        "into zeros outside the sequence, so its row sums to "
        f"{sum(KERNEL[1:])}, while the softmax shares out 1 among the two keys that are left."
    )
    return True


def kernel_and_attention(
    settings: ComputeSettings, seed: int, shift: int
) -> tuple[torch.Tensor, torch.Tensor, tuple[torch.Tensor, ...]]:
    """Weights of the kernel and of local attention (N, N), and q, k, v (N, D) moved by shift."""
    mask = mask_tensor(local(3), N, N, device=settings.device)
    tensors = cached_qkv(1, N, N, D, seed, settings.dtype, settings.device)
    q, k, v = (tensor[0].roll(shift, dims=0) for tensor in tensors)
    kernel = torch.tensor(KERNEL, device=settings.device, dtype=DTYPES[settings.dtype])
    _, weights = attention(q, k, v, mask)
    return toeplitz(kernel, N), weights, (q, k, v)


def _largest_changes(settings: ComputeSettings, seed: int, shift: int) -> tuple[float, float]:
    before = kernel_and_attention(settings, seed, 0)
    after = kernel_and_attention(settings, seed, shift)
    kernel, weights = after[0] - before[0], after[1] - before[1]
    return kernel.abs().max().item(), weights.abs().max().item()


def _charts(settings: ComputeSettings, seed: int, shift: int) -> None:
    kernel, weights, (q, k, v) = kernel_and_attention(settings, seed, shift)
    mask = mask_tensor(local(3), N, N, device=settings.device)
    changes = _largest_changes(settings, seed, shift)
    charts = {
        "Kernel": heatmap(
            kernel,
            title="The convolution's matrix",
            alt_text=f"The kernel {KERNEL} in every row, the same along each diagonal, whatever "
            "the content.",
            mask=mask,
        ),
        "Attention": heatmap(
            weights,
            title="Local attention's weights",
            alt_text=f"The same band with weights that differ from row to row; moved by {shift}, "
            f"they differ by up to {changes[1]:.2f} from those before.",
            mask=mask,
        ),
    }
    for column, (name, chart), change in zip(
        st.columns(2, gap="large"), charts.items(), changes, strict=True
    ):
        with column:
            show(chart, key=f"ex_window_{name.lower()}")
            st.metric("Largest change of a weight by the move", f"{change:.3g}")
    show_tables(charts, key="ex_window_tables")
    output, _ = attention(q, k, v, mask)
    show_agreement(output, compare_with_torch(q, k, v, mask), settings.dtype)
