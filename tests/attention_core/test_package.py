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


def test_earlier_names_still_work_and_say_what_they_are_now():
    for earlier, now in attention_core._EARLIER_NAMES.items():
        with pytest.warns(DeprecationWarning, match=f"attention_core.{earlier} is now {now}"):
            assert getattr(attention_core, earlier) is getattr(attention_core, now)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        attention_core.nonsense  # noqa: B018
