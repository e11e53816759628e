"""The review queue: which rows are worth a human look, why, and in which order."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from deem_core.diagnostics import confidence as sure
from deem_core.diagnostics.answers import Codes, Fused, logits
from deem_core.diagnostics.result import Result
from deem_core.distinct import distinct_rows
from deem_core.votes import NO_VOTE, Votes

_CHUNK = 1 << 22  # (restart, row, class) cells asked at once

REASONS = ("its votes back the label least", "a unanimous vote was overruled", "restarts disagree on it")
"""Why a row is in the queue, in words."""


@dataclass(frozen=True)
class Queue(Result):
    """Rows to review, the most urgent first.

    Attributes
    ----------
    rows : (m,) int64
        Positions.
    score : (m,) float64
        Log-probability of the fused label by the votes alone (`confidence.review_score`); low is doubtful.
    doubtful, overruled, disputed : (m,) bool
        The reasons, as in `REASONS`.
    support : (m,) float64
        Share of the restarts that give the fused label; NaN if unknown.
    """

    rows: NDArray[np.int64]
    score: NDArray[np.float64]
    doubtful: NDArray[np.bool_]
    overruled: NDArray[np.bool_]
    disputed: NDArray[np.bool_]
    support: NDArray[np.float64]

    @property
    def why(self) -> list[str]:
        """The reasons of each row, in words."""
        flags = np.stack([self.doubtful, self.overruled, self.disputed], axis=1)
        return ["; ".join(REASONS[at] for at in np.flatnonzero(row)) for row in flags]

    def to_frame(self) -> pd.DataFrame:
        """Return a row per row, numbers counted from 1."""
        return pd.DataFrame(
            {"row": self.rows + 1, "why": self.why, "score": self.score, "restarts_agreeing": self.support}
        )


def review_queue(votes: Votes, posterior: sure.Posterior, support: NDArray[np.floating[Any]] | None = None) -> Queue:
    """Return the rows worth a look: those with the most reasons first, then those with the least backing.

    Parameters
    ----------
    votes : Votes
    posterior : (n, K) array
    support : (n,) array, optional
        Of `restart_support`; below 1 the restarts disagree.
    """
    score = sure.review_score(votes, posterior)
    voted = votes.votes_per_row > 0
    fused = sure.fused_codes(votes, posterior)
    doubtful = np.zeros(votes.n_rows, bool)
    wanted = math.ceil(round(sure.REVIEW_SHARE * int(voted.sum()), 6))
    doubtful[np.argsort(score, kind="stable")[:wanted]] = True  # NaN comes last
    overruled = votes.unanimous & (fused != votes.majority_vote.codes)
    known = np.full(votes.n_rows, np.nan) if support is None else np.asarray(support, np.float64)
    disputed = known < 1
    reasons = doubtful.astype(np.int8) + overruled + disputed
    chosen = np.flatnonzero((reasons > 0) & voted)
    order = chosen[np.lexsort((score[chosen], -reasons[chosen]))]
    return Queue(order, score[order], doubtful[order], overruled[order], disputed[order], known[order])


def restart_support(model: Fused, codes: Codes, fused: Codes) -> NDArray[np.float64]:
    """Return the share of the kept restarts that give each row its fused label, (n,); NaN for rows without votes.

    Parameters
    ----------
    model : DEEM or IRBM
    codes : (n, d) array of int
        Of the model's learners.
    fused : (n,) array of int
    """
    rows = distinct_rows(np.column_stack([codes, fused]))
    votes, label = rows.codes[:, :-1], rows.codes[:, -1]
    found = np.full(len(votes), np.nan)
    for part in _chunks(len(votes), model):
        own = logits(model, votes[part]).argmax(axis=2)  # (R, b)
        found[part] = (own == label[part]).mean(axis=0)
    found[label == NO_VOTE] = np.nan
    return np.asarray(found[rows.of_row])


def _chunks(n: int, model: Fused) -> Iterator[slice]:
    R = max(1, sum(len(part.maps) for part in model.parts_))
    size = max(256, _CHUNK // (R * len(model.classes_)))
    return (slice(start, min(start + size, n)) for start in range(0, n, size))
