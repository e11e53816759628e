"""Gold rows of an answer, whose label is known."""

from __future__ import annotations

import numpy as np

from deem_core.answers import scores
from deem_core.typing import Codes, Mask, Posterior
from deem_core.votes import Gold, Votes


def settled(votes: Votes) -> Mask:
    """Return the rows whose label is a gold label, (n,).

    A gold label that no learner votes for is no class of an answer; its row keeps the method's and needs review. So
    does a row without votes, which has no label at all.
    """
    if votes.gold is None:
        return np.zeros(votes.n_rows, bool)
    return np.asarray(votes.gold.known & (votes.gold.codes < votes.n_classes) & (votes.votes_per_row > 0))


def settle(votes: Votes, gold: Gold, posterior: Posterior) -> tuple[Posterior, Codes]:
    """Return the posterior with gold labels for certain, (n, K).

    With it comes what the method said of the gold rows, (g,).
    """
    said = scores.fused_codes(votes, posterior)[gold.rows]
    made = np.array(posterior)
    rows = np.flatnonzero(settled(votes))
    made[rows] = 0.0
    made[rows, gold.codes[rows]] = 1.0
    return made, said


def review(votes: Votes, doubtful: Mask) -> Mask:
    """Return doubtful rows (n,), gold rows only where not settled."""
    if votes.gold is None:
        return doubtful
    return np.asarray((doubtful | votes.gold.known) & ~settled(votes))
