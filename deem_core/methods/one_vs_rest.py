"""One class against the rest: what the binary baselines share.

For class k a vote is z = +1 if it names k, −1 if it names another class, 0 if it was not cast. Each class gives the
log-odds s_nk that row n belongs to it; the posterior of more than two classes is proportional to the odds exp(s_nk),
whose largest is the label (the lowest class among equals). Two classes are one question: p_n1 = sigmoid(s_n1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deem_core.control import Control, Stopped
from deem_core.errors import InputError
from deem_core.typing import Floats
from deem_core.votes import Votes
from deem_core.votes.arrays import distinct_rows, normalise_logs
from deem_core.votes.recode import MIN_LEARNERS


@dataclass(frozen=True)
class Signs:
    """Votes for one class or against it, in distinct rows.

    Attributes
    ----------
    z : (u, d)
        +1, −1, or 0 where no vote was cast.
    cast : (u, d)
        1 where a vote was cast.
    counts : (u,)
        How often each row occurs.
    prior : float
        Share of the rows with votes whose majority vote is this class.
    """

    z: Floats
    cast: Floats
    counts: Floats
    prior: float

    @property
    def common(self) -> Floats:
        """Rows on which both of two learners voted, (d, d)."""
        return self.cast.T @ (self.counts[:, None] * self.cast)

    @property
    def means(self) -> Floats:
        """Mean of each learner's z over its votes, (d,); 0 without votes."""
        return (self.counts @ self.z) / np.maximum(self.counts @ self.cast, 1)

    def products(self, z: Floats) -> Floats:
        """Return the mean of z_i·z_j over common rows, (d, d).

        0 where there are none.
        """
        return z.T @ (self.counts[:, None] * z) / np.maximum(self.common, 1)

    def covariance(self) -> Floats:
        """Return the pairwise covariance (d, d)."""
        return self.products((self.z - self.means) * self.cast)


def one_vs_all(votes: Votes, score: Callable[[Signs], Floats], control: Control, name: str) -> Floats:
    """Return the posterior (n, K) from the log-odds (u,) that ``score`` gives for each class.

    Raises
    ------
    Stopped
        If ``control`` says so before the last class: labels need the log-odds of all.
    """
    check_learners(votes, name)
    K = votes.n_classes
    rows = votes.distinct
    counts = rows.weights
    majority = np.bincount(votes.majority_vote.codes + 1, minlength=K + 1)[1:] / max(counts.sum(), 1)
    odds = np.zeros((len(rows.codes), K))
    classes = [1] if K == 2 else range(K)
    for done, k in enumerate(classes):
        check_cut(done, len(classes), control)
        marks = distinct_rows(np.where(rows.codes < 0, 0, np.where(rows.codes == k, 1, -1)))  # far fewer than rows
        z = marks.codes.astype(np.float64)
        own: Floats = np.bincount(marks.of_row, counts, minlength=len(z)).astype(np.float64)
        odds[:, k] = score(Signs(z, np.abs(z), own, float(majority[k])))[marks.of_row]
    normalise_logs(odds)
    return rows.spread(odds)


def check_cut(done: int, n_classes: int, control: Control) -> None:
    """Raise `Stopped` if ``control`` says so after some, but not all, classes."""
    if done and control.stopped():
        raise Stopped(f"It was stopped after {done:,} of {n_classes:,} classes, and labels need all of them.")


def check_learners(votes: Votes, name: str) -> None:
    """Refuse fewer than three learners.

    With them no accuracy can be told from agreements.
    """
    if votes.n_learners < MIN_LEARNERS:
        raise InputError(
            f"{name} needs at least three learners, since it infers accuracies from how three of them agree; "
            f"there {'is' if votes.n_learners == 1 else 'are'} {votes.n_learners}."
        )
