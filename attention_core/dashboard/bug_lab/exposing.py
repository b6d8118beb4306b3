"""Which change of the conditions would tell two implementations apart."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

from attention_core.dashboard.bug_lab.conditions import MASKS, MOST_TOKENS, Conditions
from attention_core.faults import Implementation
from attention_core.faults.telling_apart import indistinguishable


def exposing_change(one: Implementation, other: Implementation, now: Conditions) -> str:
    """The smallest change of `now` under which the two differ, in words; "" if none is known."""
    for change in _changes(now):
        changed = replace(now, **change)
        if not indistinguishable(one, [other], *changed.inputs()):
            return " and ".join(_in_words(name, value) for name, value in change.items())
    return ""


def _changes(now: Conditions) -> Iterator[dict[str, Any]]:
    """Single changes first, then two at once; what is there already is no change."""
    single: list[dict[str, Any]] = [
        {"heads": 2},
        {"d_k": 8},
        *[{"mask": mask} for mask in MASKS],
        {"batch": 2},
        {"batch": 3},
        *[{"n": n} for n in (5, MOST_TOKENS) if n > now.n],
        {"dtype": "float16"},
    ]
    single = [
        change for change in single if any(getattr(now, key) != change[key] for key in change)
    ]
    yield from single
    for first, second in combinations(single, 2):
        if not first.keys() & second.keys():
            yield {**first, **second}


def _in_words(name: str, value: Any) -> str:
    words = {
        "heads": f"{value} heads",
        "d_k": f"d_k = {value}",
        "mask": f"the mask *{value}*",
        "batch": f"{value} sequences",
        "n": f"{value} tokens in a sequence",
        "dtype": f"the dtype {value}",
    }
    return words[name]
