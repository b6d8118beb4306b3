"""The package as a whole: its public names and the examples in its docstrings."""

import doctest
import importlib
import pkgutil

import pytest

import attention_core

MODULES = [
    module.name for module in pkgutil.iter_modules(attention_core.__path__) if not module.ispkg
]


def test_public_names_are_there():
    assert all(hasattr(attention_core, name) for name in attention_core.__all__)
    assert len(set(attention_core.__all__)) == len(attention_core.__all__)


@pytest.mark.parametrize(
    "name", ["attention_core", *(f"attention_core.{name}" for name in MODULES)]
)
def test_examples_in_docstrings_are_true(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
