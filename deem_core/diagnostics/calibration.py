"""Calibration of confidence against truth. For evaluation only.

Posteriors of trained models are overconfident. With some hundred labelled rows one temperature mends most of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from deem_core.errors import InputError
from deem_core.files.results import Result
from deem_core.typing import Floats, Integers, Mask, Posterior
from deem_core.votes import NO_VOTE
from deem_core.votes.intervals import spread_of_sum, wilson

BINS = 15
"""Bins of equal width between 0 and 1, as is customary for the calibration error."""

POINTS = 101
"""Points of the selective-accuracy curve."""

MIN_TRUTH = 200
"""Rows with truth from which a temperature is worth fitting."""

FOLDS = 5
_LEAST = 1e-12  # probability below which logarithms are cut
_TEMPERATURES = (0.05, 50.0)
_FIT_ROWS = 20_000  # rows that suffice for one number


@dataclass(frozen=True)
class SelectiveAccuracy(Result):
    """Accuracy of the surest share of rows.

    Attributes
    ----------
    share : (P,) float64
        Of the rows with truth, ascending to 1.
    accuracy : (P,) float64
    low, high : (P,) float64
        Wilson's 95% interval.
    """

    share: Floats
    accuracy: Floats
    low: Floats
    high: Floats

    def to_frame(self) -> pd.DataFrame:
        """Return a row per share."""
        return pd.DataFrame({"share": self.share, "accuracy": self.accuracy, "low": self.low, "high": self.high})


@dataclass(frozen=True)
class ReliabilityCurve(Result):
    """Confidence against accuracy in bins of equal width.

    Attributes
    ----------
    edges : (B + 1,) float64
    rows : (B,) int64
    confidence, accuracy, low, high : (B,) float64
        Means over the rows of a bin and the accuracy's 95% interval; NaN for empty bins.
    error : float
        Expected calibration error: |accuracy − confidence|, averaged over rows.
    """

    edges: Floats
    rows: NDArray[np.int64]
    confidence: Floats
    accuracy: Floats
    low: Floats
    high: Floats
    error: float

    @property
    def error_interval(self) -> tuple[float, float]:
        """The 95% interval of the error.

        Every bin's accuracy may be off by its own interval.
        """
        used = np.asarray(self.rows) > 0
        rows, sure, right = (np.asarray(each, np.float64)[used] for each in (self.rows, self.confidence, self.accuracy))
        low, high = np.asarray(self.low)[used], np.asarray(self.high)[used]
        weight, gap = rows / max(float(rows.sum()), 1.0), np.abs(sure - right)
        ends = np.stack([np.maximum(np.maximum(low - sure, sure - high), 0), np.maximum(sure - low, high - sure)])
        below, above = spread_of_sum(self.error, self.error + weight * (ends - gap))
        return max(below, 0.0), min(above, 1.0)

    def to_frame(self) -> pd.DataFrame:
        """Return a row per bin."""
        return pd.DataFrame(
            {
                "from": self.edges[:-1],
                "to": self.edges[1:],
                "rows": self.rows,
                "confidence": self.confidence,
                "accuracy": self.accuracy,
                "low": self.low,
                "high": self.high,
            }
        )


@dataclass(frozen=True)
class Temperature(Result):
    """One temperature for all posteriors, p_m ∝ p_m^(1/T), and its effect.

    Attributes
    ----------
    temperature : float
        Fitted on all rows with truth; above 1 where the model is overconfident.
    by_fold : (F,) float64
        Fitted without each fold.
    before, after : ReliabilityCurve
        After: every row with the temperature of the other folds.
    log_loss_before, log_loss_after : float
    n_rows : int
    """

    temperature: float
    by_fold: Floats
    before: ReliabilityCurve
    after: ReliabilityCurve
    log_loss_before: float
    log_loss_after: float
    n_rows: int

    def apply(self, posterior: Posterior) -> Floats:
        """Return posteriors at this temperature, (n, K).

        The most probable class stays the same.
        """
        return at_temperature(posterior, self.temperature)

    def to_frame(self) -> pd.DataFrame:
        """Return both curves, one below the other."""
        curves = {"before": self.before, "after": self.after}
        return pd.concat([curve.to_frame().assign(curve=name) for name, curve in curves.items()], ignore_index=True)


def selective_accuracy(score: Floats, right: Mask, points: int = POINTS) -> SelectiveAccuracy:
    """Return the accuracy of growing shares of the surest rows.

    Rows with equal scores come in no order: a share that ends among them counts their mean.

    Parameters
    ----------
    score : (n,) array
        Higher is surer: confidence, margin or review score. Rows with NaN are left out.
    right : (n,) array of bool
    """
    known = ~np.isnan(score)
    score, right = score[known], np.asarray(right, bool)[known]
    n = len(score)
    if not n:
        raise InputError("There is no row with a label and known truth, so accuracy cannot be drawn.")
    _, group = np.unique(-score, return_inverse=True)
    sizes, hits = np.bincount(group), np.bincount(group, right)
    count = np.unique(np.ceil(np.linspace(0, 1, points)[1:] * n))
    right_rows = np.interp(count, np.append(0, np.cumsum(sizes)), np.append(0, np.cumsum(hits)))
    accuracy = right_rows / count
    low, high = wilson(accuracy, count)
    return SelectiveAccuracy(count / n, accuracy, low, high)


def reliability_curve(confidence: Floats, right: Mask, bins: int = BINS) -> ReliabilityCurve:
    """Return confidence against accuracy, and the expected calibration error.

    Parameters
    ----------
    confidence : (n,) array
        Between 0 and 1.
    right : (n,) array of bool
    """
    edges = np.linspace(0, 1, bins + 1)
    at = np.clip(np.ceil(np.asarray(confidence, np.float64) * bins).astype(np.intp) - 1, 0, bins - 1)  # (low, high]
    rows = np.bincount(at, minlength=bins)
    sums = (np.bincount(at, confidence, bins), np.bincount(at, np.asarray(right, np.float64), bins))
    mean, accuracy = (np.divide(own, rows, out=np.full(bins, np.nan), where=rows > 0) for own in sums)
    error = float(np.abs(sums[0] - sums[1]).sum() / max(1, len(at)))
    low, high = wilson(accuracy, rows)
    return ReliabilityCurve(edges, rows, mean, accuracy, low, high, error)


def fit_temperature(
    posterior: Posterior, truth: Integers, *, rng: np.random.Generator, folds: int = FOLDS, least: int = MIN_TRUTH
) -> Temperature:
    """Fit one temperature by likelihood, and judge it by cross-validation.

    Only rows with known truth count.

    Parameters
    ----------
    posterior : (n, K) array
    truth : (n,) array of int
        -1 where unknown; rows whose true label the model does not know (K and above) are judged, as wrong, but not
        fitted on.
    rng : numpy Generator
        Shuffles the rows into folds.
    least : int
        See `MIN_TRUTH`.

    Raises
    ------
    InputError
        If there is too little truth.
    """
    known = np.flatnonzero((truth != NO_VOTE) & ~np.isnan(posterior).any(axis=1))
    if len(known) < max(least, 2 * folds):
        raise InputError(f"{len(known):,} rows with truth are too few to fit a temperature; {least:,} are needed.")
    p, y = np.asarray(posterior[known], np.float64), np.asarray(truth)[known].astype(np.intp)
    fold = rng.permutation(len(known)) % folds
    after, by_fold = np.empty_like(p), np.empty(folds)
    for f in range(folds):
        by_fold[f] = _best(p[fold != f], y[fold != f])
        after[fold == f] = at_temperature(p[fold == f], by_fold[f])
    right = p.argmax(axis=1) == y
    return Temperature(
        temperature=_best(p, y),
        by_fold=by_fold,
        before=reliability_curve(p.max(axis=1), right),
        after=reliability_curve(after.max(axis=1), right),
        log_loss_before=_log_loss(p, y, 1.0),
        log_loss_after=_log_loss(after, y, 1.0),
        n_rows=len(known),
    )


def at_temperature(posterior: Posterior, temperature: float) -> Floats:
    """Return p_m^(1/T) / Σ_k p_k^(1/T), (n, K)."""
    return np.asarray(softmax(_logs(posterior) / temperature, axis=1))


def _logs(posterior: Posterior) -> Floats:
    return np.log(np.maximum(np.asarray(posterior, np.float64), _LEAST))


def _log_loss(p: Floats, y: NDArray[np.intp], temperature: float) -> float:
    """Return the mean of −log p(truth).

    Rows whose truth is none of the classes are left out.
    """
    at = np.flatnonzero(y < p.shape[1])
    return float(-log_softmax(_logs(p[at]) / temperature, axis=1)[np.arange(len(at)), y[at]].mean())


def _best(p: Floats, y: NDArray[np.intp]) -> float:
    """Return the temperature of least log loss.

    Evenly spread rows serve where there are very many.
    """
    step = max(1, len(y) // _FIT_ROWS)
    p, y = p[::step], y[::step]
    bounds = tuple(math.log(bound) for bound in _TEMPERATURES)
    optimum = minimize_scalar(lambda log_t: _log_loss(p, y, math.exp(log_t)), bounds=bounds, method="bounded")
    return float(math.exp(optimum.x))
