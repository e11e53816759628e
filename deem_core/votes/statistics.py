"""Statistics of labels against the truth: scores with their intervals.

Labels are scored as (S, n) codes of S seeds, or as a `FairVote`, whose tied rows count in shares: half a hit where the
truth is one of two tied classes, and half a prediction of each for F1. Intervals tell of other rows, not of another
draw or training. Accuracies and gains have those of `intervals`. Balanced accuracy and macro-F1 have the wider of two
at either end: resampled rows, which know how classes and errors hang together but no error that was not seen, and the
exact interval of every class's recall, which knows the latter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack

from deem_core.typing import Codes, Floats, Integers, Mask
from deem_core.votes import NO_VOTE, Votes, intervals
from deem_core.votes.arrays import chunks, distinct_rows
from deem_core.votes.majority import fair_hits, leaders

NAMES = ("accuracy", "balanced_accuracy", "macro_f1")
LEVEL = intervals.LEVEL
RESAMPLES, FEWEST_RESAMPLES = 1000, 200
_DRAWS = 4_000_000  # (resample, pattern) cells drawn for one method: beyond it, fewer resamples
_BLOCK = 2_000_000  # of these held at once


@dataclass(frozen=True)
class Scores:
    """Scores of one method over its S seeds.

    Attributes
    ----------
    means, stds : dict
        Metric → mean and standard deviation over the seeds (0 for a single one).
    intervals : dict
        Metric → (low, high), the 95% interval of that mean over rows.
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
    means = exact.mean(axis=1)
    return Scores(
        means={name: float(means[m]) for m, name in enumerate(NAMES)},
        stds={name: float(exact[m].std()) for m, name in enumerate(NAMES)},
        intervals=_intervals(patterns, means, rng),
        recalls=patterns.recalls(),
    )


def _intervals(patterns: _Patterns, means: Floats, rng: np.random.Generator) -> dict[str, tuple[float, float]]:
    """Return the interval of each of the (3,) means."""
    low, high = intervals.exact(means[0] * patterns.n, patterns.n)
    found = {NAMES[0]: (float(low), float(high))}
    tail = (1 - LEVEL) / 2
    drawn = np.quantile(patterns.resampled(rng), [tail, 1 - tail], axis=1)
    for m, moves in enumerate(patterns.moves(), start=1):
        below, above = intervals.spread_of_sum(float(means[m]), means[m] + moves)
        found[NAMES[m]] = max(min(float(drawn[0, m]), below), 0.0), min(max(float(drawn[1, m]), above), 1.0)
    return found


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
    labels: Integers | FairVote, others: Integers | FairVote, truth: Integers
) -> tuple[float, float, float]:
    """Return the difference of two accuracies, with its 95% interval.

    Accuracy of (S, n) labels minus that of (S', n) others, on the same rows. Against a fair vote, a tied row is a
    win or a loss by the share of the draw: +½ where the label is right and the truth one of two tied classes.
    """
    gain = hits(labels, truth) - hits(others, truth)
    wins, losses = float(np.maximum(gain, 0).sum()), float(np.maximum(-gain, 0).sum())
    return float(gain.mean()), *intervals.paired(wins, losses, len(gain), LEVEL)


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

    def moves(self) -> tuple[Floats, Floats]:
        """Return how far each class's recall may move balanced accuracy and macro-F1.

        Two (2, C) arrays: by how much they fall and rise as the recall of one class goes to the ends of its own
        interval. Errors that were not seen go to the other classes as often as these are said.
        """
        counts = csr_array(self.truths.multiply(self.counts[:, None]))  # (P, C)
        confusion: Any = sum(counts.T @ said for said in self.said)  # truth by label, (C, C)
        table = (confusion / len(self.said)).toarray()
        support, said, right = np.asarray(counts.sum(axis=0)).ravel(), table.sum(axis=0), table.diagonal()
        wrong = support - right
        ends = intervals.exact(right, support) * support  # hits of each class, (2, C)
        there, total = support > 0, support + said
        recall = np.where(there, (ends - right) / np.maximum(support, 1), 0) / max(int(there.sum()), 1)
        f1 = np.zeros_like(ends)
        for part in chunks(len(support), _BLOCK // len(support)):
            errors = table[part].copy()
            at = np.arange(errors.shape[0]), np.arange(part.start, part.stop)
            errors[at] = 0
            others = np.repeat(said[None], len(errors), axis=0)
            others[at] = 0
            others /= np.maximum(others.sum(axis=1, keepdims=True), 1e-300)
            for end in range(2):
                gained = np.where(there, ends[end] - right, 0)[part]
                kept = 1 - np.maximum(gained, 0) / np.maximum(wrong[part], 1e-300)
                more = errors * (np.clip(kept, 0, 1) - 1)[:, None] + others * np.maximum(-gained, 0)[:, None]
                more[at] = gained
                hit = np.repeat(right[None], len(errors), axis=0)
                hit[at] += gained
                new = _mean_where(2 * hit, total + more)
                f1[end, part] = new - _mean_where(2 * right[None], total[None])
        return recall, f1

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


def scale_errors(labels: Integers | FairVote, truth: Integers, numbers: Floats) -> tuple[float, float]:
    """Return mean absolute error and quadratic weighted kappa on a scale.

    Over the rows with a label and a known truth, in the units of the scale; the mean over seeds. NaN without such
    rows. A kappa is 1 where nothing could differ.

    Parameters
    ----------
    labels : (S, n) codes, or a FairVote
    truth : (n,) codes
    numbers : (C,)
        Of each label; NaN for one that has no place on the scale, whose rows are left out.
    """
    known = np.flatnonzero(truth != NO_VOTE)
    known = known[np.isfinite(numbers[truth[known]])]
    runs = labels.codes[None] if isinstance(labels, FairVote) else np.asarray(labels)
    placed = np.where(np.isfinite(numbers), numbers, 0.0)
    steps = np.abs(np.subtract.outer(placed, placed))
    found = []
    for run in runs:
        said, true = run[known], truth[known]
        voted = said != NO_VOTE
        shares = (
            _fair_indicator(said[voted], labels.ties, len(numbers))
            if isinstance(labels, FairVote)
            else _indicator(said[voted], len(numbers))
        )
        table = (_indicator(true[voted], len(numbers)).T @ shares).toarray()  # (truth, label)
        n = table.sum()
        if not n:
            return float("nan"), float("nan")
        by_chance = float((np.outer(table.sum(axis=1), table.sum(axis=0)) * steps**2).sum() / n)
        kappa = 1 - float((table * steps**2).sum()) / by_chance if by_chance else 1.0
        found.append((float((table * steps).sum() / n), kappa))
    return float(np.mean([error for error, _ in found])), float(np.mean([kappa for _, kappa in found]))
