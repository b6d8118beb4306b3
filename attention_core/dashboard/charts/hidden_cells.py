"""What the mark on a hidden cell means, in words for a caption."""

from attention_core.dashboard.charts.heatmap import MARKED_CELLS


def hidden_cells(n: int) -> str:
    """What the mark on a hidden cell means, in the words of a picture of n by n; "" for one cell.

    Cells are crossed out one by one, and hatched where they are small.
    """
    if n == 1:
        return ""
    cells = "Grey cells with ✕" if n * n <= MARKED_CELLS else "Hatched cells"
    return f"{cells} are hidden: the weight there is exactly 0."
