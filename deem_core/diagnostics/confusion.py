"""Confusion matrices: estimated from a posterior, exact, or real.

ψ_ilm = Pr(learner i votes l | label m) is kept as (d, K, K), a column per label, as in the paper. Estimates compare
learners with the fused label, so that they are usually optimistic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from deem_core.answers import Answer
from deem_core.answers.scores import expected_counts
from deem_core.diagnostics.model_view import ModelPart, class_names
from deem_core.errors import InputError
from deem_core.files.results import Result, long_frame
from deem_core.typing import Floats
from deem_core.votes import NO_VOTE, Votes

MAX_CELLS = 2_000_000
"""Cells d·K² up to which all matrices are worth keeping; beyond, ask for one learner at a time."""


@dataclass(frozen=True)
class Confusion(Result):
    """Confusion matrices of d learners over K classes.

    Attributes
    ----------
    source : "estimated", "exact" or "real"
        From a posterior, from a model's parameters, or from the truth.
    learners : tuple of d str
    classes : tuple of K str
    psi : (d, K, K) float64
        ``psi[i, l, m]`` = Pr(X_i = l | Y = m); NaN where nothing is known of label m.
    pi : (K,) float64
        Share of each label.
    support : (d, K) float64
        Rows of label m that learner i voted on; zeros for exact parameters, which rest on no count.
    """

    source: str
    learners: tuple[str, ...]
    classes: tuple[str, ...]
    psi: Floats
    pi: Floats
    support: Floats

    @property
    def accuracy(self) -> Floats:
        """Share of right votes, (d,).

        The mean of ψ_imm over labels m, by their support or, without one, by π.
        """
        right = np.diagonal(self.psi, axis1=1, axis2=2)  # (d, K)
        weights = np.where(np.isnan(right), 0, self.support if self.support.any() else self.pi)
        total = weights.sum(axis=1)
        sums = (np.nan_to_num(right) * weights).sum(axis=1)
        return np.asarray(np.divide(sums, total, out=np.full(len(total), np.nan), where=total > 0))

    def to_frame(self) -> pd.DataFrame:
        """Return a row per learner, vote and label."""
        d, K = len(self.learners), len(self.classes)
        support = np.broadcast_to(self.support[:, None, :], (d, K, K))
        axes = (("learner", self.learners), ("vote", self.classes), ("label", self.classes))
        return long_frame({"probability": self.psi, "label_rows": support}, *axes)


def confusions_fit(votes: Votes) -> bool:
    """Tell whether the matrices of all learners are worth keeping."""
    return votes.n_learners * votes.n_classes**2 <= MAX_CELLS


def estimated_confusion(answer: Answer, learners: Sequence[str | int] | None = None) -> Confusion:
    """Return the confusion matrices that a posterior implies.

    ψ̂_ilm = Σ_n p_nm [x_ni = l] / Σ_n p_nm over the rows n that learner i voted on.

    Parameters
    ----------
    answer : Answer
        Of any model or method; rows without votes are not looked at.
    learners : sequence of names or positions, optional
        All by default. With many classes ask for one at a time: each has K² cells.
    """
    votes, posterior = answer.votes, answer.posterior
    chosen = votes if learners is None else votes.select_learners(learners)
    voted = ~answer.silent
    counts, _ = expected_counts(chosen, posterior)
    pi = posterior[voted].mean(axis=0, dtype=np.float64) if voted.any() else np.zeros(votes.n_classes)
    return _from_counts("estimated", chosen, counts, pi)


def real_confusion(votes: Votes, learners: Sequence[str | int] | None = None) -> Confusion:
    """Return the confusion matrices by the truth. For evaluation only.

    Rows whose true label no learner ever votes for belong to no column; accuracy in `reliability` counts them.
    """
    if votes.truth is None:
        raise InputError("There is no truth to compare the learners with.")
    chosen = votes if learners is None else votes.select_learners(learners)
    d, K = chosen.n_learners, chosen.n_classes
    truth = votes.truth
    usable = (truth != NO_VOTE) & (truth < K)
    counts = np.zeros((d, K, K))
    for i in range(d):
        own = chosen.codes[:, i]
        rows = usable & (own != NO_VOTE)
        counts[i] = np.bincount(own[rows].astype(np.int64) * K + truth[rows], minlength=K * K).reshape(K, K)
    shares = np.bincount(truth[usable], minlength=K)
    return _from_counts("real", chosen, counts, shares / max(1, shares.sum()))


def exact_confusion(part: ModelPart, classes: Sequence[Any] | NDArray[Any]) -> Confusion:
    """Return the confusion matrices that a model's parameters say.

    Of an iRBM those of Lemma 1, with the prior corrected, averaged over restarts; of a tree of groups the products of
    A and B along the branches.

    Its learners are the voices of the table it was trained on, where near-copies may have been merged.

    Raises
    ------
    InputError
        If the model has layers: such a model has no parameters of this kind, only estimates.
    """
    parameters = part.parameters()
    if parameters is None:
        raise InputError("A model with layers has no exact confusion matrices; ask for estimated ones.")
    psi, pi = parameters
    none = np.zeros((len(psi), len(pi)))
    return Confusion("exact", part.reduction.learners, class_names(classes), psi, pi, none)


@dataclass(frozen=True)
class Recovery(Result):
    """True parameters beside recovered ones, classes matched (paper, recovery graph).

    Attributes
    ----------
    learners : tuple of d str
    classes : tuple of K str
    true_psi, found_psi : (d, K, K) float64
    true_pi, found_pi : (K,) float64
    matched : (K,) intp
        Recovered label that stands for each true one: parameters are known up to such a permutation.
    """

    learners: tuple[str, ...]
    classes: tuple[str, ...]
    true_psi: Floats
    found_psi: Floats
    true_pi: Floats
    found_pi: Floats
    matched: NDArray[np.intp]

    @property
    def psi_error(self) -> float:
        """Largest error among the confusion probabilities."""
        return float(np.nanmax(np.abs(self.true_psi - self.found_psi)))

    @property
    def pi_error(self) -> float:
        """Largest error among the shares of the labels."""
        return float(np.nanmax(np.abs(self.true_pi - self.found_pi)))

    def to_frame(self) -> pd.DataFrame:
        """Return a row per parameter: name, true value, recovered value."""
        axes = (("learner", self.learners), ("vote", self.classes), ("label", self.classes))
        psi = long_frame({"true": self.true_psi, "recovered": self.found_psi}, *axes)
        pi = long_frame({"true": self.true_pi, "recovered": self.found_pi}, ("label", self.classes))
        return pd.concat([psi.assign(parameter="psi"), pi.assign(parameter="pi")], ignore_index=True)


def recovery(true_psi: Floats, true_pi: Floats, recovered: Confusion) -> Recovery:
    """Compare recovered with true parameters of a simulated ensemble.

    ψ is (d, K, K), π is (K,).

    Labels are matched so that the squares of all errors in ψ together are least.
    """
    true_psi, true_pi = np.asarray(true_psi, np.float64), np.asarray(true_pi, np.float64)
    if true_psi.shape != recovered.psi.shape or true_pi.shape != recovered.pi.shape:
        raise InputError(
            f"The true parameters have shapes {true_psi.shape} and {true_pi.shape}, the recovered ones "
            f"{recovered.psi.shape} and {recovered.pi.shape}; they must be of the same learners and classes."
        )
    known = np.nan_to_num(recovered.psi)
    cost = ((true_psi[:, :, :, None] - known[:, :, None, :]) ** 2).sum(axis=(0, 1))  # (true label, found label)
    matched = np.asarray(linear_sum_assignment(cost)[1], np.intp)
    return Recovery(
        recovered.learners,
        recovered.classes,
        true_psi,
        recovered.psi[:, :, matched],
        true_pi,
        recovered.pi[matched],
        matched,
    )


def _from_counts(source: str, votes: Votes, counts: Floats, pi: Floats) -> Confusion:
    support = counts.sum(axis=1)  # (d, K)
    total = support[:, None, :]
    psi = np.divide(counts, total, out=np.full_like(counts, np.nan), where=total > 0)
    return Confusion(source, votes.learners, class_names(votes.classes), psi, pi, support)
