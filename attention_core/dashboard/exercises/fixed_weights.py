"""Exercise 3, third part: a local window beside a convolution kernel."""

from dataclasses import dataclass
from functools import partial

import streamlit as st
import torch
from torch import Tensor

from attention_core.agreement import Agreement, compare
from attention_core.attention import AttentionSteps, attention_steps
from attention_core.convolution import toeplitz
from attention_core.dashboard import controls
from attention_core.dashboard.charts.chart import show, show_tables
from attention_core.dashboard.charts.heatmap import heatmap
from attention_core.dashboard.compute_settings import ComputeSettings
from attention_core.dashboard.exercises.local_window_notebook import content_section
from attention_core.dashboard.export.page_export import keep_section
from attention_core.dashboard.export.weight_files import Matrix
from attention_core.dashboard.panels.agreement import show_agreement
from attention_core.dashboard.panels.formula import formula
from attention_core.dashboard.questions.ask import check, predict
from attention_core.dashboard.questions.question import Question
from attention_core.dashboard.questions.verdict import Verdict, judged
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
    keep_section(section())
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
    still, moved = (kernel_and_attention(settings, 0, shift) for shift in (0, 1))
    moved_by_one = moved.changes(still)
    guess = answer.guess
    verdict = check(
        CONTENT,
        answer,
        judge(guess, moved_by_one),
        said=f"“{guess}”",
        result=f"the kernel's weights change by {moved_by_one[0]:.0f}, attention's by up to "
        f"{moved_by_one[1]:.2f}",
    )
    st.markdown("Move the content, or take other content. What follows it, and what stays?")
    left, right = st.columns(2, gap="large")
    with left:
        shift = controls.slider("Move all tokens on by", 0, N - 1, 1, key="ex_window_shift")
    with right:
        seed = controls.slider("Content (seed)", 0, 20, 0, key="ex_window_seed")
    both = kernel_and_attention(settings, seed, shift)
    weights = Matrix(both.steps.weights)
    keep_section(section(guess, verdict, seed, shift), {"Weights in the window": weights})
    changes = both.changes(kernel_and_attention(settings, seed, 0))
    _show_both(both, changes, shift, settings)
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


def judge(guess: str | None, changes: tuple[float, float]) -> Verdict:
    """The guess against the changes of the kernel's weights and of attention's."""
    if guess is None:
        return Verdict(None, "")
    moved = changes[0] > 0, changes[1] > 0
    answers = {
        (True, False): KERNEL_ONLY,
        (False, True): ATTENTION_ONLY,
        (True, True): BOTH,
        (False, False): NEITHER,
    }
    usual = answers[moved] == ATTENTION_ONLY
    return judged(guess == answers[moved], FEEDBACK[guess] if usual else "")


@dataclass(frozen=True, eq=False)
class SideBySide:
    """A convolution's matrix (N, N), and local attention over the same neighbours."""

    kernel: Tensor
    steps: AttentionSteps
    agreement: Agreement
    mask: Tensor

    def changes(self, earlier: "SideBySide") -> tuple[float, float]:
        """The largest change of a weight since then: of the kernel's, and of attention's."""
        kernel, weights = self.kernel - earlier.kernel, self.steps.weights - earlier.steps.weights
        return kernel.abs().max().item(), weights.abs().max().item()


def kernel_and_attention(settings: ComputeSettings, seed: int, shift: int) -> SideBySide:
    """Both over the tokens of this seed, moved on by `shift` positions."""
    mask = mask_tensor(local(3), N, N, device=settings.device)
    tensors = cached_qkv(1, N, N, D, seed, settings.dtype, settings.device)
    q, k, v = (tensor[0].roll(shift, dims=0) for tensor in tensors)
    kernel = torch.tensor(KERNEL, device=settings.device, dtype=DTYPES[settings.dtype])
    steps = attention_steps(q, k, v, mask)
    return SideBySide(toeplitz(kernel, N), steps, compare(steps, q, k, v, mask), mask)


def _show_both(
    both: SideBySide, changes: tuple[float, float], shift: int, settings: ComputeSettings
) -> None:
    charts = {
        "Kernel": heatmap(
            both.kernel,
            title="The convolution's matrix",
            alt_text=f"The kernel {KERNEL} in every row, the same along each diagonal, whatever "
            "the content.",
            mask=both.mask,
        ),
        "Attention": heatmap(
            both.steps.weights,
            title="Local attention's weights",
            alt_text=f"The same band with weights that differ from row to row; moved by {shift}, "
            f"they differ by up to {changes[1]:.2f} from those before.",
            mask=both.mask,
        ),
    }
    for column, (name, chart), change in zip(
        st.columns(2, gap="large"), charts.items(), changes, strict=True
    ):
        with column:
            show(chart, key=f"ex_window_{name.lower()}")
            st.metric("Largest change of a weight by the move", f"{change:.3g}")
    show_tables(charts, key="ex_window_tables")
    show_agreement(both.steps.output.shape, both.agreement, settings.dtype)
