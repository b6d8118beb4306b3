"""The six pictures of the formula, Q, K, scores, weights, V and output, on comparable scales.

Their alternative texts hold no live numbers: a chart with a new text is built anew in the browser,
one with new data is only repainted. The page says the number that matters in a sentence.
"""

from collections.abc import Iterator

from torch import Tensor

from attention_core.dashboard.charts.chart import Chart
from attention_core.dashboard.charts.heatmap import heatmap

LIMIT = 3.0  # of all signed pictures: standard normal numbers rarely leave it


def weights_heatmap(weights: Tensor, chosen: tuple[int, int]) -> Chart:
    """The weights (n_q, n_k), with the chosen (query, key) framed and every cell to be clicked."""
    return heatmap(
        weights,
        title="Weights = softmax of each row",
        alt_text="Attention weights: one row for each query, one column for each key. Every row "
        "sums to 1, and bright cells draw the query's attention. The chosen weight is framed.",
        chosen=chosen,
        clickable=True,
    )


def signed_charts(
    q: Tensor, k: Tensor, v: Tensor, scores: Tensor, output: Tensor
) -> Iterator[tuple[str, Chart]]:
    """The other five pictures of one head, by name, in the order of the formula."""
    yield "Q", _signed(q, "Q", "query i", "dimension")
    yield "K", _signed(k, "K", "key j", "dimension")
    yield "Scores", _signed(scores, "Scores = QKᵀ / √d_k", "query i", "key j")
    yield "V", _signed(v, "V", "key j", "dimension")
    yield "Output", _signed(output, "Output = weights · V", "query i", "dimension")


def _signed(values: Tensor, title: str, rows: str, columns: str) -> Chart:
    alt_text = (
        f"{title}: rows are {rows}, columns are {columns}. Red is positive, blue is negative, and "
        "white is 0."
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
