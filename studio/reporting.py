"""The model and the report of a training as files, and the command that repeats it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable

from deem_core import report
from deem_core.errors import InputError
from deem_core.files import plain_values
from deem_core.report.command import repeat_command
from deem_core.runs import Run
from studio.workspace import workspace


def model_digest(run: Run) -> str:
    """Return the digest under which the model of a training is stored as an input.

    Raises
    ------
    InputError
        If it has none.
    """
    path = run.result("model.safetensors")
    if path is None:
        raise InputError("This training has no model: it is not finished, or was deleted.")
    return workspace().store(path)


def model_bytes(run: Run) -> Callable[[], bytes]:
    """Return what reads the model file when it is called."""
    path = run.result("model.safetensors")
    if path is None:
        raise InputError("This training has no model: it is not finished, or was deleted.")
    return path.read_bytes


def html(run: Run) -> Callable[[], bytes]:
    """Return what makes the report when it is called."""
    return lambda: report.build(workspace(), run).html().encode()


def as_json(run: Run) -> Callable[[], bytes]:
    """Return what makes the numbers of the report when it is called."""
    return lambda: json.dumps(plain_values(report.build(workspace(), run).to_dict()), indent=2).encode()


def command(run: Run) -> str:
    """Return the command that repeats a training and gives the same labels."""
    return shlex.join(repeat_command(run.spec))
