"""The offending lines: a specimen against the right implementation, as a diff."""

import difflib
import inspect

from attention_core.faults import Implementation, right


def repair(implementation: Implementation) -> str:
    """The body as a diff: "-" what stands there, "+" what is right; "" if nothing is wrong."""
    lines = difflib.unified_diff(_body(implementation), _body(right), n=99, lineterm="")
    return "\n".join(list(lines)[3:])  # without the names of the files and the line numbers


def _body(implementation: Implementation) -> list[str]:
    """The lines after the signature and its docstring, which is one line."""
    lines = inspect.getsource(implementation).splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith('    """'))
    return lines[start + 1 :]
