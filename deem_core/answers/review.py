"""The review queue.

Which rows are worth a human look, why, and in which order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from deem_core.answers.answer import Answer
from deem_core.files.results import Result
from deem_core.typing import Floats, Mask

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
        Log-probability of the fused label by the votes alone (`scores.review_score`); low is doubtful.
    doubtful, overruled, disputed : (m,) bool
        The reasons, as in `REASONS`.
    support : (m,) float64
        Share of the restarts that give the fused label; NaN if unknown.
    """

    rows: NDArray[np.int64]
    score: Floats
    doubtful: Mask
    overruled: Mask
    disputed: Mask
    support: Floats

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


def review_queue(answer: Answer) -> Queue:
    """Return the rows worth a look.

    Those with the most reasons first, then those with the least backing.

    Restarts disagree on a row where the support of the answer is below 1.
    """
    score, doubtful, overruled = answer.review_score, answer.doubtful, answer.overruled
    support = np.full(len(score), np.nan) if answer.support is None else np.asarray(answer.support, np.float64)
    disputed = support < 1
    reasons = doubtful.astype(np.int8) + overruled + disputed
    chosen = np.flatnonzero((reasons > 0) & ~answer.silent)
    order = chosen[np.lexsort((score[chosen], -reasons[chosen]))]
    return Queue(order, score[order], doubtful[order], overruled[order], disputed[order], support[order])
