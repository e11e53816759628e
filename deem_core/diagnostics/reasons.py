"""Reasons for a label: what each vote did for it.

The contribution of a learner is the change of the log-odds of the fused class against the runner-up when its vote is
withheld: positive for those who spoke for the fused class. Log-odds are averaged over restarts. In an exact iRBM a
contribution is log ψ(vote | fused) − log ψ(vote | runner-up), and together with the prior they add up. Learners of a
group, or near-copies that speak with one voice, are also withheld together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from deem_core.diagnostics.model_view import FittedModel, class_names, logits, restart_weights
from deem_core.errors import InputError
from deem_core.files.results import Result
from deem_core.files.tables import row_names
from deem_core.typing import Codes, Floats, Integers, Rows
from deem_core.votes import NO_VOTE, Votes
from deem_core.votes.arrays import chunks, votes_cast, withhold
from deem_core.votes.checks import as_rows

_CHUNK_ROWS = 20_000  # rows with a vote withheld that are asked at once


@dataclass(frozen=True)
class Why(Result):
    """Reasons for the labels of m rows.

    Attributes
    ----------
    rows : (m,) int64
        Positions.
    ids : tuple of m str
    learners : tuple of d str
    classes : tuple of K str
    votes : (m, d) int32
        Class index of each vote, -1 for none.
    fused, runner_up : (m,) int32
        The most probable class and the next.
    confidence, runner_up_probability : (m,) float64
        Their probabilities in the model's answer.
    log_odds : (m,) float64
        Of the fused class against the runner-up, all votes there.
    contributions : (m, d) float64
        Of each learner's vote; NaN where it cast none.
    voices : tuple of str
        Near-copies that speak with one voice, or groups that err together; a member's own contribution is small where
        the others would have said the same without it.
    voice_members : tuple of tuples of int
    voice_contributions : (m, groups) float64
        With all votes of the group withheld; NaN where there is none.
    """

    rows: NDArray[np.int64]
    ids: tuple[str, ...]
    learners: tuple[str, ...]
    classes: tuple[str, ...]
    votes: Codes
    fused: Codes
    runner_up: Codes
    confidence: Floats
    runner_up_probability: Floats
    log_odds: Floats
    contributions: Floats
    voices: tuple[str, ...]
    voice_members: tuple[tuple[int, ...], ...]
    voice_contributions: Floats

    def of_row(self, at: int) -> pd.DataFrame:
        """Return one row's reasons, a line per vote, largest first."""
        frame = self.to_frame()
        own: pd.DataFrame = frame[frame["row"] == int(self.rows[at]) + 1].reset_index(drop=True)
        return own.drop(columns=["row", "id"])

    def to_frame(self) -> pd.DataFrame:
        """Return a line per row and vote cast, largest contribution first.

        Rows are counted from 1.
        """
        names = np.asarray([*self.classes, ""], object)
        order = np.argsort(-np.nan_to_num(self.contributions, nan=-np.inf), axis=1, kind="stable")  # (m, d)
        at = np.repeat(np.arange(len(self.rows)), len(self.learners))
        learner = order.ravel()
        vote = self.votes[at, learner]
        frame = pd.DataFrame(
            {
                "row": self.rows[at] + 1,
                "id": np.asarray(self.ids, object)[at],
                "learner": np.asarray(self.learners, object)[learner],
                "vote": names[vote],
                "contribution": self.contributions[at, learner],
                "fused_label": names[self.fused[at]],
                "runner_up": names[self.runner_up[at]],
            }
        )
        cast: pd.DataFrame = frame[vote != NO_VOTE].reset_index(drop=True)
        return cast


def why(model: FittedModel, votes: Votes, rows: Any) -> Why:
    """Return why rows got their labels.

    Parameters
    ----------
    model : DEEM, SoftDEEM, IRBM or GroupedDawidSkene
        Fitted.
    votes : Votes
    rows : row selection
        Positions, a slice or a mask.

    Raises
    ------
    InputError
        If a row has no votes: then its label is the most frequent one, and nobody's doing.
    """
    votes = model.recoded(votes).votes
    positions = np.arange(votes.n_rows)[as_rows(rows, votes.n_rows)]
    silent = positions[votes.votes_per_row[positions] == 0]
    if len(silent):
        raise InputError(f"Row {int(silent[0]) + 1} has no votes, so no learner is the reason for its label.")
    codes, read = votes.codes[positions], model.read(votes)[positions]
    posterior = model.fuse_rows(read)
    best = np.argsort(-posterior, axis=1, kind="stable")[:, :2].astype(np.int32)  # the lowest class among equals
    fused, second = best[:, 0], best[:, 1]
    together = model.voices_
    before = _log_odds(model, read, fused, second)
    groups = [*((j,) for j in range(votes.n_learners)), *together.members]
    contributions = np.full((len(codes), len(groups)), np.nan)
    for at, s, changed in _votes_withheld(read, groups):
        contributions[at, s] = before[at] - _log_odds(model, changed, fused[at], second[at])
    own = np.arange(len(codes))
    return Why(
        rows=positions.astype(np.int64),
        ids=tuple(row_names(votes, positions).to_pylist()),
        learners=votes.learners,
        classes=class_names(model.classes_),
        votes=codes,
        fused=fused,
        runner_up=second,
        confidence=posterior[own, fused],
        runner_up_probability=posterior[own, second],
        log_odds=before,
        contributions=contributions[:, : votes.n_learners],
        voices=together.names,
        voice_members=together.members,
        voice_contributions=contributions[:, votes.n_learners :],
    )


def _votes_withheld(
    rows: Rows, groups: Sequence[tuple[int, ...]]
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp], Rows]]:
    """Yield positions, groups and rows without the group's votes.

    Many rows at a time, and only where there are votes.
    """
    voted = votes_cast(rows)
    cast = np.stack([voted[:, group].any(axis=1) for group in groups], axis=1)  # (m, groups)
    absent = np.zeros((len(groups), rows.shape[1]), bool)
    for own, group in zip(absent, groups, strict=True):
        own[list(group)] = True
    row, which = np.nonzero(cast)
    for part in chunks(len(row), _CHUNK_ROWS):
        at, s = row[part], which[part]
        yield at, s, withhold(rows[at], absent[s])


def _log_odds(model: FittedModel, rows: Rows, first: Integers, second: Integers) -> Floats:
    """Return the difference of two classes' logits, (n,), averaged over restarts."""
    scores, own = logits(model, rows), np.arange(len(rows))
    return np.asarray(restart_weights(model) @ (scores[:, own, first] - scores[:, own, second]))
