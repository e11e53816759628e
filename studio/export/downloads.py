"""Model and report of a run as files, and its command."""

from __future__ import annotations

import hashlib
import shlex
from pathlib import Path

import streamlit as st

from deem_core import InputError, reporting
from deem_core.runs import Run
from studio.data.datasets import Opened
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
        raise InputError("This run has no model: it is not finished, or was deleted.")
    return path


def stored_model(run: Run) -> str:
    """Store the model of a training and return its digest."""
    return workspace().store(model_file(run))


@st.cache_data(max_entries=50, show_spinner=False)
def model_digest(run_id: str, _run: Run) -> str:
    """Return the digest of the model of a training, found once."""
    with model_file(_run).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def report(run: Run, opened: Opened) -> reporting.Report:
    """Return the report of a training or of a fused answer.

    Its file is read already, and not read again.
    """
    return reporting.report(run, workspace(), opened.reading)


def command(run: Run) -> str:
    """Return the command that repeats a run and gives the same labels."""
    return shlex.join(reporting.repeat_command(run.spec))
