"""Examples in the docstrings of public names run and say what they say."""

import doctest
import inspect
from importlib import import_module

import pytest

import deem_core

WITHOUT = {
    "DeemError",
    "InputError",
    "__version__",
    "apply",  # needs a trained model: its class shows it
    "devices",
    "estimate",
    "inspect",
    "load",
    "read",  # needs a file: the README shows it
    "read_votes",
    "report",
    "train",
    "work",
}
"""Public names whose example would need a file, a run or a machine."""


@pytest.mark.parametrize("name", sorted(set(deem_core.__all__) - WITHOUT))
def test_examples_of_public_names_run(name):
    thing = getattr(deem_core, name)
    module = import_module(thing.__module__)
    (test,) = (
        each for each in doctest.DocTestFinder(recurse=False).find(thing, name, module, globs={}) if each.examples
    )
    outcome = doctest.DocTestRunner(verbose=False).run(test)
    assert outcome.attempted
    assert not outcome.failed


@pytest.mark.parametrize("name", deem_core.__all__)
def test_every_public_name_can_be_imported_and_explains_itself(name):
    thing = getattr(deem_core, name)
    assert name == "__version__" or inspect.getdoc(thing)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        deem_core.nothing  # noqa: B018
