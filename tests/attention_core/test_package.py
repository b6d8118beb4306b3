"""The package as a whole: its public names and the examples in its docstrings."""

import doctest
import importlib
import pkgutil

import pytest

import attention_core

MODULES = [
    module.name for module in pkgutil.walk_packages(attention_core.__path__, "attention_core.")
]


def test_public_names_are_there():
    assert all(hasattr(attention_core, name) for name in attention_core.__all__)
    assert len(set(attention_core.__all__)) == len(attention_core.__all__)


@pytest.mark.parametrize("name", ["attention_core", *MODULES])
def test_examples_in_docstrings_are_true(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
