"""Labelled rows: the answer that a finished run gave, read again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from deem_core.answers import Answer, StoredAnswer
from deem_core.errors import InputError
from deem_core.runs.run import MODEL, RESULT, Run
from deem_core.runs.summary import FusionSummary
from deem_core.typing import Floats
from deem_core.votes import Votes, as_label_array
from deem_core.votes.recode import recode

if TYPE_CHECKING:
    from deem_core.runs.workspace import Workspace


def run_answer(space: Workspace, run: Run, votes: Votes, method: str = "") -> Answer:
    """Return the answer of a finished run.

    Parameters
    ----------
    space : Workspace
        Where the run is.
    run : Run
    votes : Votes
        Of its dataset, with the gold it was given (`Workspace.with_gold`).
    method : str
        Whose answer, if the run is a comparison.

    Returns
    -------
    Answer
        In the terms of the run: an applied model brings its own learners and classes.

    Raises
    ------
    InputError
        If the run has none.
    """
    path = labels_path(run, method)
    if method or (run.kind == "fuse" and run.result(MODEL) is None):  # nobody to ask again
        answer = StoredAnswer(path, votes.n_classes).answer(votes)
    else:
        own = _in_terms_of(run, votes)
        answer = StoredAnswer(path, own.n_classes).answer(own, otherwise=lambda: _ask_again(space, run, votes))
    summary = None if method else FusionSummary.of(run)
    return answer if summary is None else answer.as_told(summary.training.findings, summary.alarms)


def labels_path(run: Run, method: str = "") -> Path:
    """Return where a finished run keeps its labels.

    Raises
    ------
    InputError
        If it has none.
    """
    path = run.labels(method) if method else run.result(RESULT)
    if path is None and method:
        raise InputError(
            f"This comparison has no labels of {method} to export: an earlier version kept only the scores, or the "
            "file is gone. Compare again to get them."
        )
    if path is None:
        raise InputError("This run has no labels: it is not finished, or was deleted.")
    return path


def _in_terms_of(run: Run, votes: Votes) -> Votes:
    """Return the votes in the learners and classes of the run's model."""
    summary = FusionSummary.of(run)
    if summary is None or summary.training.classes is None or summary.training.learners is None:
        return votes  # it was trained on these very votes
    return recode(votes, summary.training.learners, as_label_array(summary.training.classes)).votes


def _ask_again(space: Workspace, run: Run, votes: Votes) -> Floats:
    """Return the posterior from the model.

    With many classes it is not stored.
    """
    from deem_core.estimators.verbs import load  # noqa: PLC0415  # most models import torch

    own = run.result(MODEL)
    return load(space.input(run.config["model"]) if own is None else own).predict_proba(votes)
