"""Job: the work of one run, with its inputs, control and results."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet

from deem_core.answers import stored
from deem_core.answers.answer import MAX_PROBABILITIES, PART_ROWS, Answer
from deem_core.comparison.evaluation import evaluate
from deem_core.engine import LOCAL, Engine, cores, engine_of
from deem_core.errors import missing_torch
from deem_core.estimators.summary import TrainingSummary
from deem_core.files.atomic import write_json
from deem_core.readers import Reading
from deem_core.runs.control import RunControl
from deem_core.runs.private import private_file
from deem_core.runs.run import MODEL, RESULT, SUMMARY, Run
from deem_core.runs.summary import FusionSummary
from deem_core.votes import Votes

if TYPE_CHECKING:
    from deem_core.runs.workspace import Workspace

_CELLS_PER_THREAD = 5_000_000  # (row, learner, class) cells; with fewer, threads wait for each other


class Job:
    """The work of a run.

    Parameters
    ----------
    workspace : Workspace
    run : Run
    control : RunControl
        Says when to stop, is told of progress, and keeps checkpoints.
    """

    def __init__(self, workspace: Workspace, run: Run, control: RunControl) -> None:
        self.workspace, self.run, self.control = workspace, run, control
        self.config: dict[str, Any] = run.config
        self.seed = int(run.spec["seed"])

    @property
    def folder(self) -> Path:
        """Where the results go, each written whole."""
        return self.run.path

    @cached_property
    def reading(self) -> Reading:
        """The dataset as the run's spec says to read it."""
        self.control.tell("Reading the file", self.share)
        reading = self.workspace.read_inputs(self.run.spec["inputs"])
        self.control.check()
        return reading

    @cached_property
    def votes(self) -> Votes:
        """The votes, with their truth if there is one: for evaluation only.

        Gold labels are those of the file and of the answers that the config names.
        """
        return self.workspace.with_gold(self.reading.votes, self.run.spec)

    @property
    def settings(self) -> dict[str, Any]:
        """The config without what the votes hold already, and where to run."""
        return {name: value for name, value in self.config.items() if name not in ("gold", "on")}

    @cached_property
    def engine(self) -> Engine:
        """Where to run pieces of the work; this machine by default."""
        wish = str(self.config.get("on") or LOCAL)
        if wish != LOCAL:
            self.control.tell(f"Connecting to {wish}", self.share)
        return engine_of(wish)

    def input(self, digest: str) -> Path:
        """Return where a stored input is."""
        return self.workspace.input(digest)

    def asked_to_finish(self) -> bool:
        """Return whether somebody has seen enough; see `Workspace.finish`."""
        return self.run.is_finishing()

    @property
    def share(self) -> float:
        """Share done so far (0 to 1).

        Of a resumed run, more than 0.
        """
        return self.control.status.state.share

    @property
    def worked(self) -> float:
        """Seconds of work before this run was resumed."""
        return self.control.status.state.worked

    def note(self, sentence: str) -> None:
        """Add a sentence to the progress."""
        self.control.note(sentence)

    def set_device(self, device: str) -> None:
        """Write down the device that computes."""
        status = self.control.status
        status.report(status.state.share, status.state.step, device)

    def set_threads(self) -> None:
        """Give torch as many threads as the votes can keep busy."""
        if missing_torch():
            return
        import torch  # noqa: PLC0415  # those who wait have not imported it

        cells = self.votes.n_rows * self.votes.n_learners * self.votes.n_classes
        torch.set_num_threads(max(1, min(cores(), cells // _CELLS_PER_THREAD)))


def write_answer(job: Job, answer: Answer, training: TrainingSummary) -> None:
    """Write the table and the summary of an answer.

    The truth is looked at here for the first time.
    """
    job.control.tell("Writing the results", 0.98)
    answered_again = answer.votes.n_classes <= MAX_PROBABILITIES or (job.folder / MODEL).exists()
    write_labels(job, answer, RESULT, probabilities=answered_again)  # else nobody could tell them later
    job.control.check()
    write_summary(
        job, FusionSummary(answer.summary(), training, evaluate(answer), answer.alarms, answer.gold).to_dict()
    )


def write_labels(job: Job, answer: Answer, name: str, *, probabilities: bool = True) -> None:
    """Write the table of an answer under a name."""
    with private_file(job.folder / name, durable=True) as stream:
        stored.write_answer(answer, stream, probabilities=probabilities)


def write_table(job: Job, table: pa.Table) -> None:
    """Write ``result.parquet``."""
    with private_file(job.folder / RESULT, durable=True) as stream:
        pyarrow.parquet.write_table(table, stream, row_group_size=PART_ROWS)


def write_summary(job: Job, content: dict[str, Any]) -> None:
    """Write ``summary.json``; numbers that are not finite become null."""
    write_json(content, job.folder / SUMMARY)
