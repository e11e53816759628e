"""DEEM Studio's library.

Fuse many learners' votes into one label per row, without ground truth.

Verbs of the command line are functions here. Names are imported when they are asked for: torch takes a second,
and reading a file needs none of it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deem_core.alarm import Alarm
    from deem_core.answers.answer import Answer
    from deem_core.auto.verbs import ask, check, fuse
    from deem_core.comparison import compare
    from deem_core.diagnostics.inspection import inspect
    from deem_core.diagnostics.scorecards import scorecard
    from deem_core.errors import DeemError, InputError
    from deem_core.estimators.deem import DEEM
    from deem_core.estimators.grouped import GroupedDawidSkene
    from deem_core.estimators.irbm import IRBM
    from deem_core.estimators.soft import SoftDEEM
    from deem_core.estimators.verbs import apply, load, train
    from deem_core.gold import next_order
    from deem_core.model.devices import devices
    from deem_core.readers import read, read_votes
    from deem_core.reporting.build import report
    from deem_core.runs.worker import work
    from deem_core.simulation.presets import simulate
    from deem_core.training.sweep import estimate, sweep
    from deem_core.votes import Votes
    from deem_core.votes.describe import describe

__version__ = "0.2.0"

_HOMES = {
    "Alarm": "alarm",
    "Answer": "answers.answer",
    "DEEM": "estimators.deem",
    "DeemError": "errors",
    "GroupedDawidSkene": "estimators.grouped",
    "IRBM": "estimators.irbm",
    "InputError": "errors",
    "SoftDEEM": "estimators.soft",
    "Votes": "votes",
    "apply": "estimators.verbs",
    "compare": "comparison",
    "describe": "votes.describe",
    "devices": "model.devices",
    "estimate": "training.sweep",
    "ask": "auto.verbs",
    "check": "auto.verbs",
    "fuse": "auto.verbs",
    "inspect": "diagnostics.inspection",
    "load": "estimators.verbs",
    "next_order": "gold",
    "read": "readers",
    "read_votes": "readers",
    "report": "reporting.build",
    "scorecard": "diagnostics.scorecards",
    "simulate": "simulation.presets",
    "sweep": "training.sweep",
    "train": "estimators.verbs",
    "work": "runs.worker",
}

__all__ = [
    "DEEM",
    "IRBM",
    "Alarm",
    "Answer",
    "DeemError",
    "GroupedDawidSkene",
    "InputError",
    "SoftDEEM",
    "Votes",
    "__version__",
    "apply",
    "ask",
    "check",
    "compare",
    "describe",
    "devices",
    "estimate",
    "fuse",
    "inspect",
    "load",
    "next_order",
    "read",
    "read_votes",
    "report",
    "scorecard",
    "simulate",
    "sweep",
    "train",
    "work",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is asked for."""
    if name in _HOMES:
        from deem_core.errors import torch_wanted  # noqa: PLC0415  # next to nothing is imported with the library

        with torch_wanted():
            return getattr(import_module(f"deem_core.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'deem_core' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
