"""The namespace of diagnostics: every name is there, none is a module, and none loads torch."""

import pkgutil
import subprocess
import sys
from types import ModuleType

import pytest

from deem_core import diagnostics


@pytest.mark.parametrize("name", diagnostics.__all__)
def test_every_name_is_what_it_says(name):
    thing = getattr(diagnostics, name)
    assert thing.__name__ == name if not name.isupper() else not isinstance(thing, ModuleType)


def test_no_module_hides_a_name():
    """A submodule becomes an attribute of its package once it is imported, in place of a lazy name."""
    modules = {module.name for module in pkgutil.iter_modules(diagnostics.__path__)}
    assert modules & set(diagnostics.__all__) == {"checkup"}
    assert not isinstance(diagnostics.checkup, ModuleType)


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = diagnostics.nonsense


def test_nothing_loads_torch_before_a_model_is_asked():
    code = "import sys; from deem_core import diagnostics; "
    code += "[getattr(diagnostics, name) for name in diagnostics.__all__]; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
