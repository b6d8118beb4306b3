"""Where a learner's mask differs from the one that is wanted, cell by cell."""

from torch import Tensor


def wrong_cells(mask: Tensor, target: Tensor) -> str:
    """The first wrong cell by name, and how many there are; at least one must be wrong."""
    i, j = first_wrong_cell(mask, target) or (0, 0)
    must = "must be allowed to attend" if target[i, j] else "must not attend"
    wrong = int((mask != target).sum())
    verb = "differs" if wrong == 1 else "differ"
    return f"Query {i} {must} to key {j}. {wrong} of {mask.numel()} cells {verb}."


def first_wrong_cell(mask: Tensor, target: Tensor) -> tuple[int, int] | None:
    """The first cell (i, j) in reading order where the mask differs from the target."""
    wrong = (mask != target).nonzero().tolist()
    return (wrong[0][0], wrong[0][1]) if wrong else None
