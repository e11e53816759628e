"""A Python that finds no package of those that BLOCKED names, as if they were not installed.

Whoever starts a process with this folder in PYTHONPATH gets it, and so do the processes that it starts.
"""

import importlib.machinery
import importlib.metadata
import os

_BLOCKED = os.environ.get("BLOCKED", "").split(",")
_find_spec = importlib.machinery.PathFinder.find_spec
_from_name = importlib.metadata.Distribution.from_name


def _spec_unless_blocked(name, path=None, target=None):
    return None if name in _BLOCKED else _find_spec(name, path, target)


def _distribution_unless_blocked(name):
    if name in _BLOCKED:
        raise importlib.metadata.PackageNotFoundError(name)
    return _from_name(name)


importlib.machinery.PathFinder.find_spec = staticmethod(_spec_unless_blocked)
importlib.metadata.Distribution.from_name = staticmethod(_distribution_unless_blocked)
