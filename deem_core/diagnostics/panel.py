"""Effective votes from the true labels, beside the figure without truth.

Evaluation only: nothing of this goes back into training or choosing.
"""

from __future__ import annotations

import numpy as np

from deem_core.groups.effective_votes import kish, votes_per_row
from deem_core.groups.mistakes import PairSample, correlation
from deem_core.votes import NO_VOTE, Votes


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
    if votes.truth is None:
        return None
    judged = votes.select_rows((votes.truth != NO_VOTE) & (votes.votes_per_row > 0))
    if judged.truth is None or not judged.n_rows:
        return None
    sample = PairSample.of(judged, rng)
    truth = judged.truth[sample.rows]
    values, rows = [], []
    for i, j in sample.pairs.tolist():
        both = sample.both(i, j)
        value = correlation(sample.codes[i, both] != truth[both], sample.codes[j, both] != truth[both])
        if value is not None:
            values.append(value)
            rows.append(len(both))
    per_row = votes_per_row(votes)
    if not values or per_row is None:
        return None
    return kish(per_row, float(np.average(values, weights=rows)))
