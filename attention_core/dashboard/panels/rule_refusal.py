"""A rule that is refused: the rule as typed, the offending part marked, and what is allowed."""

import unicodedata

import streamlit as st

from attention_core.mask_rules import MaskRuleError

_BEFORE, _AFTER = 30, 20  # characters shown round the part: as many fit on a phone


def show_refusal(rule: str, error: MaskRuleError) -> None:
    """One friendly message. All of the learner's text is shown as text."""
    with st.container(border=True):
        st.markdown(":material/error: **This rule cannot be used yet.**")
        if rule:
            st.code(marked(rule, error.start, error.end), language=None)
        st.text(str(error))


def marked(rule: str, start: int, end: int) -> str:
    """The rule on one line, and below it ^ under each character of the part."""
    first, last = max(0, start - _BEFORE), start + _AFTER
    left = "…" if first else ""
    line = left + "".join(map(_one_place, rule[first:last])) + "…" * (last < len(rule))
    under = sum(map(_width, rule[start : min(end, last)])) or 1
    return f"{line}\n{' ' * (len(left) + sum(map(_width, rule[first:start])))}{'^' * under}"


def _one_place(character: str) -> str:
    """Line breaks, control characters and their like would move what stands below."""
    if character.isspace():
        return " "
    return character if character.isprintable() else "�"


def _width(character: str) -> int:
    """How many places it takes: none for an accent, two for wide letters and emoji."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
