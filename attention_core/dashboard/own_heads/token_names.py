"""Names for positions, from a line that a learner types or pastes: data, shown as text only."""

import re
from collections.abc import Callable

from attention_core.dashboard.words import Tokens

_BETWEEN = re.compile(r"[\s,]+")


def token_names(text: str, n: int) -> tuple[Callable[[int], str], str | None]:
    """The name of each position from 0 to n - 1, as in `4 · the`, and what to say about it.

    Names stand between white space or commas, and may repeat. Positions without one are numbers;
    names without a position are left out.
    """
    words = [word for word in _BETWEEN.split(text) if word]
    tokens = Tokens((*words[:n], *[""] * (n - len(words))), tuple(range(n)))
    if not words or len(words) == n:
        return tokens.position, None
    if len(words) < n:
        left = "1 position has" if n - len(words) == 1 else f"{n - len(words)} positions have"
        return tokens.position, f"{len(words)} of {n} positions are named: {left} a number only."
    return tokens.position, f"There are {n} positions: only the first {n} of {len(words)} are used."
