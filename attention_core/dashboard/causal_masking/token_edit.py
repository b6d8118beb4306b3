"""Another token at one position: the edited q, k, v, and how far each row of the output moves."""

from dataclasses import dataclass
from functools import lru_cache

import altair as alt
import pandas as pd
import torch
from torch import Tensor

from attention_core.attention import attention
from attention_core.dashboard.charts.chart import DATA, Chart, Spec, specification
from attention_core.decoding import replace_token

QKV = tuple[Tensor, Tensor, Tensor]

WITH, WITHOUT = "with the mask", "without the mask"
_COLOURS = ("#2f81f7", "#d9822b")  # both read on white and on the dark page
# The theme gives text marks no colour, and no single one reads on both pages (4.5:1): so ask.
_INK = alt.ExprRef("luminance(background) > 0.2 ? '#111111' : '#fafafa'")
_NUMBERED_ROWS = 10  # as many still show their numbers
_SMALLEST_SEED = 1000  # beyond those of the lesson's tensors, so the new token is really new


@dataclass(frozen=True)
class Moved:
    """What an edit did to the rows of one output."""

    changes: list[float]  # largest |after - before| of each row
    identical: list[bool]  # torch.equal: not a bit of the row is different

    @property
    def rows(self) -> set[int]:
        """The rows that are not what they were."""
        return {row for row, same in enumerate(self.identical) if not same}


def other_token(x: Tensor, position: int, seed: int, strength: float) -> Tensor:
    """A copy of x (n, d) with `strength` times a standard normal row at `position`."""
    drawn = replace_token(x, position, seed=seed)[position]
    return replace_token(x, position, strength * drawn)


def edit(qkv: QKV, position: int, seed: int, strength: float) -> QKV:
    """Copies of q, k, v (n, d) as another token at `position` would make them."""
    first = _SMALLEST_SEED + 3 * seed
    q, k, v = (other_token(x, position, first + i, strength) for i, x in enumerate(qkv))
    return q, k, v


def moved(before: QKV, after: QKV, mask: Tensor | None = None) -> Moved:
    """Attention over (q, k, v) before and after an edit, compared row by row."""
    (q, k, v), (new_q, new_k, new_v) = before, after
    old, new = attention(q, k, v, mask)[0], attention(new_q, new_k, new_v, mask)[0]  # (n, d_v)
    return Moved(
        changes=(new - old).abs().amax(-1).tolist(),
        identical=[torch.equal(a, b) for a, b in zip(old, new, strict=True)],
    )


def change_chart(masked: Moved, unmasked: Moved, position: int) -> Chart:
    """Two bars for each row of the output: how far it moved with the mask, and without."""
    n = len(masked.changes)
    names = [f"{row} (edited)" if row == position else str(row) for row in range(n)]
    series = {WITH: masked, WITHOUT: unmasked}
    records = [
        (
            name,
            label,
            change,
            "0" if same else f"{change:.1e}" if change < 0.01 else f"{change:.2f}",
        )
        for label, result in series.items()
        for name, change, same in zip(names, result.changes, result.identical, strict=True)
    ]
    still, moving = (sum(m.identical[:position]) for m in (masked, unmasked))
    alt_text = (
        f"Largest change of each of the {n} output rows after token {position} was replaced. "
        f"Of the {position} rows before it, {still} are bit-identical with the mask and "
        f"{moving} without it."
    )
    table = pd.DataFrame(
        {
            f"Largest change {WITH}": masked.changes,
            f"Bit-identical {WITH}": masked.identical,
            f"Largest change {WITHOUT}": unmasked.changes,
            f"Bit-identical {WITHOUT}": unmasked.identical,
        },
        pd.Index(names, name="output row i"),
    )
    data = pd.DataFrame(records, columns=["row", "series", "change", "number"])
    return Chart(_spec(n <= _NUMBERED_ROWS), data, alt_text, table)


@lru_cache(maxsize=2)
def _spec(numbered: bool) -> Spec:
    axis = alt.Axis(labelAngle=0, labelOverlap=True, labelFlush=False)
    colour = alt.Scale(domain=[WITH, WITHOUT], range=list(_COLOURS))
    base = alt.Chart(DATA).encode(
        x=alt.X("row:N", sort=None, title="output row i", axis=axis),
        xOffset=alt.XOffset("series:N", sort=[WITH, WITHOUT]),
        y=alt.Y("change:Q", title="largest |change|", axis=alt.Axis(labelFlush=False)),
        tooltip=["row:N", "series:N", "change:Q"],
    )
    legend = alt.Legend(title=None, orient="top", symbolType="square")
    layers = [base.mark_bar().encode(color=alt.Color("series:N", scale=colour, legend=legend))]
    if numbered:
        layers.append(base.mark_text(dy=-7, fontSize=10, color=_INK).encode(text="number:N"))
    title = "How far does each output move?"
    return specification(alt.LayerChart(layer=layers, data=DATA, title=title, height=280))
