"""What estimators accept: Votes, frames, arrays of labels or of probabilities; and new rows for a fitted model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from deem_core.coding import key_of
from deem_core.errors import InputError
from deem_core.votes import NO_VOTE, Votes

MIN_LEARNERS = 3
"""With fewer, who is right cannot be told from the votes alone."""


@dataclass(frozen=True)
class Recoded:
    """New votes in the terms of a fitted model.

    Attributes
    ----------
    codes : (n, d) int32
        Over the model's learners and classes.
    unknown : dict
        Labels the model does not know → number of votes; they count as not cast.
    absent : tuple of str
        Learners of the model that the new votes lack; their votes count as not cast.
    extra : tuple of str
        Learners of the new votes that the model does not know; they are left out.
    """

    codes: NDArray[np.int32]
    unknown: dict[str, int]
    absent: tuple[str, ...]
    extra: tuple[str, ...]

    def sentences(self) -> list[str]:
        """Return what was not as in training, as plain sentences."""
        said = []
        if self.unknown:
            names = ", ".join(repr(label) for label in list(self.unknown)[:5])
            total = sum(self.unknown.values())
            counted = f"{total:,} votes for labels" if total > 1 else "A vote for a label"
            said.append(f"{counted} unknown in training ({names}) {'count' if total > 1 else 'counts'} as not cast.")
        if self.absent:
            said.append(f"No votes from {', '.join(self.absent)}; they count as not cast.")
        if self.extra:
            said.append(f"Learners unknown in training were left out: {', '.join(self.extra)}.")
        return said


def as_votes(X: Any) -> Votes:
    """Return Votes from Votes, a frame, an (n, d) array of labels or an (n, d, K) array of probabilities."""
    if isinstance(X, Votes):
        return X
    if isinstance(X, pd.DataFrame):
        return Votes.from_frame(X)
    if np.ndim(X) == 3:
        return Votes.from_soft(X)
    return Votes.from_labels(X)


def votes_to_learn_from(X: Any, allow_few: bool = False) -> Votes:
    """Return votes without their truth, in which there is something to learn.

    Parameters
    ----------
    X : Votes, frame or array
    allow_few : bool
        Whether fewer than `MIN_LEARNERS` learners are accepted.

    Raises
    ------
    InputError
        If learners are too few or nobody voted.
    """
    votes = as_votes(X).without_truth()
    if votes.n_learners < MIN_LEARNERS and not allow_few:
        raise InputError(
            f"{votes.n_learners} learners are too few: with fewer than three, who is right cannot be told from the "
            "votes alone (the model is not identifiable). Add learners, or pass allow_few_learners=True."
        )
    if not votes.votes_per_row.any():
        raise InputError("There is no vote to learn from: every vote is missing.")
    return votes


def recode(X: Any, learners: Sequence[str], classes: NDArray[Any]) -> Recoded:
    """Return new rows as codes over a model's learners and classes.

    Votes and frames are matched by learner name, arrays by position.
    """
    by_name = isinstance(X, (Votes, pd.DataFrame))
    votes = _read(X, classes)
    found = {key_of(label): code for code, label in enumerate(classes.tolist())}
    lookup = np.array([*(found.get(key_of(label), NO_VOTE) for label in votes.classes.tolist()), NO_VOTE], np.int32)
    codes = lookup[votes.codes]
    lost = (codes == NO_VOTE) & (votes.codes != NO_VOTE)
    unknown = {}
    if lost.any():
        which, counts = np.unique(votes.codes[lost], return_counts=True)
        unknown = {str(votes.classes[code]): int(count) for code, count in zip(which, counts, strict=True)}
    if not by_name:
        if votes.n_learners != len(learners):
            raise InputError(f"The model knows {len(learners)} learners; these votes have {votes.n_learners}.")
        return Recoded(codes, unknown, (), ())
    position = {name: j for j, name in enumerate(votes.learners)}
    absent = tuple(name for name in learners if name not in position)
    if len(absent) == len(learners):
        raise InputError(
            f"None of the model's learners ({', '.join(learners[:8])}) is in these votes; "
            f"theirs are {', '.join(votes.learners[:8])}."
        )
    made = np.full((len(codes), len(learners)), NO_VOTE, np.int32)
    for j, name in enumerate(learners):
        if name in position:
            made[:, j] = codes[:, position[name]]
    return Recoded(made, unknown, absent, tuple(name for name in votes.learners if name not in set(learners)))


def _read(X: Any, classes: NDArray[Any]) -> Votes:
    """Return Votes also from rows that hold a single class, which alone could not be fused."""
    if isinstance(X, Votes):
        return X
    if np.ndim(X) == 3:
        return Votes.from_soft(X, classes=classes.tolist() if np.shape(X)[2] == len(classes) else None)
    make = Votes.from_frame if isinstance(X, pd.DataFrame) else Votes.from_labels
    try:
        return make(X, classes=classes.tolist())
    except InputError as error:
        if "not among the classes" not in str(error):
            raise
        return make(X)
