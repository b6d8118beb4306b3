"""The notebook of the page for one's own tensors: the part in view, and one cell of it."""

from collections.abc import Sequence

from attention_core.dashboard.export.notebook_section import Choice, Code, NotebookSection
from attention_core.heads.blockwise import pool_largest

MOST_NAMED = 64  # positions in view, as many as the picture has cells on each side
VIEW = Code("""
section = weights[top : bottom + 1, left : right + 1]
side = -(-max(section.shape) // 64)  # as many weights on each side share a cell: their largest
hidden = side == 1 and mask is not None
print(f"weight of query {i} on key {j}  {float(weights[i, j]):.9g}")
larger = int((weights[i] > weights[i, j]).sum())
print(f"keys with a larger weight    {larger} of {weights.shape[1]}")
# Charts are shown by way of HTML, which would take a "<" in a name for its own.
named = query_names and key_names and "<" not in "".join([*query_names, *key_names])
weights_chart(
    pool_largest(section, side, side),
    title="Weights in view",
    row_labels=query_names if named else [str(r) for r in range(top, bottom + 1, side)],
    column_labels=key_names if named else [str(c) for c in range(left, right + 1, side)],
    mask=mask[top : bottom + 1, left : right + 1] if hidden else None,
)
""")


def view_section(
    rows: tuple[int, int],
    columns: tuple[int, int],
    cell: tuple[int, int],
    names: tuple[Sequence[str], Sequence[str]],
) -> NotebookSection:
    """The part in view and one cell of it; names of what is in view, where they can be read."""
    (top, bottom), (left, right), (i, j) = rows, columns, cell
    few = max(bottom - top, right - left) < MOST_NAMED
    return NotebookSection(
        "What is in view",
        ("The part of the head that you looked at, and one weight of it.",),
        (
            Choice("top", top, "the first query in view"),
            Choice("bottom", bottom, "the last"),
            Choice("left", left, "the first key in view"),
            Choice("right", right, "the last"),
            Choice("i", i, "the query that you looked at"),
            Choice("j", j, "and the key"),
            Choice("query_names", list(names[0]) if few else [], "of the queries in view"),
            Choice("key_names", list(names[1]) if few else [], "of the keys in view"),
        ),
        (VIEW,),
        (pool_largest,),
    )
