"""Statistics of shares and scores: Wilson and bootstrap intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.special import ndtri

from deem_core.typing import Floats, Integers, Mask
from deem_core.votes import NO_VOTE
from deem_core.votes.arrays import chunks, distinct_rows

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


def scores(labels: Integers, truth: Integers, n_labels: int, rng: np.random.Generator) -> Scores:
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


def right_share(labels: Integers, truth: Integers, rows: Mask) -> float:
    """Return the share of some rows that (S, n) labels get right.

    NaN if no such row has truth.
    """
    rows = rows & (truth != NO_VOTE)
    return float((labels[:, rows] == truth[rows]).mean()) if rows.any() else float("nan")


def paired_difference(
    labels: Integers, others: Integers, truth: Integers, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Return the difference of two accuracies, with its 95 % interval.

    Accuracy of (S, n) labels minus that of (S', n) others, on the same rows.
    """
    known = truth != NO_VOTE
    gain = (labels[:, known] == truth[known]).mean(axis=0) - (others[:, known] == truth[known]).mean(axis=0)
    values, counts = np.unique(gain.round(12), return_counts=True)
    drawn = rng.multinomial(len(gain), counts / len(gain), RESAMPLES) @ values / len(gain)
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(gain.mean()), float(low), float(high)


class _Patterns:
    """Distinct (truth, label of each seed) among the rows with known truth."""

    def __init__(self, labels: Integers, truth: Integers, n_labels: int) -> None:
        known = truth != NO_VOTE
        rows = distinct_rows(np.column_stack([truth[known], *labels[:, known]]))
        self.counts = rows.counts.astype(np.float64)  # (P,)
        self.truth, self.labels = rows.codes[:, 0], rows.codes[:, 1:].T  # (P,), (S, P)
        self.n = int(known.sum())
        self.truths = _indicator(self.truth, n_labels)
        self.said = [_indicator(own, n_labels) for own in self.labels]
        self.hits = [_indicator(np.where(own == self.truth, own, NO_VOTE), n_labels) for own in self.labels]

    def metrics(self, weights: Floats) -> Floats:
        """Return (3, S, B) metrics for (B, P) weights of the patterns."""
        figures = np.empty((len(NAMES), len(self.labels), len(weights)))
        support = weights @ self.truths  # (B, C)
        for s, own in enumerate(self.labels):
            hits = weights @ self.hits[s]
            total = support + weights @ self.said[s]
            figures[0, s] = weights @ (own == self.truth) / self.n
            figures[1, s] = _mean_where(hits, support)
            figures[2, s] = _mean_where(2 * hits, total)
        return figures

    def resampled(self, rng: np.random.Generator) -> Floats:
        """Return (3, B) metrics, mean over seeds, of bootstrap resamples."""
        P = len(self.counts)
        n_resamples = int(np.clip(_DRAWS // (P * len(self.labels)), FEWEST_RESAMPLES, RESAMPLES))
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


def _mean_where(top: Floats, bottom: Floats) -> Floats:
    """Return the mean of top/bottom (B, C) over classes, (B,).

    Classes with nothing below are left out.
    """
    there = bottom > 0
    ratio: Floats = (top / np.where(there, bottom, 1)).sum(axis=1, where=there) / np.maximum(there.sum(axis=1), 1)
    return ratio
