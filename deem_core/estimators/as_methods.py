"""DEEM, soft DEEM and the iRBM under the contract of methods."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deem_core.control import NO_CONTROL, Control
from deem_core.engine import LOCAL
from deem_core.estimators.deem import DEEM
from deem_core.estimators.irbm import IRBM
from deem_core.estimators.soft import SoftDEEM
from deem_core.methods import dawid_skene
from deem_core.methods.contract import Aggregate, silence_notes
from deem_core.votes import Votes
from deem_core.votes.recode import votes_to_learn_from

LONGER = "This is Dawid-Skene run longer: both climb the same likelihood (Lemma 1)."


def deem(votes: Votes, rng: np.random.Generator, *, control: Control = NO_CONTROL, device: str = "auto") -> Aggregate:
    """Train DEEM.

    Raises `control.Stopped` if ``control`` says so before it has an answer.
    """
    return _trained(DEEM(random_state=_seed(rng), device=device), votes, control)


def deem_soft(
    votes: Votes, rng: np.random.Generator, *, control: Control = NO_CONTROL, device: str = "auto"
) -> Aggregate:
    """Train soft DEEM; raises `control.Stopped` as `deem` does.

    ``skills`` are the weights of the learners' evidence (d,).
    """
    model = SoftDEEM(random_state=_seed(rng), device=device)
    answer = _trained(model, votes, control)
    return replace(answer, skills=np.where(votes.learner_coverage > 0, model.weights_, np.nan))


def irbm_cd(
    votes: Votes, rng: np.random.Generator, *, control: Control = NO_CONTROL, device: str = "auto"
) -> Aggregate:
    """Train the iRBM by contrastive divergence; raises `control.Stopped` as `deem` does."""
    return _trained(IRBM(method="cd", random_state=_seed(rng), device=device), votes, control)


def irbm(votes: Votes, rng: np.random.Generator, *, control: Control = NO_CONTROL) -> Aggregate:
    """Fit the iRBM exactly.

    By Lemma 1 its maximum of likelihood is that of Dawid-Skene, which EM climbs.

    The answer of `IRBM` with ``method="exact"``, except that it can be cut; ``rng`` is not used.
    """
    answer = dawid_skene.aggregate(
        votes_to_learn_from(votes),
        rng,
        tolerance=dawid_skene.CONVERGED_TOLERANCE,
        max_iterations=dawid_skene.CONVERGED_MAX_ITERATIONS,
        control=control,
    )
    return replace(answer, notes=(LONGER, *answer.notes))


def _trained(model: DEEM, votes: Votes, control: Control) -> Aggregate:
    model.fit(votes, control=control, on=LOCAL)  # whoever compares methods shares them out
    voted = votes.votes_per_row > 0
    updates = model.settings_.get("updates", {}).get("value") or 0
    return Aggregate(
        posterior=model.fuse_rows(model.read(votes)),
        voted=voted,
        iterations=int(updates),
        converged=not model.fallback_,
        notes=(*model.findings_, *model.warnings_, *silence_notes(voted)),
        answered_by=model.stand_in_,
    )


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31 - 1))
