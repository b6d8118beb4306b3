"""Functions taken out of the package run without it, with all that they need and nothing else."""

import ast
import inspect
import types

import pytest
import torch

import attention_core
from attention_core import IMPLEMENTATIONS, attention, decode, scaling_study
from attention_core.dashboard.causal_masking.token_edit import edit, moved
from attention_core.dashboard.export.source_bundle import free_names, sources_of
from attention_core.dashboard.tensors import cached_qkv

CALLABLE = {
    name: value
    for name in attention_core.__all__
    if isinstance(value := getattr(attention_core, name), (type, types.FunctionType))
}


def run(*functions) -> dict:
    """What the extracts define, run one after the other."""
    namespace: dict = {"__name__": "elsewhere"}
    for extract in sources_of(functions):
        assert "attention_core" not in imported(extract.source)
        exec(extract.source, namespace)
    return namespace


def defined_by(source: str) -> set[str]:
    """The names that a source defines at its top level."""
    return {getattr(node, "name", "") for node in ast.parse(source).body}


def imported(source: str) -> set[str]:
    """The roots of all modules that a source imports."""
    nodes = list(ast.walk(ast.parse(source)))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize("name", CALLABLE)
def test_every_public_function_can_be_taken_out(name):
    export = run(CALLABLE[name])[name]
    assert export is not CALLABLE[name]
    assert export.__module__ == "elsewhere"


def test_all_of_them_together_mean_one_thing_by_each_name():
    everything = [*CALLABLE.values(), *IMPLEMENTATIONS]
    defined = {name for extract in sources_of(everything) for name in defined_by(extract.source)}
    assert {function.__name__ for function in everything} <= defined


def test_what_was_taken_out_computes_the_same():
    namespace = run(attention, edit, moved, decode, scaling_study)
    q, k, v = torch.randn(3, 5, 7, generator=torch.Generator().manual_seed(1))
    assert torch.equal(namespace["attention"](q, k, v)[0], attention(q, k, v)[0])
    assert torch.equal(namespace["edit"]((q, k, v), 2, 3, 0.5)[1], edit((q, k, v), 2, 3, 0.5)[1])
    (result,) = namespace["scaling_study"]([8], rule="1/d_k")
    assert result.mean_entropy == scaling_study([8], rule="1/d_k")[0].mean_entropy


def test_only_what_is_needed_comes_along_as_it_stands_there():
    extracts = {extract.module: extract for extract in sources_of([attention])}
    assert list(extracts) == ["attention_core.checks", "attention_core.attention"]
    text = extracts["attention_core.attention"].source
    for needed in (attention, attention_core.attention_steps, attention_core.AttentionSteps):
        assert f"\n\n\n{inspect.getsource(needed).strip()}" in text
    assert "def as_boolean(" in extracts["attention_core.checks"].source
    (measures,) = sources_of([attention_core.entropy])
    assert "def entropy(" in measures.source
    assert "def asymmetry(" not in measures.source


def test_what_a_notebook_does_not_have_is_refused():
    with pytest.raises(ValueError, match="streamlit"):
        sources_of([cached_qkv])


def module(tmp_path, monkeypatch, name: str, source: str):
    """A module of the package that is there for this test only."""
    monkeypatch.setattr(attention_core, "__path__", [*attention_core.__path__, str(tmp_path)])
    (tmp_path / f"{name}.py").write_text(source, "utf-8")
    namespace: dict = {"__name__": f"attention_core.{name}"}
    exec(source, namespace)
    return namespace


def test_two_things_of_one_name_are_refused(tmp_path, monkeypatch):
    one = module(tmp_path, monkeypatch, "one_of_two", "def same():\n    return 1\n")
    two = module(tmp_path, monkeypatch, "two_of_two", "def same():\n    return 2\n")
    assert len(sources_of([one["same"]])) == 1
    with pytest.raises(ValueError, match=r"same in attention_core.one_of_two, .*two_of_two"):
        sources_of([one["same"], two["same"]])


def test_everything_that_can_stand_at_the_top_level(tmp_path, monkeypatch):
    source = '''"""Constants, aliases, comments."""
import math
import torch.nn.functional as F
from functools import reduce, cache as remembered

# Why it is
# what it is.
BASE, OTHER = 2, 5
NAMED: dict[str, int] = {"base": BASE}
Alias = dict[str, int]
UNUSED = 7


@remembered
def inner(x: Alias) -> float:
    return math.log(x["base"]) + F.relu.__name__.count("z")


def outer() -> float:
    BASE = 99  # its own
    return reduce(lambda a, b: a + b, [inner_all(NAMED), BASE * 0])


def inner_all(x):
    return sum(map(len, x)) + OTHER * 0
'''
    defined = module(tmp_path, monkeypatch, "top_level", source)
    (extract,) = sources_of([defined["outer"]])
    assert extract.summary == "Constants, aliases, comments."
    assert extract.source.startswith(
        "from functools import reduce\n\n# Why it is\n# what it is.\nB"
    )
    for unused in ("UNUSED", "inner(", "math", "Alias"):
        assert unused not in extract.source
    namespace: dict = {}
    exec(extract.source, namespace)
    assert namespace["outer"]() == 4


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("a = b + len(c)", {"b", "c"}),
        ("import x\nx.y(z)", {"z"}),
        ("def f(p: T, q=D) -> R:\n    return p + g + f(p, q)", {"T", "D", "R", "g"}),
        ("[i for i in rows if i > least]", {"rows", "least"}),
        ("for i in n: print(i)", {"n"}),
        ("def f():\n    def g():\n        return deep\n    return g", {"deep"}),
    ],
)
def test_the_names_that_code_takes_from_around_it(source, names):
    assert free_names(source) == names
