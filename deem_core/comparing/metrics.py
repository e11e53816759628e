"""Metrics: how right labels are, with bootstrap intervals over rows. Evaluation only.

A row with known truth and without a label counts as wrong. The metrics depend on a row only through its truth and its
labels, so drawing n rows with replacement is drawing how often each such pattern occurs: one multinomial draw for each
resample, exactly the bootstrap and far cheaper.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from deem_core.distinct import distinct_rows
from deem_core.votes import NO_VOTE

Float = NDArray[np.float64]
Codes = NDArray[np.integer[Any]]

NAMES = ("accuracy", "balanced_accuracy", "macro_f1")
LEVEL = 0.95
RESAMPLES, FEWEST_RESAMPLES = 1000, 200
_DRAWS = 4_000_000  # (resample, pattern) cells drawn for one method: beyond it, fewer resamples
_BLOCK = 2_000_000  # of these held at once


@dataclass(frozen=True)
class Scores:
    """How right the labels of one method are, over its S seeds.

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
    recalls: Float


def scores(labels: Codes, truth: Codes, n_labels: int, rng: np.random.Generator) -> Scores:
    """Score (S, n) labels against (n,) truth, whose codes are below ``n_labels``; some truth must be known."""
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


def right_share(labels: Codes, truth: Codes, rows: NDArray[np.bool_]) -> float:
    """Return the share of some (n,) rows with known truth that (S, n) labels get right; NaN without such rows."""
    rows = rows & (truth != NO_VOTE)
    return float((labels[:, rows] == truth[rows]).mean()) if rows.any() else float("nan")


def paired_difference(
    labels: Codes, others: Codes, truth: Codes, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Return accuracy of (S, n) labels minus that of (S', n) others on the same rows, with its 95 % interval."""
    known = truth != NO_VOTE
    gain = (labels[:, known] == truth[known]).mean(axis=0) - (others[:, known] == truth[known]).mean(axis=0)
    values, counts = np.unique(gain.round(12), return_counts=True)
    drawn = rng.multinomial(len(gain), counts / len(gain), RESAMPLES) @ values / len(gain)
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(gain.mean()), float(low), float(high)


class _Patterns:
    """Distinct (truth, label of each seed) among the rows with known truth."""

    def __init__(self, labels: Codes, truth: Codes, n_labels: int) -> None:
        known = truth != NO_VOTE
        rows = distinct_rows(np.column_stack([truth[known], *labels[:, known]]))
        self.counts = rows.counts.astype(np.float64)  # (P,)
        self.truth, self.labels = rows.codes[:, 0], rows.codes[:, 1:].T  # (P,), (S, P)
        self.n = int(known.sum())
        self.truths = _indicator(self.truth, n_labels)
        self.said = [_indicator(own, n_labels) for own in self.labels]
        self.hits = [_indicator(np.where(own == self.truth, own, NO_VOTE), n_labels) for own in self.labels]

    def metrics(self, weights: Float) -> Float:
        """Return (3, S, B) metrics for (B, P) weights of the patterns."""
        made = np.empty((len(NAMES), len(self.labels), len(weights)))
        support = weights @ self.truths  # (B, C)
        for s, own in enumerate(self.labels):
            hits = weights @ self.hits[s]
            total = support + weights @ self.said[s]
            made[0, s] = weights @ (own == self.truth) / self.n
            made[1, s] = _mean_where(hits, support)
            made[2, s] = _mean_where(2 * hits, total)
        return made

    def resampled(self, rng: np.random.Generator) -> Float:
        """Return (3, B) metrics, mean over seeds, of bootstrap resamples."""
        P = len(self.counts)
        n_resamples = int(np.clip(_DRAWS // (P * len(self.labels)), FEWEST_RESAMPLES, RESAMPLES))
        step = max(1, _BLOCK // P)
        blocks = []
        for start in range(0, n_resamples, step):
            draws = rng.multinomial(self.n, self.counts / self.n, min(step, n_resamples - start))
            blocks.append(self.metrics(draws.astype(np.float64)).mean(axis=1))
        return np.concatenate(blocks, axis=1)

    def recalls(self) -> Float:
        """Return the recall of every class, mean over seeds, (C,)."""
        support = self.counts @ self.truths
        hits = np.mean([self.counts @ own for own in self.hits], axis=0)
        return np.where(support > 0, hits / np.maximum(support, 1), np.nan)


def _indicator(codes: Codes, n_labels: int) -> Any:
    """Return a sparse (P, C) matrix with a 1 at each pattern's code; nothing for −1."""
    rows = np.flatnonzero(codes != NO_VOTE)
    return csr_array((np.ones(len(rows)), (rows, codes[rows])), shape=(len(codes), n_labels))


def _mean_where(top: Float, bottom: Float) -> Float:
    """Return the mean of top/bottom (B, C) over the classes with something below, (B,)."""
    there = bottom > 0
    ratio: Float = (top / np.where(there, bottom, 1)).sum(axis=1, where=there) / np.maximum(there.sum(axis=1), 1)
    return ratio
