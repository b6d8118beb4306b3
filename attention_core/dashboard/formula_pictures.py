"""The six pictures of the formula, Q, K, scores, weights, V and output, on comparable scales."""

from torch import Tensor

from attention_core.attention import AttentionSteps
from attention_core.dashboard.heatmap import heatmap
from attention_core.dashboard.picture import Picture

LIMIT = 3.0  # of all signed pictures: standard normal numbers rarely leave it


def formula_pictures(
    q: Tensor, k: Tensor, v: Tensor, steps: AttentionSteps, shown: int, chosen: tuple[int, int]
) -> dict[str, Picture]:
    """Pictures of element `shown` of a batch; the weights frame the chosen (query, key).

    The weights come first: they are what the eye waits for, so they should be sent first.
    """
    weights = steps.weights[shown]
    n_q, n_k = weights.shape
    framed = heatmap(
        weights,
        title="Weights = softmax of each row",
        alt_text=f"Weights of {n_q} queries on {n_k} keys. Query {chosen[0]} puts "
        f"{float(weights[chosen]):.1%} of its weight on key {chosen[1]}.",
        chosen=chosen,
        clickable=True,
    )
    return {
        "Weights": framed,
        "Q": _signed(q[shown], "Q", "query i", "dimension"),
        "K": _signed(k[shown], "K", "key j", "dimension"),
        "Scores": _signed(steps.scores[shown], "Scores = QKᵀ / √d_k", "query i", "key j"),
        "V": _signed(v[shown], "V", "key j", "dimension"),
        "Output": _signed(steps.output[shown], "Output = weights · V", "query i", "dimension"),
    }


def _signed(values: Tensor, title: str, rows: str, columns: str) -> Picture:
    n_rows, n_columns = values.shape
    alt_text = (
        f"{title}: {n_rows} rows ({rows}) by {n_columns} columns ({columns}), "
        f"from {float(values.min()):.2f} to {float(values.max()):.2f}."
    )
    return heatmap(
        values,
        title=title,
        alt_text=alt_text,
        scale="signed",
        rows=rows,
        columns=columns,
        limit=LIMIT,
    )
