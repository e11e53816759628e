"""Scores of labels.

How sure they are, and how well votes back them.

A posterior is an (n, K) array whose rows are the probabilities of the classes; the fused label is the most
probable class, the lowest index among equals. A row without votes has no label, whatever its posterior says.
Posteriors of trained models are overconfident: trust the order of rows more than the height of the numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, logsumexp

from deem_core.typing import Codes, Floats, Integers, Mask, Posterior
from deem_core.votes import NO_VOTE, Votes
from deem_core.votes.arrays import chunks, sparse_one_hot

PSEUDO_COUNT = 0.01
"""Rows added to every cell of a confusion matrix, so that a vote never seen before is unlikely but possible."""

REVIEW_SHARE = 0.1
"""Share of the rows with votes that their review score alone sends to review."""

_CHUNK_CELLS = 1 << 21  # cells of an (rows, K) or (rows, d) temporary


def fused_codes(votes: Votes, posterior: Posterior) -> Codes:
    """Return the most probable class of every row, (n,).

    -1 for rows without votes.
    """
    codes: Codes = posterior.argmax(axis=1).astype(np.int32)
    codes[votes.votes_per_row == 0] = NO_VOTE
    return codes


def confidence(posterior: Posterior) -> Floats:
    """Return the probability of the most probable class, (n,)."""
    return np.asarray(posterior.max(axis=1), np.float64)


def expected_score(posterior: Posterior, numbers: Floats) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of every row's score, (n,) each.

    Σ_k p_nk·s_k over the numbers s (K,) of the steps, and the root of Σ_k p_nk·(s_k − mean)².
    """
    mean, deviation = np.empty(len(posterior)), np.empty(len(posterior))
    for rows in _chunks(*posterior.shape):
        p = np.asarray(posterior[rows], np.float64)
        mean[rows] = p @ numbers
        deviation[rows] = np.sqrt((p * (numbers - mean[rows, None]) ** 2).sum(axis=1))
    return mean, deviation


def mean_of(values: Floats | None, rows: Mask) -> float | None:
    """Return the mean of values (n,) over some rows, if there are any."""
    return None if values is None or not rows.any() else float(values[rows].mean())


def entropy(posterior: Posterior) -> Floats:
    """Return the entropy of every row in nats, (n,).

    0 where one class is certain, log K where all are equal.
    """
    values = np.empty(len(posterior))
    for rows in _chunks(*posterior.shape):
        values[rows] = entr(posterior[rows].astype(np.float64)).sum(axis=1)
    return values


def agreement(votes: Votes, codes: Integers) -> Floats:
    """Return the share of each row's votes that equal its label, (n,).

    Parameters
    ----------
    votes : Votes
    codes : (n,) array of int
        Class index of every row's label, -1 for none.

    Returns
    -------
    (n,) float64
        NaN for rows without votes or without a label.
    """
    shares = np.full(votes.n_rows, np.nan)
    for rows in _chunks(votes.n_rows, votes.n_learners):
        label, cast = codes[rows], votes.votes_per_row[rows]
        known = (cast > 0) & (label != NO_VOTE)
        equal = (votes.codes[rows] == label[:, None]).sum(axis=1)
        np.divide(equal, cast, out=shares[rows], where=known)
    return shares


def label_changes(majority: Codes, codes: Codes, n_classes: int) -> NDArray[np.int64]:
    """Return the rows with a label by majority vote (first) and label (second), (K, K)."""
    labelled = codes != NO_VOTE
    pairs = majority[labelled].astype(np.int64) * n_classes + codes[labelled]
    return np.bincount(pairs, minlength=n_classes**2).reshape(n_classes, n_classes)


def review_score(votes: Votes, posterior: Posterior) -> Floats:
    """Return how well votes back each fused label, (n,).

    Low scores deserve a look.

    One Dawid-Skene step from the model's posterior p. With::

        π̂_m   = mean_n p_nm
        ψ̂_ilm = Σ_n p_nm [x_ni = l] / Σ_n p_nm        over the rows n on which learner i voted
        q_m    ∝ π̂_m Π_i ψ̂_{i, x_i, m}

    the score is log q(fused label), at most 0. Missing votes are skipped and `PSEUDO_COUNT` keeps every
    score finite. It finds wrong labels better than the posterior's own margin, which tends to be saturated.

    Parameters
    ----------
    votes : Votes
        Only the hard votes are used.
    posterior : (n, K) array
        Rows without votes may hold anything, NaN included.

    Returns
    -------
    (n,) float64
        NaN for rows without votes.
    """
    return ReviewScale.of(votes, posterior).scores(votes, posterior)


@dataclass(frozen=True, eq=False)
class ReviewScale:
    """Parameters of the review score, estimated once and applied to any rows.

    Attributes
    ----------
    log_pi : (K,)
    log_psi : (d·K, K)
        A row per learner and vote, a column per true class.
    """

    log_pi: Floats
    log_psi: Floats

    @classmethod
    def of(cls, votes: Votes, posterior: Posterior) -> ReviewScale:
        """Estimate the parameters by one Dawid-Skene step."""
        counts, mass = expected_counts(votes, posterior)
        mass += PSEUDO_COUNT
        counts += PSEUDO_COUNT
        counts /= counts.sum(axis=1, keepdims=True)
        return cls(np.log(mass / mass.sum()), np.log(counts, out=counts).reshape(-1, votes.n_classes))

    def scores(self, votes: Votes, posterior: Posterior) -> Floats:
        """Return the score of each row, (n,); NaN without votes."""
        codes = fused_codes(votes, posterior)
        scores = np.full(votes.n_rows, np.nan)
        for rows in _review_chunks(votes):
            voted = np.flatnonzero(codes[rows] != NO_VOTE)
            ballots = sparse_one_hot(votes.codes[rows], votes.n_classes)
            log_joint = (ballots @ self.log_psi + self.log_pi)[voted]  # (b, K)
            backed = log_joint[np.arange(len(voted)), codes[rows][voted]] - logsumexp(log_joint, axis=1)
            scores[rows.start + voted] = np.minimum(backed, 0.0)
        return scores


def review_quota(n_voted: int, share: float = REVIEW_SHARE) -> int:
    """Return how many rows their score alone sends to review.

    Of so many rows with votes.
    """
    return math.ceil(round(share * n_voted, 6))  # 0.1 × 30 is a little more than 3 in floating point


def expected_counts(votes: Votes, posterior: Posterior) -> tuple[Floats, Floats]:
    """Return Σ_n p_nm [x_ni = l] as (d, K, K), indexed learner, vote, label, and Σ_n p_nm as (K,).

    Rows without votes count for neither.
    """
    d, K = votes.n_learners, votes.n_classes
    mass = np.zeros(K)
    counts = np.zeros((d * K, K))
    for rows in _review_chunks(votes):
        voted = votes.votes_per_row[rows, None] > 0
        p = np.where(voted, posterior[rows], 0.0).astype(np.float64)  # (b, K)
        mass += p.sum(axis=0)
        counts += sparse_one_hot(votes.codes[rows], votes.n_classes).T @ p
    return counts.reshape(d, K, K), mass


def margin(posterior: Posterior) -> Floats:
    """Return the lead of the most probable class, (n,).

    Over the next one; 1 if there is no other.
    """
    if posterior.shape[1] < 2:
        return np.ones(len(posterior))
    best = np.empty((len(posterior), 2))
    for rows in _chunks(*posterior.shape):
        best[rows] = np.partition(posterior[rows], -2, axis=1)[:, -2:]
    return np.asarray(best[:, 1] - best[:, 0])


def _review_chunks(votes: Votes) -> Iterator[slice]:
    return _chunks(votes.n_rows, max(votes.n_learners, votes.n_classes))


def _chunks(n: int, width: int) -> Iterator[slice]:
    """Yield slices over n rows whose temporaries stay small."""
    return chunks(n, _CHUNK_CELLS // max(width, 1))
