"""Sweep beside a training: the run's own, or another run's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from deem_core.errors import InputError
from deem_core.runs.run import Run
from deem_core.runs.summary import FusionSummary
from deem_core.runs.workspace import Workspace
from deem_core.training.sweep.result import Sweep


@dataclass(frozen=True)
class Swept:
    """A sweep of learning rates beside a training.

    Attributes
    ----------
    sweep : Sweep
    run : str, optional
        Id of the sweep's own run; None for the sweep that the training itself made.
    holds : bool
        Whether it was made with the settings of the training, so that its rates hold for it.
    """

    sweep: Sweep
    run: str | None
    holds: bool


def sweep_beside(workspace: Workspace, run: Run, summary: FusionSummary) -> Swept | None:
    """Return the sweep that has most to say about a finished training.

    Its own; else the dataset's latest that holds for its settings; else the latest of all.
    """
    latest = None
    for found in _sweeps(workspace, run, summary):
        if found.holds:
            return found
        latest = latest or found
    return latest


def _sweeps(workspace: Workspace, run: Run, summary: FusionSummary) -> Iterator[Swept]:
    """Yield the sweep of a training itself, then finished ones, newest first."""
    own = summary.training.sweep
    others = ((other.id, other.summary()) for other in workspace.runs(dataset=run.dataset_id, kind="sweep"))
    for sweep_run, content in [*([(None, own)] if own else []), *others]:
        if content is None:
            continue
        try:
            sweep = Sweep.from_dict(content)
        except InputError:  # damaged, or of an earlier version
            continue
        holds = sweep_run is None or (not sweep.by_depth and sweep.holds_for(summary.training.setting_values))
        yield Swept(sweep, sweep_run, holds)
