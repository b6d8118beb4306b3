"""Painted cells as text, as in "2-4 3-0": read, written, and told in words."""

import re
from collections.abc import Iterable

LIMIT = 900  # characters: every cell of the largest grid
_NAMED = 6  # exceptions are spelled out

Cell = tuple[int, int]


def read_cells(text: str, n_q: int, n_k: int) -> tuple[Cell, ...]:
    """The cells (i, j) inside (n_q, n_k) that the text names, each once, in reading order."""
    named = (re.fullmatch(r"([0-9]{1,3})-([0-9]{1,3})", word) for word in text.split())
    cells = {(int(found[1]), int(found[2])) for found in named if found}
    return tuple(sorted((i, j) for i, j in cells if i < n_q and j < n_k))


def write_cells(cells: Iterable[Cell]) -> str:
    """The cells as text, as many as there is room for."""
    text = " ".join(f"{i}-{j}" for i, j in cells)
    return text if len(text) <= LIMIT else text[:LIMIT].rsplit(" ", 1)[0]


def exceptions_in_words(cells: tuple[Cell, ...]) -> str:
    """Which cells are painted, the first few by name; "" where none is."""
    if not cells:
        return ""
    named = [f"query {i}, key {j}" for i, j in cells[:_NAMED]]
    rest = f" and {len(cells) - _NAMED} more" if len(cells) > _NAMED else ""
    word = "exception" if len(cells) == 1 else "exceptions"
    return f"{len(cells)} painted {word} to the rule: {'; '.join(named)}{rest}."
