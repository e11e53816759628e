"""DEEM and the iRBM under the contract of the baselines, with their default settings."""

from __future__ import annotations

import numpy as np

from deem_core.baselines import dawid_skene
from deem_core.baselines.contract import Aggregate, Stop, never, silence_notes
from deem_core.control import Control
from deem_core.estimator import DEEM, IRBM
from deem_core.inputs import votes_to_learn_from
from deem_core.votes import Votes


def deem(votes: Votes, rng: np.random.Generator, *, stop: Stop = never) -> Aggregate:
    """Train DEEM; raises `control.Stopped` if ``stop`` says so before it has an answer."""
    return _trained(DEEM(random_state=_seed(rng)), votes, stop)


def irbm_cd(votes: Votes, rng: np.random.Generator, *, stop: Stop = never) -> Aggregate:
    """Train the iRBM by contrastive divergence; raises `control.Stopped` as `deem` does."""
    return _trained(IRBM(method="cd", random_state=_seed(rng)), votes, stop)


def irbm(votes: Votes, rng: np.random.Generator, *, stop: Stop = never) -> Aggregate:
    """Fit the iRBM exactly: by Lemma 1 its maximum of likelihood is that of Dawid-Skene, which EM climbs.

    The answer of `IRBM` with ``method="exact"``, except that it can be cut; ``rng`` is not used.
    """
    return dawid_skene.aggregate(
        votes_to_learn_from(votes),
        rng,
        tolerance=dawid_skene.CONVERGED_TOLERANCE,
        max_iterations=dawid_skene.CONVERGED_MAX_ITERATIONS,
        stop=stop,
    )


class _StopControl(Control):
    """A control that only asks whether to stop."""

    def __init__(self, stop: Stop) -> None:
        self._stop = stop

    def stopped(self) -> bool:
        return self._stop()


def _trained(model: DEEM, votes: Votes, stop: Stop) -> Aggregate:
    model.fit(votes, control=_StopControl(stop))
    voted = votes.votes_per_row > 0
    updates = model.settings_.get("updates", {}).get("value") or 0
    return Aggregate(
        posterior=model.fuse_codes(votes.codes),
        voted=voted,
        iterations=int(updates),
        converged=not model.fallback_,
        notes=(*model.near_copies_.sentences, *model.warnings_, *silence_notes(voted)),
    )


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31 - 1))
