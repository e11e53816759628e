"""A job: what an executor is given to do the work of a run and to say how it goes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from deem_core.control import Control
from deem_core.devices import cores
from deem_core.readers import Reading
from deem_core.runs.desk import Desk
from deem_core.runs.run import Run
from deem_core.runs.workspace import Workspace
from deem_core.votes import Votes

_CELLS_PER_THREAD = 5_000_000  # (row, learner, class) cells; with fewer, threads wait for each other


class Job:
    """The work of a run.

    Parameters
    ----------
    workspace : Workspace
    run : Run
    desk : Desk
    control : Control
        Says when to stop, and keeps checkpoints.
    """

    def __init__(self, workspace: Workspace, run: Run, desk: Desk, control: Control) -> None:
        self.workspace, self.run, self.desk, self.control = workspace, run, desk, control
        self.config: dict[str, Any] = run.config
        self.seed = int(run.spec["seed"])

    @property
    def folder(self) -> Path:
        """Where the results go, each written whole."""
        return self.run.path

    @cached_property
    def reading(self) -> Reading:
        """The dataset as the run's spec says to read it."""
        self.report(self.desk.state.share, "Reading the file")
        reading = self.workspace.read_inputs(self.run.spec["inputs"])
        self.control.check()
        return reading

    @property
    def votes(self) -> Votes:
        """The votes, with their truth if there is one: for evaluation only."""
        return self.reading.votes

    def input(self, digest: str) -> Path:
        """Return where a stored input is."""
        return self.workspace.input(digest)

    def report(self, share: float, step: str) -> None:
        """Say how much is done (0 to 1) and what is being done."""
        self.desk.report(share, step)

    def record(self, content: Mapping[str, Any], type: str = "record") -> None:
        """Add a line to the progress."""
        self.desk.tell(type, content)

    def note(self, sentence: str) -> None:
        """Add a sentence to the progress."""
        self.desk.tell("note", {"text": sentence})

    def on(self, device: str) -> None:
        """Say where it is really computed."""
        self.desk.report(self.desk.state.share, self.desk.state.step, device)

    def set_threads(self) -> None:
        """Give torch as many threads as the votes can keep busy."""
        import torch  # noqa: PLC0415  # those who wait have not imported it

        cells = self.votes.n_rows * self.votes.n_learners * self.votes.n_classes
        torch.set_num_threads(max(1, min(cores(), cells // _CELLS_PER_THREAD)))
