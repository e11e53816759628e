"""Unanimous votes that the fused label overrules; always worth a look."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from deem_core.files.results import Result
from deem_core.files.tables import class_texts, row_names
from deem_core.typing import Integers
from deem_core.votes import NO_VOTE, Votes

MOST_ROWS = 1_000
"""Rows listed at most; all are counted."""


@dataclass(frozen=True)
class Overruled(Result):
    """Rows whose unanimous vote is not the fused label.

    At least two votes were cast.

    Attributes
    ----------
    n_unanimous, n_overruled : int
        Rows with a unanimous vote, and those of them that were overruled.
    rows : (m,) int64
        Positions of the overruled ones, those with the most votes first; `MOST_ROWS` at most.
    ids, voted, fused : tuple of m str
    votes_cast : (m,) int64
    """

    n_unanimous: int
    n_overruled: int
    rows: NDArray[np.int64]
    ids: tuple[str, ...]
    voted: tuple[str, ...]
    fused: tuple[str, ...]
    votes_cast: NDArray[np.int64]

    @property
    def share(self) -> float:
        """Share of the unanimous rows that were overruled; 0 without any."""
        return self.n_overruled / max(1, self.n_unanimous)

    def to_frame(self) -> pd.DataFrame:
        """Return a row per listed row, counted from 1."""
        return pd.DataFrame(
            {
                "row": self.rows + 1,
                "id": list(self.ids),
                "unanimous_vote": list(self.voted),
                "fused_label": list(self.fused),
                "votes": self.votes_cast,
            }
        )


def overruled_rows(votes: Votes, labels: Integers, most: int = MOST_ROWS) -> Overruled:
    """Return the rows in which a unanimous vote was overruled.

    Parameters
    ----------
    votes : Votes
    labels : (n,) array of int
        Fused class of every row, -1 for none.
    most : int
        Rows listed at most.
    """
    majority = votes.majority_vote.codes
    rows = np.flatnonzero(votes.unanimous & (labels != majority) & (labels != NO_VOTE))
    listed = rows[np.argsort(-votes.votes_per_row[rows], kind="stable")][:most]
    names = class_texts(votes)
    return Overruled(
        n_unanimous=int(votes.unanimous.sum()),
        n_overruled=len(rows),
        rows=listed.astype(np.int64),
        ids=tuple(row_names(votes, listed).to_pylist()),
        voted=tuple(names[code] for code in majority[listed]),
        fused=tuple(names[code] for code in labels[listed]),
        votes_cast=votes.votes_per_row[listed].astype(np.int64),
    )
