"""Results: a table and a summary, each written whole; for runs that fuse, a row for each row of the file."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet

from deem_core import fused
from deem_core.files import write_json
from deem_core.runs.job import Job
from deem_core.runs.private import private_file
from deem_core.runs.run import RESULT, SUMMARY
from deem_core.votes import Votes

_ROW_GROUP = 1 << 18  # rows stored together, as in exported tables


def write_fused(
    job: Job,
    votes: Votes,
    posterior: fused.Posterior,
    story: dict[str, Any],
    support: fused.Posterior | None = None,
) -> None:
    """Write the table and the summary of fused votes; the truth is looked at here for the first time."""
    job.report(0.98, "Writing the results")
    write_table(job, fused.code_table(votes, posterior, support))
    job.control.check()
    evaluation = fused.evaluate(votes, posterior)
    found = fused.summarise(votes, posterior) | story
    write_summary(job, found if evaluation is None else {**found, "evaluation": evaluation})


def write_table(job: Job, table: pa.Table) -> None:
    """Write ``result.parquet``."""
    with private_file(job.folder / RESULT, durable=True) as stream:
        pyarrow.parquet.write_table(table, stream, row_group_size=_ROW_GROUP)


def write_summary(job: Job, content: dict[str, Any]) -> None:
    """Write ``summary.json``; numbers that are not finite become null."""
    write_json(content, job.folder / SUMMARY)
