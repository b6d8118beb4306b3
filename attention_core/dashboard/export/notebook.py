"""A page as a notebook: its words, the learner's choices, the code, and what the code shows.

`to_bytes` makes one notebook of the chapters of a page. What a learner chose enters it as literals,
in cells of their own; all other code is ours and the same for all. Imported only when a learner
asks for a notebook: nbformat takes 0.1 s, which nobody should wait for before the first picture.
"""

import ast
import math
import pprint
from collections.abc import Iterable, Sequence

import torch
from nbformat import v4, writes

import attention_core
from attention_core.dashboard.export.notebook_section import Choice, Code, NotebookSection, Words
from attention_core.dashboard.export.notebook_view import lines_chart, report, weights_chart
from attention_core.dashboard.export.source_bundle import free_names, sources_of

WIDTH = 88
IMPORTS = {
    "base64": "import base64",
    "zlib": "import zlib",
    "pd": "import pandas as pd",
    "F": "import torch.nn.functional as F",
}
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
AVAILABLE = {"cuda": "cuda", "mps": "backends.mps"}  # where torch tells
VIEW = (weights_chart, lines_chart, report)
NEEDS = "It needs nothing but PyTorch, NumPy, Altair and pandas:"


def literal(value: object) -> str:
    """The value as Python writes it: numbers, words, and collections of them, nothing else.

    Raises ValueError for whatever does not come back the same from its literal.
    """
    if isinstance(value, torch.dtype):
        return str(value)
    text = pprint.pformat(value, width=WIDTH, compact=True, sort_dicts=False)
    try:
        same = ast.literal_eval(text) == value
    except (ValueError, SyntaxError):
        same = False
    if not same or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError(f"a choice must be plain data, to be written down: {text[:80]}")
    return text


def to_bytes(
    title: str, objective: str, dtype: str, device: str, sections: Iterable[NotebookSection]
) -> bytes:
    """The notebook, the same bytes for the same state."""
    told = list(sections)
    cells = [*_opening(title, objective, dtype, device, told), *_library(told)]
    for section in told:
        cells.append(Words("\n\n".join((f"## {section.title}", *section.words))))
        cells += [Code(_assignments(section.choices))] if section.choices else []
        cells += section.cells
    notebook = v4.new_notebook(metadata=METADATA)  # type: ignore[no-untyped-call]
    for number, cell in enumerate(cells, start=1):
        new = v4.new_code_cell if isinstance(cell, Code) else v4.new_markdown_cell
        # An id of its own, as those that nbformat makes up are different every time.
        one = new(cell.text.strip(), id=f"cell-{number}")  # type: ignore[no-untyped-call]
        notebook.cells.append(one)
    text: str = writes(notebook)  # type: ignore[no-untyped-call]
    return f"{text}\n".encode()


def _opening(
    title: str, objective: str, dtype: str, device: str, sections: list[NotebookSection]
) -> list[Words | Code]:
    used = set().union(*(free_names(cell.text) for cell in _code(sections)))
    imports = ["import torch", *(line for name, line in IMPORTS.items() if name in used)]
    first = (
        f"# {title}\n\n{objective}\n\nThis notebook holds the page as you left it: your choices, "
        "the code that computed every number, the comparison with PyTorch, and the pictures. Run "
        f"it from top to bottom. {NEEDS}\n\n```\npip install torch numpy altair pandas\n```"
    )
    where = f'dtype, device = torch.{dtype}, "cpu"\n'
    if device != "cpu":
        where = (
            f"dtype, device = torch.{dtype}, {device!r}\n"
            f"if not torch.{AVAILABLE[device]}.is_available():\n"
            f'    print("{device} is not available here: computing on the CPU instead.")\n'
            '    device = "cpu"\n'
        )
    return [Words(first), Code("\n".join(sorted(imports)) + "\n\n" + where)]


def _library(sections: list[NotebookSection]) -> list[Words | Code]:
    """The functions that the chapters call, module by module, each under its heading."""
    known = {name: getattr(attention_core, name) for name in attention_core.__all__}
    known |= {f.__name__: f for f in (*VIEW, *(f for section in sections for f in section.uses))}
    called = set().union(*(free_names(cell.text) for cell in _code(sections))) & set(known)
    cells: list[Words | Code] = [
        Words("## The code\n\nWhat this page calls, as it stands in its library `attention_core`.")
    ]
    for extract in sources_of(known[name] for name in sorted(called)):
        file = extract.module.replace(".", "/")
        cells += [Words(f"### {extract.summary}\n\n`{file}.py`"), Code(extract.source)]
    return cells


def _code(sections: list[NotebookSection]) -> list[Code]:
    return [cell for section in sections for cell in section.cells if isinstance(cell, Code)]


def _assignments(choices: Sequence[Choice]) -> str:
    lines = []
    for name, value, meaning in choices:
        text = literal(value)
        line = f"{name} = {text}  # {meaning}"
        short = "\n" not in text and len(line) <= 100
        lines.append(line if short else f"# {meaning}\n{name} = {text}")
    return "\n".join(lines)
