"""What is seen of a specimen, beside what the right implementation does. Never what it is."""

import pandas as pd
import streamlit as st
from torch import Tensor

from attention_core.dashboard.bug_lab.case import Case
from attention_core.dashboard.bug_lab.figures import figure, span
from attention_core.dashboard.charts.bars import bars
from attention_core.dashboard.charts.chart import Chart, show, show_tables
from attention_core.dashboard.charts.heatmap import heatmap
from attention_core.faults import IMPLEMENTATIONS, right
from attention_core.faults.symptoms import Symptoms

HEIGHT = 330


def show_symptoms(case: Case) -> None:
    """Pictures of one sequence and head, then numbers over all, then what they cannot decide."""
    suspect, reference = f"Specimen {case.letter}", "The right one"
    charts: dict[str, Chart] = {}
    for place, (name, found, mask) in zip(
        st.columns(2),
        ((suspect, case.seen, None), (reference, case.reference, case.allowed)),
        strict=True,
    ):
        with place:
            charts |= _show_weights(name, found, mask, case.place)
    if not isinstance(case.seen, str):
        sums = _sums(suspect, case.seen, case.place)
        for place, (title, chart) in zip(st.columns(2), sums.items(), strict=True):
            with place:
                show(chart, key=f"lab_{title.rpartition(' ')[-1]}")
        charts |= sums
    sequence, head = case.place
    st.caption(
        f"The pictures show sequence {sequence}, head {head}; the numbers below are over all "
        "sequences and heads. A grey cell with ✕ is forbidden."
    )
    st.table(symptom_table(case))
    _say_who_is_alike(case)
    show_tables(charts, key="lab_tables")


def symptom_table(case: Case) -> pd.DataFrame:
    """The symptoms in numbers, over all sequences and heads, as text."""
    index = pd.Index(SYMPTOMS, name="Symptom")
    found = {f"Specimen {case.letter}": case.seen, "The right one": case.reference}
    return pd.DataFrame({name: in_numbers(seen) for name, seen in found.items()}, index)


SYMPTOMS = (
    "Sums of the rows",
    "Sums of the columns",
    "Largest weight of a forbidden pair",
    "Largest weight on a later key, the future",
    "Largest weight of a row, on average",
    "Largest difference of an output to PyTorch",
    "Largest change of an earlier output when key and value of the last token change sign",
    "Numbers that are NaN or infinite",
)


def in_numbers(seen: Symptoms | str) -> list[str]:
    """One short text for each of SYMPTOMS; – for each where there is an error instead."""
    if isinstance(seen, str):
        return ["–"] * len(SYMPTOMS)
    return [
        span(seen.row_sums),
        span(seen.column_sums),
        figure(seen.forbidden_weight),
        figure(seen.future_weight),
        figure(seen.mean_largest),
        figure(seen.torch_difference),
        figure(seen.earlier_change),
        str(seen.not_numbers),
    ]


def _say_who_is_alike(case: Case) -> None:
    """The same words for every member of a group: which of them it is stays open."""
    count, most = len(case.alike), len(IMPLEMENTATIONS)
    if right in case.alike and count > 1:
        st.info(
            f"**Under these settings no fault shows.** {count} of the {most} "
            "implementations, the right one among them, give these weights and this output: they "
            "cannot be told apart yet. Change a setting.",
            icon=":material/visibility_off:",
        )
    elif right in case.alike:
        st.info(
            "**No fault shows**, and under these settings every one of the "
            f"{most - 1} faults would show.",
            icon=":material/visibility:",
        )
    elif count > 1:
        st.info(
            f"{count} of the {most} implementations give these weights and this output: they "
            "cannot be told apart yet. Change a setting.",
            icon=":material/visibility_off:",
        )


def _show_weights(
    name: str, found: Symptoms | str, mask: Tensor | None, place: tuple[int, int]
) -> dict[str, Chart]:
    if isinstance(found, str):
        with st.container(border=True, height="stretch"):
            st.markdown(f":material/error: **{name} stops with an error:**")
            st.code(found, language=None, wrap_lines=True)
        return {}
    weights, title = found.weights[place], f"{name}: weights"
    chart = heatmap(
        weights,
        title=title,
        alt_text=f"{title} of sequence {place[0]}, head {place[1]}. The largest is "
        f"{figure(weights.max().item())}, rows sum to {span(weights.sum(-1))}, columns to "
        f"{span(weights.sum(-2))}.",
        mask=mask,
        height=HEIGHT,
    )
    show(chart, key="lab_weights" if mask is None else "lab_reference")
    return {title: chart}


def _sums(name: str, seen: Symptoms, place: tuple[int, int]) -> dict[str, Chart]:
    rows, columns = seen.row_sums[place], seen.column_sums[place]
    by_row = bars(
        rows,
        [f"query {i}" for i in range(len(rows))],
        title=f"{name}: sums of the rows",
        alt_text=f"The rows of weights sum to {span(rows)}.",
        x="query i",
        y="sum over the keys",
        decimals=3,
    )
    by_column = bars(
        columns,
        [f"key {j}" for j in range(len(columns))],
        title=f"{name}: sums of the columns",
        alt_text=f"The columns of weights sum to {span(columns)}.",
        x="key j",
        y="sum over the queries",
        decimals=3,
    )
    return {f"{name}: sums of the rows": by_row, f"{name}: sums of the columns": by_column}
