"""The model and the report of a training as files, and the command that repeats it."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Callable
from pathlib import Path

import streamlit as st

from deem_core import report
from deem_core.errors import InputError
from deem_core.files import plain_values
from deem_core.report.command import repeat_command
from deem_core.runs import Run
from studio.workspace import workspace


def model_file(run: Run) -> Path:
    """Return where the model of a training is.

    Raises
    ------
    InputError
        If it has none.
    """
    path = run.result("model.safetensors")
    if path is None:
        raise InputError("This training has no model: it is not finished, or was deleted.")
    return path


def stored_model(run: Run) -> str:
    """Keep the model of a training among the inputs, and return its digest."""
    return workspace().store(model_file(run))


@st.cache_data(max_entries=50, show_spinner=False)
def model_digest(run_id: str, _run: Run) -> str:
    """Return the digest of the model of a training, found once."""
    with model_file(_run).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def model_bytes(run: Run) -> Callable[[], bytes]:
    """Return what reads the model file when it is called."""
    return model_file(run).read_bytes


def html(run: Run) -> Callable[[], bytes]:
    """Return what makes the report when it is called."""
    return lambda: report.build(workspace(), run).html().encode()


def as_json(run: Run) -> Callable[[], bytes]:
    """Return what makes the numbers of the report when it is called."""
    return lambda: json.dumps(plain_values(report.build(workspace(), run).to_dict()), indent=2).encode()


def command(run: Run) -> str:
    """Return the command that repeats a training and gives the same labels."""
    return shlex.join(repeat_command(run.spec))
