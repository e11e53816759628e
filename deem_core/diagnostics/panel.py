"""Effective votes from the true labels, beside the figure without truth.

Evaluation only: nothing of this goes back into training or choosing.
"""

from __future__ import annotations

import numpy as np

from deem_core.comparison.dependence import error_correlation
from deem_core.groups.effective_votes import kish, votes_per_row
from deem_core.votes import Votes


def true_effective_votes(votes: Votes, rng: np.random.Generator) -> float | None:
    """Return Kish's effective number of votes of a row, by the truth.

    m / (1 + (m − 1) · max(0, ρ)), with m the votes per voted row and ρ the mean correlation of being wrong, pairs
    weighted by their common rows with known truth. None without truth, or if no pair has enough such rows.

    Parameters
    ----------
    votes : Votes
    rng : Generator
        Draws rows and pairs where there are too many, as `deem_core.groups.panel.panel_health` does.
    """
    rho, _ = error_correlation(votes, rng)
    per_row = votes_per_row(votes)
    return None if rho is None or per_row is None else kish(per_row, rho)
