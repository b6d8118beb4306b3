"""Runs notebooks where nothing but PyTorch, NumPy, Altair and pandas can be imported.

Reads [[path, {name: expression}], ...] as JSON, and writes for each notebook what its cells printed
and the values of the expressions. A process of its own; all notebooks share one import of PyTorch.
"""

import ast
import builtins
import contextlib
import io
import json
import sys
from pathlib import Path

ALLOWED = {"torch", "numpy", "altair", "pandas", *sys.stdlib_module_names}
the_import = builtins.__import__


def guarded(name, globals=None, locals=None, fromlist=(), level=0):
    root = name.partition(".")[0]
    here = (globals or {}).get("__name__") == "notebook"
    if root in ("attention_core", "streamlit", "nbformat") or (here and root not in ALLOWED):
        raise ImportError(f"a notebook must not import {name}")
    return the_import(name, globals, locals, fromlist, level)


def run(path: str) -> tuple[dict, str]:
    """The names that the notebook leaves, and all that it printed or would have shown."""
    namespace: dict = {"__name__": "notebook"}
    out = io.StringIO()
    for cell in json.loads(Path(path).read_text("utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]))
        last = tree.body[-1]
        if isinstance(last, ast.Expr):
            tree.body.pop()
        with contextlib.redirect_stdout(out):
            exec(compile(tree, cell["id"], "exec"), namespace)
            if isinstance(last, ast.Expr):
                shown = eval(compile(ast.Expression(last.value), cell["id"], "eval"), namespace)
                if hasattr(shown, "to_dict") and hasattr(shown, "to_json"):
                    shown.to_dict()
                    print("a picture or a table")
    return namespace, out.getvalue()


def plain(value: object) -> object:
    return value.tolist() if hasattr(value, "tolist") else value


def main() -> None:
    builtins.__import__ = guarded
    results = []
    for path, expressions in json.load(sys.stdin):
        namespace, printed = run(path)
        values = {name: plain(eval(text, namespace)) for name, text in expressions.items()}
        results.append({"printed": printed, "values": values})
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
