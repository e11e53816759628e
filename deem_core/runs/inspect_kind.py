"""Inspect: everything about a trained model that needs no choice, computed once beside its run.

Config: ``model`` (digest of a stored model file) and ``training`` (id of the run that trained it). The results are
those of `deem_core.diagnostics.inspection.Inspection.save`.
"""

from __future__ import annotations

import numpy as np

from deem_core.errors import InputError
from deem_core.runs.job import Job
from deem_core.runs.results import write_summary


def execute(job: Job) -> None:
    """Do the work of an inspection; the truth serves its evaluation alone."""
    votes = job.votes
    from deem_core.diagnostics.inspection import inspect  # noqa: PLC0415  # those who wait have not imported torch
    from deem_core.estimator import DEEM  # noqa: PLC0415

    digest = job.config.get("model")
    if not isinstance(digest, str):
        raise InputError("An inspection needs a model: the digest of a stored model file.")
    model = DEEM.load(job.input(digest))
    job.set_threads()
    found = inspect(
        model,
        votes,
        rng=np.random.default_rng(job.seed),
        watch=lambda step, share: job.report(0.97 * share, step),
        control=job.control,
    )
    job.control.check()
    found.save(job.folder)
    write_summary(job, {"rows_used": found.rows_used, "n_rows": found.n_rows, "training": job.config.get("training")})
