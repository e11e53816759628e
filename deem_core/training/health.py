"""Health of restarts: collapse, disagreement, and whether enough are left.

Collapse is told by the share ratio, r = min_k (predicted share of k / majority-vote share of k), and by
nothing else: dead runs have as good a likelihood as living ones. Class mixing escapes it, hence agreement.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deem_core.errors import InputError
from deem_core.typing import Floats, Integers

ALARM = 0.35
"""Share ratio below which a class has died: to be shown at once. Good runs stay above 0.5."""
DROP = 0.5
"""Share ratio below which a restart does not take part in the answer."""
AGREEMENT_GAP = 0.08
"""A restart that agrees this much less with the others than the median one is worth a look."""
ENOUGH_TRIED = 4
"""Restarts of which one at least must survive for further ones to be worth a try."""
MIN_ROWS = 20
"""Majority-vote rows that a class needs for its share to mean something."""


@dataclass(frozen=True)
class RestartHealth:
    """The verdict on one restart.

    Attributes
    ----------
    kept : bool
        Whether it takes part in the answer.
    reason : str
        Why it was dropped, or why a kept one is worth a look; empty if there is nothing to say.
    share_ratio : float
        See `share_ratio`; NaN for a restart that failed.
    agreement : float or None
        Mean agreement with the other kept restarts; None if it was dropped or there is no other.
    alarm : bool
        Whether the share ratio is below `ALARM`.
    """

    kept: bool
    reason: str
    share_ratio: float
    agreement: float | None
    alarm: bool

    @property
    def flagged(self) -> bool:
        """Whether it was kept with a remark."""
        return self.kept and bool(self.reason)


@dataclass(frozen=True)
class Restart:
    """One restart and the verdict on it.

    Attributes
    ----------
    training : int
        0, or 1 for the hedge with one voice per group of near-copies.
    seed : int
    kept : bool
        Whether it takes part in the answer.
    reason : str
        Why it was dropped, or why a kept one is worth a look.
    share_ratio : float
        Smallest predicted share of a class over its share by majority vote; NaN for a restart that failed.
    agreement : float, optional
        Mean agreement with the other kept restarts.
    alarm : bool
        Whether a class died.
    """

    training: int
    seed: int
    kept: bool
    reason: str
    share_ratio: float
    agreement: float | None = None
    alarm: bool = False


def share_ratio(predicted: Integers, majority: Integers, n_classes: int, min_rows: int = MIN_ROWS) -> float:
    """Return how much of its majority-vote share the worst class keeps.

    r = min_k (predicted share of k / majority-vote share of k) over the classes with at least ``min_rows``
    majority-vote rows. If fewer than half of the classes that majority vote predicts have that many (large
    K), r is the number of classes predicted / the number that majority vote predicts. 1 without any vote.

    Parameters
    ----------
    predicted, majority : (n,) array of int
        Class codes; rows without votes (majority -1) are left out.
    n_classes : int
        K.
    """
    return _shares(predicted, majority, n_classes, min_rows).ratio


def restart_agreement(labels: Integers) -> Floats:
    """Return each restart's mean agreement with the others, (R,).

    From (R, n) labels; NaN for a single restart.

    a_r = mean over s ≠ r of P(label_r = label_s).
    """
    R = len(labels)
    if R < 2:
        return np.full(R, np.nan)
    pairs = np.zeros((R, R))
    for r in range(R):
        for s in range(r + 1, R):
            pairs[r, s] = pairs[s, r] = np.mean(labels[r] == labels[s]) if labels.shape[1] else 1.0
    agreement: Floats = pairs.sum(axis=1) / (R - 1)
    return agreement


def judge(
    labels: Integers,
    majority: Integers,
    n_classes: int,
    failures: Sequence[str | None],
    classes: Sequence[Any] | NDArray[Any] | None = None,
    *,
    reference: str = "majority vote",
) -> list[RestartHealth]:
    """Judge every restart: drop failed and collapsed ones, flag outliers.

    A restart is dropped if it failed or its share ratio is below `DROP`. One that is kept is flagged if its
    mean agreement with the other kept ones is more than `AGREEMENT_GAP` below the median.

    Parameters
    ----------
    labels : (R, n) array of int
        Aligned class codes of each restart; those of a failed one are not looked at.
    majority : (n,) array of int
        Majority vote of the same rows, -1 for no vote.
    n_classes : int
        K.
    failures : sequence of R
        Why a restart failed, None if it did not.
    classes : sequence of K, optional
        Labels by which to name a class; its index by default.
    reference : str
        What ``majority`` is called in the reasons, where it is another simple rule.
    """
    if len(failures) != len(labels):
        raise InputError(f"There are labels of {len(labels)} restarts but {len(failures)} reasons of failure.")
    voted = majority >= 0
    labels, majority = labels[:, voted], majority[voted]
    verdicts = [
        _verdict(row, majority, n_classes, failure, classes=classes, reference=reference)
        for row, failure in zip(labels, failures, strict=True)
    ]
    survivors = [r for r, verdict in enumerate(verdicts) if verdict.kept]
    if len(survivors) < 2:
        return verdicts
    agreement = restart_agreement(labels[survivors])
    median = float(np.median(agreement))
    for r, value in zip(survivors, agreement.tolist(), strict=True):
        apart = median - value > AGREEMENT_GAP
        reason = f"It agrees with the others on {value:.1%} of the rows; the median restart on {median:.1%}."
        verdicts[r] = RestartHealth(True, reason if apart else "", verdicts[r].share_ratio, value, False)
    return verdicts


def survivors_suffice(kept: int, asked: int) -> bool:
    """Return whether more than half of the restarts asked for survive.

    Otherwise majority vote is the safer answer.
    """
    return 2 * kept > asked


def hopeless(kept: int, trained: int) -> bool:
    """Return whether further restarts would be waste: many collapsed, none survived."""
    return kept == 0 and trained >= ENOUGH_TRIED


# ---------------------------------------------------------------------- shares


@dataclass(frozen=True)
class _Shares:
    """Share ratio, with the counts of the worst class or of classes."""

    ratio: float
    worst: int | None  # None: classes were counted
    found: int
    expected: int


def _shares(predicted: Integers, majority: Integers, n_classes: int, min_rows: int) -> _Shares:
    voted = majority >= 0
    expected_counts = np.bincount(majority[voted], minlength=n_classes)  # (K,)
    predicted_counts = np.bincount(predicted[voted & (predicted >= 0)], minlength=n_classes)
    large = np.flatnonzero(expected_counts >= max(min_rows, 1))
    n_expected = int((expected_counts > 0).sum())
    if not n_expected:
        return _Shares(1.0, None, 0, 0)
    if 2 * len(large) < n_expected:
        n_found = int((predicted_counts > 0).sum())
        return _Shares(n_found / n_expected, None, n_found, n_expected)
    ratios = predicted_counts[large] / expected_counts[large]  # of the same rows, so that counts do for shares
    at = int(ratios.argmin())
    worst = int(large[at])
    return _Shares(float(ratios[at]), worst, int(predicted_counts[worst]), int(expected_counts[worst]))


def _verdict(
    predicted: Integers,
    majority: Integers,
    n_classes: int,
    failure: str | None,
    *,
    classes: Sequence[Any] | NDArray[Any] | None,
    reference: str,
) -> RestartHealth:
    """Judge a restart on its own."""
    if failure is not None:
        return RestartHealth(False, failure, math.nan, None, False)
    shares = _shares(predicted, majority, n_classes, MIN_ROWS)
    alarm = shares.ratio < ALARM
    if shares.ratio >= DROP:
        return RestartHealth(True, "", shares.ratio, None, alarm)
    if shares.worst is None:
        reason = f"Classes died: {shares.found:,} are predicted where {reference} predicts {shares.expected:,}"
    else:
        name = str(shares.worst) if classes is None else repr(str(classes[shares.worst]))
        reason = (
            f"Class {name} {'died' if alarm else 'shrank'}: {shares.found:,} rows where {reference} has "
            f"{shares.expected:,}"
        )
    return RestartHealth(False, f"{reason} (share ratio {shares.ratio:.2f}, below {DROP}).", shares.ratio, None, alarm)
