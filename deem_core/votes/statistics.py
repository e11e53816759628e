"""Statistics of shares and scores: Wilson and bootstrap intervals.

Labels are scored as (S, n) codes of S seeds, or as a `FairVote`, whose tied rows count in shares: half a hit where the
truth is one of two tied classes, and half a prediction of each for F1. Intervals resample rows with these shares, so
they tell of other rows, not of another draw.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, vstack
from scipy.special import ndtri

from deem_core.typing import Codes, Floats, Integers, Mask
from deem_core.votes import NO_VOTE, Votes
from deem_core.votes.arrays import chunks, distinct_rows
from deem_core.votes.majority import fair_hits, leaders

NAMES = ("accuracy", "balanced_accuracy", "macro_f1")
LEVEL = 0.95
RESAMPLES, FEWEST_RESAMPLES = 1000, 200
_DRAWS = 4_000_000  # (resample, pattern) cells drawn for one method: beyond it, fewer resamples
_BLOCK = 2_000_000  # of these held at once


def wilson(share: ArrayLike, counts: ArrayLike, level: float = 0.95) -> Floats:
    """Return Wilson's interval of each share, (2, …): low and high.

    It keeps within 0 and 1 and holds for few cases too. NaN where a share is NaN or rests on nothing.

    Parameters
    ----------
    share : (…) array
        Shares of successes.
    counts : (…) array of int
        Cases that each share rests on.
    """
    p, n = np.asarray(share, np.float64), np.asarray(counts, np.float64)
    n = np.where(n > 0, n, np.nan)
    z2: Any = ndtri(0.5 + level / 2) ** 2  # not scipy.stats, which takes half a second to import
    middle = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n**2))) / (1 + z2 / n)
    return np.stack([np.clip(middle - half, 0, 1), np.clip(middle + half, 0, 1)])


@dataclass(frozen=True)
class Scores:
    """Scores of one method over its S seeds.

    Attributes
    ----------
    means, stds : dict
        Metric → mean and standard deviation over the seeds (0 for a single one).
    intervals : dict
        Metric → (low, high), the 95 % bootstrap interval of that mean over rows.
    recalls : (C,)
        Share of each class's rows that are right, mean over seeds; NaN for classes that the truth lacks.
    """

    means: dict[str, float]
    stds: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    recalls: Floats


@dataclass(frozen=True)
class FairVote:
    """The majority vote with ties as a fair draw.

    Attributes
    ----------
    codes : (n,) int32
        Class of the row, -1 without votes; K + t for a draw among the t-th set of tied classes.
    hits : (n,) float64
        Chance of each row to be right.
    ties : (T, K) sparse
        Share of each class in the draw of each set.
    """

    codes: Codes
    hits: Floats
    ties: csr_array

    @classmethod
    def of(cls, votes: Votes) -> FairVote:
        """Return the fair vote of votes with truth."""
        majority, truth = votes.majority_vote, votes.truth
        codes = majority.codes.copy()
        hits = np.zeros(votes.n_rows) if truth is None else fair_hits(votes.codes, majority, truth)
        parts = list(leaders(votes.codes, majority))
        if not parts:
            return cls(codes, hits, csr_array((0, votes.n_classes)))
        widest = max(int(part.sizes.max()) for part in parts)
        padded = np.full((majority.n_tied, widest), NO_VOTE, np.int32)
        filled = np.concatenate([part.sizes for part in parts])[:, None] > np.arange(widest)
        padded[filled] = np.concatenate([part.classes for part in parts])
        sets = distinct_rows(padded)
        codes[majority.tied] = votes.n_classes + sets.of_row
        ties = _indicator_of_sets(sets.codes, votes.n_classes)
        return cls(codes, hits, ties)


def scores(labels: Integers | FairVote, truth: Integers, n_labels: int, rng: np.random.Generator) -> Scores:
    """Score (S, n) labels against (n,) truth.

    Truth codes are below ``n_labels``, and some truth must be known.
    """
    patterns = _Patterns(labels, truth, n_labels)
    exact = patterns.metrics(patterns.counts[None])[:, :, 0]  # (3, S)
    drawn = patterns.resampled(rng)  # (3, resamples)
    tail = (1 - LEVEL) / 2
    bounds = np.quantile(drawn, [tail, 1 - tail], axis=1)
    return Scores(
        means={name: float(exact[m].mean()) for m, name in enumerate(NAMES)},
        stds={name: float(exact[m].std()) for m, name in enumerate(NAMES)},
        intervals={name: (float(bounds[0, m]), float(bounds[1, m])) for m, name in enumerate(NAMES)},
        recalls=patterns.recalls(),
    )


def hits(labels: Integers | FairVote, truth: Integers) -> Floats:
    """Return how right each row with known truth is, (m,).

    The share of the S seeds that are right, or the chance of a fair draw.
    """
    known = truth != NO_VOTE
    if isinstance(labels, FairVote):
        return np.asarray(labels.hits[known])
    return np.asarray((labels[:, known] == truth[known]).mean(axis=0), np.float64)


def right_share(labels: Integers | FairVote, truth: Integers, rows: Mask) -> float:
    """Return the share of some rows that labels get right.

    NaN if no such row has truth.
    """
    rows = rows[truth != NO_VOTE]
    return float(hits(labels, truth)[rows].mean()) if rows.any() else float("nan")


def paired_difference(
    labels: Integers | FairVote, others: Integers | FairVote, truth: Integers, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Return the difference of two accuracies, with its 95 % interval.

    Accuracy of (S, n) labels minus that of (S', n) others, on the same rows. Against a fair vote, a tied row is a
    win or a loss by the share of the draw: +½ where the label is right and the truth one of two tied classes.
    """
    gain = hits(labels, truth) - hits(others, truth)
    values, counts = np.unique(gain.round(12), return_counts=True)
    drawn = rng.multinomial(len(gain), counts / len(gain), RESAMPLES) @ values / len(gain)
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(gain.mean()), float(low), float(high)


class _Patterns:
    """Distinct (truth, label of each seed) among the rows with known truth."""

    def __init__(self, labels: Integers | FairVote, truth: Integers, n_labels: int) -> None:
        known = truth != NO_VOTE
        runs = labels.codes[None] if isinstance(labels, FairVote) else labels
        rows = distinct_rows(np.column_stack([truth[known], *runs[:, known]]))
        self.counts = rows.counts.astype(np.float64)  # (P,)
        self.n = int(known.sum())
        self.truths = _indicator(rows.codes[:, 0], n_labels)
        self.said = [
            _fair_indicator(own, labels.ties, n_labels) if isinstance(labels, FairVote) else _indicator(own, n_labels)
            for own in rows.codes[:, 1:].T
        ]  # S times (P, C)
        self.hits = [said.multiply(self.truths).tocsr() for said in self.said]
        self.right = [np.asarray(hits.sum(axis=1)).ravel() for hits in self.hits]  # S times (P,)

    def metrics(self, weights: Floats) -> Floats:
        """Return (3, S, B) metrics for (B, P) weights of the patterns."""
        figures = np.empty((len(NAMES), len(self.said), len(weights)))
        support = weights @ self.truths  # (B, C)
        for s, right in enumerate(self.right):
            hits = weights @ self.hits[s]
            total = support + weights @ self.said[s]
            figures[0, s] = weights @ right / self.n
            figures[1, s] = _mean_where(hits, support)
            figures[2, s] = _mean_where(2 * hits, total)
        return figures

    def resampled(self, rng: np.random.Generator) -> Floats:
        """Return (3, B) metrics, mean over seeds, of bootstrap resamples."""
        P = len(self.counts)
        n_resamples = int(np.clip(_DRAWS // (P * len(self.said)), FEWEST_RESAMPLES, RESAMPLES))
        blocks = []
        for part in chunks(n_resamples, _BLOCK // P):
            draws = rng.multinomial(self.n, self.counts / self.n, part.stop - part.start)
            blocks.append(self.metrics(draws.astype(np.float64)).mean(axis=1))
        return np.concatenate(blocks, axis=1)

    def recalls(self) -> Floats:
        """Return the recall of every class, mean over seeds, (C,)."""
        support = self.counts @ self.truths
        hits = np.mean([self.counts @ own for own in self.hits], axis=0)
        return np.where(support > 0, hits / np.maximum(support, 1), np.nan)


def _indicator(codes: Integers, n_labels: int) -> Any:
    """Return a sparse (P, C) matrix with a 1 at each code."""
    rows = np.flatnonzero(codes != NO_VOTE)
    return csr_array((np.ones(len(rows)), (rows, codes[rows])), shape=(len(codes), n_labels))


def _fair_indicator(codes: Integers, ties: csr_array, n_labels: int) -> Any:
    """Return a sparse (P, C) matrix of each class's share in a draw."""
    T, K = ties.shape
    plain = csr_array((np.ones(K), (np.arange(K), np.arange(K))), shape=(K, n_labels))
    drawn = csr_array((ties.data, ties.indices, ties.indptr), shape=(T, n_labels))
    return _indicator(codes, K + T) @ vstack([plain, drawn], format="csr")


def _indicator_of_sets(sets: Integers, n_classes: int) -> csr_array:
    """Return (T, K) with 1/size at each class of the padded sets (T, L)."""
    there = sets != NO_VOTE
    sizes = there.sum(axis=1)
    rows = np.repeat(np.arange(len(sets)), sizes)
    return csr_array((1 / sizes[rows], (rows, sets[there])), shape=(len(sets), n_classes))


def _mean_where(top: Floats, bottom: Floats) -> Floats:
    """Return the mean of top/bottom (B, C) over classes, (B,).

    Classes with nothing below are left out.
    """
    there = bottom > 0
    ratio: Floats = (top / np.where(there, bottom, 1)).sum(axis=1, where=there) / np.maximum(there.sum(axis=1), 1)
    return ratio
