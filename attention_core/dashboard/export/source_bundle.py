"""The source of some functions with all that they need, so that it runs where they are not.

Read from the modules by `inspect`: of each module that is needed, the definitions that are needed
in the order in which they stand there; and each module after those that it imports from.
"""

import ast
import builtins
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from importlib import import_module
from symtable import SymbolTable, symtable
from typing import Any

PACKAGE = "attention_core"
_PLAIN = (ast.Assign, ast.AnnAssign)
LIBRARIES = {"torch", "numpy", "altair", "pandas", *sys.stdlib_module_names}


@dataclass(frozen=True)
class Extract:
    """What one module gives: its name, the first line of its docstring, and source."""

    module: str
    summary: str
    source: str


def sources_of(functions: Iterable[Callable[..., Any]]) -> list[Extract]:
    """The sources of functions and classes of this package, and of everything they depend on.

    They import nothing of the package, and run one after the other in one namespace.

    Raises ValueError if something needs another library than torch, numpy, altair and pandas, if
    two modules give one name to different things, or if a name is not defined at the top level.
    """
    modules: dict[str, _Module] = {}
    for function in functions:
        _pick(function.__module__, function.__name__, modules)
    owners: dict[str, str] = {}
    for module in modules.values():
        for name in module.names():
            owner = owners.setdefault(name, module.name)
            if owner != module.name:
                raise ValueError(f"a name must mean one thing: {name} in {owner}, {module.name}")
    order = TopologicalSorter({module.name: list(module.needs) for module in modules.values()})
    found = (modules[name].extract() for name in order.static_order())
    return [extract for extract in found if extract.source]  # a package only passes names on


def free_names(source: str) -> set[str]:
    """The names that a piece of code takes from around it, builtins aside."""
    top = symtable(source, "<source>", "exec")
    inner = {s.get_name() for table in _tables(top) for s in table.get_symbols() if s.is_global()}
    outer = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_referenced()}
    symbols = top.get_symbols()
    own = {symbol.get_name() for symbol in symbols if symbol.is_assigned() or symbol.is_imported()}
    return (inner | outer) - own - set(vars(builtins))


@dataclass
class _Module:
    """A module: what stands at its top level, and what of that is picked."""

    name: str
    summary: str
    lines: list[str]
    definitions: dict[str, ast.stmt] = field(default_factory=dict)
    imports: dict[str, tuple[str, ast.alias]] = field(default_factory=dict)
    picked: dict[int, ast.stmt] = field(default_factory=dict)  # by line
    outside: set[tuple[str, str]] = field(default_factory=set)  # libraries: from ..., import ...
    needs: dict[str, None] = field(default_factory=dict)  # modules of the package, in order

    def names(self) -> Iterator[str]:
        """What the picked definitions define."""
        return (name for node in self.picked.values() for name in _defined_by(node))

    def extract(self) -> Extract:
        nodes = [self.picked[line] for line in sorted(self.picked)]
        text = "\n".join(_import_lines(self.outside))
        for before, node in zip((None, *nodes), nodes, strict=False):
            constants = isinstance(node, _PLAIN) and isinstance(before, (*_PLAIN, type(None)))
            text += "\n" if constants and before else "\n\n" if constants else "\n\n\n"
            text += self.text(node)
        return Extract(self.name, self.summary, text.strip())

    def text(self, node: ast.stmt) -> str:
        """The lines of a definition, with its decorators and the comments that stand above it."""
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        while first > 1 and self.lines[first - 2].startswith("#"):
            first -= 1
        return "\n".join(self.lines[first - 1 : node.end_lineno])


def _read(name: str) -> _Module:
    source = inspect.getsource(import_module(name))
    tree = ast.parse(source)
    summary = (ast.get_docstring(tree) or name).partition("\n")[0]
    module = _Module(name, summary, source.splitlines())
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            origin = (node.module or "") if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names:
                module.imports[alias.asname or alias.name] = origin, alias
        else:
            module.definitions.update(dict.fromkeys(_defined_by(node), node))
    return module


def _defined_by(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
    return [n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)]


def _pick(name_of_module: str, name: str, modules: dict[str, _Module]) -> None:
    """Pick a definition, and all that it needs."""
    module = modules.get(name_of_module) or _read(name_of_module)
    modules[name_of_module] = module
    if name in module.imports:
        return _import(module, name, modules)
    if name not in module.definitions:
        raise ValueError(f"a name must be defined at the top level: {name} in {name_of_module}")
    node = module.definitions[name]
    if node.lineno in module.picked:
        return None
    module.picked[node.lineno] = node
    for needed in sorted(free_names(module.text(node))):
        _pick(name_of_module, needed, modules)
    return None


def _import(module: _Module, name: str, modules: dict[str, _Module]) -> None:
    """Pick what the module imports under this name, or note the import of a library."""
    origin, alias = module.imports[name]
    root = (origin or alias.name).partition(".")[0]
    if root == PACKAGE and origin and not alias.asname:
        module.needs[origin] = None
        _pick(origin, alias.name, modules)
    elif root in LIBRARIES:
        spelled = alias.name + (f" as {alias.asname}" if alias.asname else "")
        module.outside.add((origin, spelled))
    else:
        raise ValueError(f"{module.name} needs what a notebook does not have: {name} of {root}")


def _import_lines(outside: set[tuple[str, str]]) -> list[str]:
    """The imports as the formatter would have them: the standard library, then the others."""
    export: dict[str, list[str]] = {}
    for origin, spelled in sorted(outside, key=lambda pair: (not pair[1].isupper(), *pair)):
        export.setdefault(origin or f"import {spelled}", []).append(spelled)
    blocks: dict[bool, list[str]] = {True: [], False: []}
    for origin in sorted(export, key=lambda origin: (" " not in origin, origin)):
        plain = origin.startswith("import ")
        line = origin if plain else f"from {origin} import {', '.join(export[origin])}"
        blocks[line.split()[1].partition(".")[0] in sys.stdlib_module_names].append(line)
    between = [""] if blocks[True] and blocks[False] else []
    return [*blocks[True], *between, *blocks[False]]


def _tables(table: SymbolTable) -> Iterator[SymbolTable]:
    for child in table.get_children():
        yield child
        yield from _tables(child)
