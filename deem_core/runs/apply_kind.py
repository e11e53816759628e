"""Apply: label a dataset with a model that was trained before.

Config: ``model``, the content hash of a stored model file.
"""

from __future__ import annotations

import time

from deem_core.diagnostics.confidence import fused_codes
from deem_core.diagnostics.review import restart_support
from deem_core.runs.job import Job
from deem_core.runs.results import write_fused


def execute(job: Job) -> None:
    """Do the work of an apply run."""
    from deem_core.estimator import DEEM  # noqa: PLC0415  # those who wait have not imported torch
    from deem_core.fused import in_terms_of  # noqa: PLC0415

    begun = time.perf_counter()
    model = DEEM.load(job.input(job.config.get("model", "")))
    given = job.votes
    job.set_threads()
    job.report(0.3, "Fusing the votes")
    votes, warnings = in_terms_of(model, given)
    for sentence in warnings:
        job.note(sentence)
    posterior = model.fuse_codes(votes.codes)
    job.control.check()
    story = {
        "method": "apply",
        "settings": model.settings_,
        "restarts": model.restarts_,
        "warnings": warnings,
        "near_copies": list(model.near_copies_.sentences),
        "hedged": model.hedged_,
        "fallback": model.fallback_,
        "device": "cpu",
        "trained_rows": model.n_rows_,
        "learners": list(model.learners_),
        "classes": model.classes_.tolist(),
        "seconds": time.perf_counter() - begun,
    }
    support = restart_support(model, votes.codes, fused_codes(votes, posterior))
    job.control.check()
    write_fused(job, votes, posterior, story, support)
