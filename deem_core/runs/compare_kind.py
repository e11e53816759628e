"""Compare: all methods on the same votes.

Config: ``methods`` ("all" or a list), ``seeds``, ``budget`` (seconds for each method) and ``expert_classes``, all
optional. The summary is `deem_core.comparing.Comparison.to_dict`, the result the class codes of every method.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import pyarrow as pa

from deem_core.errors import InputError
from deem_core.runs.job import Job
from deem_core.runs.results import write_summary, write_table

if TYPE_CHECKING:
    from deem_core.comparing import MethodProgress

SETTINGS = ("methods", "seeds", "budget", "expert_classes")


def execute(job: Job) -> None:
    """Do the work of a comparison; the truth is looked at by `compare` alone, after all labels exist."""
    votes = job.votes
    from deem_core.comparing import compare  # noqa: PLC0415  # those who wait have not imported torch

    settings = {name: value for name, value in job.config.items() if name not in ("device", "random_state")}
    if unknown := sorted(set(settings) - set(SETTINGS)):
        raise InputError(f"A comparison has no setting {unknown[0]!r}; it has {', '.join(SETTINGS)}.")

    def watch(progress: MethodProgress) -> None:
        result = None if progress.result is None else asdict(progress.result)
        job.record({**vars(progress), "result": result, "share": progress.share}, "method")
        job.report(0.98 * progress.share, f"Running {progress.title}")

    job.set_threads()
    found = compare(votes, **settings, random_state=job.seed, watch=watch, control=job.control)
    job.control.check()
    write_table(job, pa.table({name: pa.array(codes, pa.int32()) for name, codes in found.labels.items()}))
    write_summary(job, found.to_dict())
