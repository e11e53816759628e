"""Sweep: train at several learning rates, or depths, and judge their curves.

Config: ``rates`` (list, optional), ``n_layers`` (a number or a list, optional), ``smoothing`` (optional), and any
other settings of training. The summary is `deem_core.sweeping.Sweep.to_dict`, the result its curves; while it runs,
and if it is cancelled, what is known so far is in ``partial.json``, of the same form as the summary.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from deem_core.runs.job import Job
from deem_core.runs.private import write_private_json
from deem_core.runs.results import write_summary, write_table
from deem_core.runs.run import PARTIAL

if TYPE_CHECKING:  # torch takes a second, and those who wait have not imported it
    from deem_core.sweeping import Sweeper
    from deem_core.votes import Votes

PARTIAL_SECONDS = 1.0
"""Time between two looks at what is known so far."""


def execute(job: Job) -> None:
    """Do the work of a sweep."""
    votes = job.votes.without_truth()
    job.set_threads()
    sweeper = make_sweeper(votes, job.config | {"random_state": job.seed}, control=job.control)
    for sentence in sweeper.sentences:
        job.note(sentence)
    job.report(0.0, "Sweeping")
    looked = -PARTIAL_SECONDS
    for progress in sweeper:
        place = {name: value for name, value in vars(progress).items() if name != "record"}
        job.record({**progress.record.to_dict(), **place})
        job.report(0.98 * progress.share, "Sweeping")
        if time.monotonic() - looked >= PARTIAL_SECONDS:
            write_private_json(sweeper.result().to_dict(), job.folder / PARTIAL)
            looked = time.monotonic()
    found = sweeper.result()
    write_private_json(found.to_dict(), job.folder / PARTIAL)
    job.control.check()
    write_table(job, pa.Table.from_pandas(found.to_frame(), preserve_index=False))
    write_summary(job, found.to_dict())


def make_sweeper(votes: Votes, config: dict[str, Any], **more: Any) -> Sweeper:
    """Return the sweep that a config describes, ready to run.

    Raises
    ------
    InputError
        If a setting is unknown or out of its bounds.
    """
    from deem_core.config import TrainConfig  # noqa: PLC0415
    from deem_core.sweeping import Sweeper  # noqa: PLC0415

    settings = {name: value for name, value in config.items() if value is not None}
    own = {name: settings.pop(name) for name in ("rates", "n_layers", "smoothing") if name in settings}
    return Sweeper(votes, **own, config=TrainConfig.of(settings), **more)
