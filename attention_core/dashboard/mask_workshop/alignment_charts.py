"""What the two alignments look like, and the part of the whole that one of them must give."""

from torch import Tensor

from attention_core.dashboard.charts.chart import Chart
from attention_core.dashboard.charts.heatmap import heatmap
from attention_core.masks import causal, mask_tensor


def weights_heatmap(name: str, weights: Tensor, mask: Tensor) -> Chart:
    """The weights (n_q, n_k) under one of the two causal masks, by its name."""
    seen = ", ".join(str(int(count)) for count in mask.sum(-1))
    return heatmap(
        weights,
        title=f"{name}: weights",
        alt_text=f"Weights, causal {name.lower()}. Number of keys that each query sees: {seen}.",
        mask=mask,
        height=300,
        colour_bar=False,
    )


def last_rows_chart(weights: Tensor, n: int) -> Chart:
    """The last rows (n_q, n) of the causal weights of all n tokens."""
    n_q = len(weights)
    return heatmap(
        weights,
        title="All at once: last rows",
        alt_text=f"Causal weights of the whole sequence of {n} tokens, the last {n_q} rows only.",
        rows="token",
        row_labels=[str(token) for token in range(n - n_q, n)],
        mask=mask_tensor(causal, n, n)[-n_q:],
        height=300,
        colour_bar=False,
    )
