"""Runs whose work is done at once in this process, without a worker: quicker than waiting for one."""

from collections.abc import Mapping
from typing import Any

from deem_core.control import Control
from deem_core.runs import Dataset, Run, Workspace
from deem_core.runs.desk import Desk
from deem_core.runs.job import Job
from deem_core.runs.kinds import KINDS


def done(workspace: Workspace, kind: str, dataset: Dataset, config: Mapping[str, Any], title: str = "") -> Run:
    """Return a run of a kind with its real results."""
    run = workspace.new_run(kind, dataset, config, title=title)
    desk = Desk(run)
    desk.begin("cpu")
    KINDS[kind](Job(workspace, run, desk, Control()))
    desk.end("done")
    return run


def inspected(workspace: Workspace, training: Run) -> Run:
    """Return the inspection of a training, as the pages start it."""
    config = {"model": workspace.store(training.path / "model.safetensors"), "training": training.id}
    return done(workspace, "inspect", workspace.dataset(training.dataset_id), config, "Inspection")
