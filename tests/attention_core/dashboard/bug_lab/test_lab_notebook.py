"""No notebook of the bug lab tells which fault a specimen has, before it is out."""

import ast

import pytest

from attention_core.dashboard.bug_lab.case import Case, examine
from attention_core.dashboard.bug_lab.conditions import MASKS, Conditions
from attention_core.dashboard.bug_lab.diagnosis_notebook import diagnosis_section
from attention_core.dashboard.bug_lab.names import NAMES
from attention_core.dashboard.bug_lab.specimens import LETTERS, behind
from attention_core.dashboard.bug_lab.symptoms_notebook import symptoms_section
from attention_core.dashboard.export.notebook import to_bytes
from attention_core.dashboard.export.notebook_section import Code, NotebookSection


def case(letter: str, mask: str, dtype: str = "float32") -> Case:
    return examine(letter, Conditions(3, 2, 5, 7, mask, 1, dtype, "cpu"))


def notebook(*sections: NotebookSection) -> str:
    return to_bytes("Bug lab", "Find out.", "float32", "cpu", sections).decode()


@pytest.mark.parametrize("letter", LETTERS)
def test_an_open_notebook_names_no_fault(letter: str) -> None:
    seen = case(letter, MASKS[3])
    text = notebook(symptoms_section("Words.", seen), diagnosis_section(seen))
    for implementation, name in NAMES.items():
        assert name.short not in text and name.meaning not in text
        if implementation.__name__ != "right":
            assert implementation.__name__ not in text
    assert text.count("def right(") == 1


@pytest.mark.parametrize("mask", MASKS)
def test_the_code_of_open_notebooks_is_the_same_for_all_that_answer(mask: str) -> None:
    told = set()
    for letter in LETTERS:
        seen = case(letter, mask)
        if not isinstance(seen.seen, str):
            sections = symptoms_section("Words.", seen), diagnosis_section(seen)
            cells = [cell for section in sections for cell in section.cells]
            uses = [section.uses for section in sections]
            told.add((*cells, *uses, *(choice.name for c in sections for choice in c.choices)))
    assert len(told) == 1
    (only,) = told
    for cell in only:
        if isinstance(cell, Code):
            ast.parse(cell.text)


@pytest.mark.parametrize("letter", LETTERS)
def test_what_is_out_stands_beside_the_right_one(letter: str) -> None:
    seen = case(letter, MASKS[1])
    sections = symptoms_section("Words.", seen), diagnosis_section(seen, None, "Said.", out=True)
    text = notebook(*sections)
    assert text.count(f"def {behind(letter).__name__}(") == text.count("def right(") == 1
    others = [i.__name__ for i in NAMES if i not in (behind(letter), behind("J"))]
    assert not any(f"def {other}(" in text for other in others)
    assert ("```diff" in text) == (letter != "J")


def test_what_is_no_number_is_none() -> None:
    seen = case("E", MASKS[4], "float16")
    held = {choice.name: choice.value for choice in symptoms_section("Words.", seen).choices}
    assert held["n"] == 5 and held["heads"] == 2 and held["seen_error"] is None
    stopped = symptoms_section("Words.", case("D", MASKS[4], "float16"))
    held = {choice.name: choice.value for choice in stopped.choices}
    assert "overflow" in str(held["seen_error"]) and "seen_weights" not in held
