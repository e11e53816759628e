"""Effective votes: how many independent learners a panel is worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deem_core.groups.em import fit
from deem_core.groups.mistakes import PairSample, SharedMistakes
from deem_core.text import count
from deem_core.typing import Floats
from deem_core.votes import Votes
from deem_core.votes.arrays import one_hot
from deem_core.votes.patterns import Table

MAX_CLASSES = 100
"""Classes up to which the dependence that Dawid-Skene leaves is computed: its confusions have d·K² cells."""
_NEARLY_ALL = 0.95  # share of the learners that vote on a row, from which a sentence speaks of learners


@dataclass(frozen=True)
class EffectiveVotes:
    """Votes per row, and how many independent ones they are worth.

    Attributes
    ----------
    n_learners : int
    per_row : float, optional
        m, the mean number of votes of the rows that have any; None without votes.
    rho_others : float, optional
        Mean correlation of mistakes, judged by the majority of the others.
    rho_residual : float, optional
        Mean correlation of the votes that Dawid-Skene leaves unexplained.
    reason : str
        Why one of them is None; empty otherwise.
    """

    n_learners: int
    per_row: float | None = None
    rho_others: float | None = None
    rho_residual: float | None = None
    reason: str = ""

    @property
    def n_eff(self) -> float | None:
        """Independent votes: m / (1 + (m − 1) · (max(0, ρ_others) + max(0, ρ_residual)))."""
        if self.per_row is None or self.rho_others is None or self.rho_residual is None:
            return None
        return kish(self.per_row, max(0.0, self.rho_others) + max(0.0, self.rho_residual))

    @property
    def sentence(self) -> str:
        """The finding in words."""
        if self.n_eff is None or self.per_row is None:
            return f"How many independent votes a row has could not be estimated: {self.reason}."
        if self.per_row >= _NEARLY_ALL * self.n_learners:
            return f"{count(self.n_learners, 'learner')}, worth about {worth(self.n_eff)}."
        return f"{self.per_row:.1f} votes a row, worth about {worth(self.n_eff)}."


def votes_per_row(votes: Votes) -> float | None:
    """Return m, the mean number of votes of the rows that have any."""
    voted = votes.votes_per_row > 0
    return float(votes.votes_per_row[voted].mean()) if voted.any() else None


def kish(m: float, rho: float) -> float:
    """Return m / (1 + (m − 1) · max(0, ρ)), Kish's effective number of m votes."""
    return m / (1 + max(m - 1, 0) * max(0.0, rho))


def worth(n_eff: float) -> str:
    """Return "4 independent ones", with a decimal below 3."""
    figure = f"{n_eff:.0f}" if n_eff >= 2.95 else f"{n_eff:.1f}".removesuffix(".0")
    return f"{figure} independent {'one' if figure == '1' else 'ones'}"


def effective_votes(votes: Votes, sample: PairSample, mistakes: SharedMistakes) -> EffectiveVotes:
    """Return the effective votes of a row, without truth.

    Read the figure as "about so many", and as an upper bound where everybody may err together: that is not seen.

    Parameters
    ----------
    votes : Votes
    sample : PairSample
        Its rows and pairs are looked at.
    mistakes : SharedMistakes
        Of the same sample.
    """
    d = votes.n_learners
    if not len(sample.rows):
        return EffectiveVotes(d, reason="there are no votes")
    per_row = votes_per_row(votes)
    if not len(sample.pairs):
        return EffectiveVotes(d, per_row, reason="no two learners have enough common rows")
    residual = residual_correlation(votes.n_classes, sample)
    reason = ""
    if mistakes.mean is None:
        reason = "mistakes show only where others decide, and no pair of learners has enough such rows"
    elif residual is None:
        many = votes.n_classes > MAX_CLASSES
        reason = f"there are more than {MAX_CLASSES} classes" if many else "Dawid-Skene explains every vote"
    return EffectiveVotes(d, per_row, mistakes.mean, residual, reason)


def residual_correlation(n_classes: int, sample: PairSample) -> float | None:
    """Return ρ_residual: the correlation of votes that Dawid-Skene leaves.

    With y the label that Dawid-Skene gives a row and r_i = e_{x_i} − ψ_i[·, y] the vote it did not expect of learner
    i, for each pair::

        ρ_ij = Σ_rows r_i·r_j / √( Σ |r_i|² · Σ |r_j|² )

    averaged over the pairs by their common rows. Labels, not probabilities: where a row is in doubt, probabilities lean
    towards both votes at once and make their residuals differ in sign. None above `MAX_CLASSES` classes.
    """
    if n_classes > MAX_CLASSES:
        return None
    codes = sample.codes.T
    model = fit(Table.of(codes, n_classes), ()).model
    labels = model.posterior(codes).argmax(axis=1)

    def left(i: int, rows: NDArray[np.intp]) -> Floats:  # (rows, K); of all learners at once they may be gigabytes
        residual: Floats = one_hot(sample.codes[i, rows][:, None], n_classes, np.float64)[:, 0]
        residual -= model.B[i].T[labels[rows]]
        return residual

    total, weight = 0.0, 0
    for i, j in sample.pairs.tolist():
        both = sample.both(i, j)
        one, other = left(i, both), left(j, both)
        spread = float(np.sqrt((one * one).sum() * (other * other).sum()))
        if spread > 1e-9:
            total += len(both) * float((one * other).sum()) / spread
            weight += len(both)
    return total / weight if weight else None
