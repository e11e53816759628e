"""Importance: how much the fused label depends on each learner.

With centred logits ẑ_m = logit_m − mean_k logit_k, the importance of learner i for class c is the mean, over the rows
fused to c, of the drop of ẑ_c when i's votes are

- permuted across rows: its *influence*, the default. Steady, and hardly ever negative;
- withheld: the second view, nearest to the paper's chart. A missing vote is off the data of a complete table, so
  it may be negative.

A vote of a model that reads probabilities is the whole of what a learner believes. Logits, because posteriors are
saturated. Influence is no merit: it says whom the model listens to, not who is right
(`deem_core.diagnostics.reliability` estimates that).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from deem_core.control import Control
from deem_core.diagnostics.experts import STANDS_OUT, Expert, outstanding_cells
from deem_core.diagnostics.model_view import FittedModel, class_names, fused_labels, logits, restart_weights
from deem_core.diagnostics.perturbation import Perturbation, Sample, draw
from deem_core.errors import InputError
from deem_core.files.results import Result, long_frame
from deem_core.typing import Floats, Integers, Mask, Rows
from deem_core.votes import Votes
from deem_core.votes.checks import as_rows

ROWS = 4_000
"""Rows that suffice for importance; its standard error is stated."""

REPEATS = 3
"""Permutations, whose spread is the noise band."""

MAX_CELLS = 250_000_000
"""Unit states computed in all; beyond it fewer rows are used, `FEWEST_ROWS` at least, and the error says so."""

FEWEST_ROWS = 500

CLASS_ROWS = 20
"""Rows of a class from which on something can be said of who matters for it."""


@dataclass(frozen=True)
class Importance(Result):
    """Importance of S subjects: learners, or groups of them.

    Attributes
    ----------
    how : "permuted" or "withheld"
    subjects : tuple of S str
    classes : tuple of K str
    overall : (S,) float64
        Drop of the fused class's centred logit, mean over all rows that were asked about.
    by_class : (S, K) float64
        The same over the rows fused to each class; NaN for a class without rows.
    error, error_by_class : float64
        Standard errors over rows; NaN for a class with fewer than two.
    per_restart : (R, S) float64
        ``overall`` of each restart alone.
    training : (R,) int64
        Training that each restart belongs to: a hedged model has two, on different tables.
    restart_spread : (S,) float64
        Standard deviation of that over the restarts of one training; NaN for one restart.
    noise : (S,) float64
        Standard deviation of ``overall`` over repeated permutations; 0 for withholding.
    class_rows : (K,) int64
        Rows used of each class.
    class_share : (K,) float64
        Share of each class among the rows asked about.
    rows_used, n_rows : int
        Rows used, and rows asked about that have votes.
    pairs : tuple of pairs of str
        Learners that are nearly identical. Such a pair weighs double, which makes neither an expert.
    """

    how: str
    subjects: tuple[str, ...]
    classes: tuple[str, ...]
    overall: Floats
    by_class: Floats
    error: Floats
    error_by_class: Floats
    per_restart: Floats
    training: NDArray[np.int64]
    restart_spread: Floats
    noise: Floats
    class_rows: NDArray[np.int64]
    class_share: Floats
    rows_used: int
    n_rows: int
    pairs: tuple[tuple[str, str], ...] = ()

    @property
    def order(self) -> NDArray[np.intp]:
        """Return the subjects, the most important first."""
        return np.argsort(-self.overall, kind="stable")

    def to_frame(self) -> pd.DataFrame:
        """Return a row per subject, with its importance for each class."""
        columns: dict[str, Any] = {
            "learner": list(self.subjects),
            "importance": self.overall,
            "standard_error": self.error,
            "restart_spread": self.restart_spread,
            "noise": self.noise,
        }
        columns |= {f"importance:{name}": self.by_class[:, k] for k, name in enumerate(self.classes)}
        return pd.DataFrame(columns)

    def class_frame(self) -> pd.DataFrame:
        """Return a row per subject and class with rows."""
        frame = long_frame(
            {"importance": self.by_class, "standard_error": self.error_by_class},
            ("learner", self.subjects),
            ("class", self.classes),
        )
        return frame.dropna(subset=["importance"]).reset_index(drop=True)

    def ratio(self, subjects: Sequence[int], classes: Sequence[int]) -> float:
        """Return the importance of some subjects over that of others.

        Means over some classes.

        Classes count by the rows fused to them, as in ``overall``; NaN unless both means are positive, for a ratio of
        anything else means nothing.
        """
        chosen = np.zeros(len(self.subjects), bool)
        chosen[list(subjects)] = True
        there = [k for k in classes if self.class_rows[k]]
        if not there or not chosen.any() or chosen.all():
            return float("nan")
        mean = np.average(self.by_class[:, there], axis=1, weights=self.class_share[there])
        own, others = float(mean[chosen].mean()), float(mean[~chosen].mean())
        return own / others if own > 0 and others > 0 else float("nan")

    def experts(self, least: float = STANDS_OUT) -> tuple[Expert, ...]:
        """Return the learners that stand out in a class, best first.

        A learner stands out in a class where its importance is at least ``least`` times that of the median learner,
        above the mean and more than chance, and where this lead is at least `BEYOND_ITSELF` times what it is in its
        median class. Classes with few rows are left out. The order is that of both leads together, over the others and
        beyond its own: a good learner leads everywhere, an expert where it is one. Members of `pairs` are never named.
        """
        cells = outstanding_cells(self.by_class, self.error_by_class, self.enough, least)
        doubled = {name for pair in self.pairs for name in pair}
        return tuple(
            Expert(self.subjects[i], self.classes[k], lead, beyond)
            for i, k, lead, beyond in cells
            if self.subjects[i] not in doubled
        )

    @property
    def enough(self) -> Mask:
        """Whether a class has enough rows to judge, (K,)."""
        return np.asarray(self.class_rows >= CLASS_ROWS)


def importance(
    model: FittedModel,
    votes: Votes,
    *,
    rng: np.random.Generator,
    how: str = "permuted",
    subset: Any = None,
    rows: int = ROWS,
    repeats: int = REPEATS,
    together: Sequence[Sequence[int]] | None = None,
    names: Sequence[str] | None = None,
    labels: Integers | None = None,
    control: Control | None = None,
) -> Importance:
    """Return how much the fused labels depend on each learner.

    A permuted vote is replaced by one that the same learner cast on another row of the whole table; a missing vote
    stays missing. All learners share the same random rows, so that neither their order nor their names matter.

    Parameters
    ----------
    model : DEEM, SoftDEEM, IRBM or GroupedDawidSkene
        Fitted. The importance is about the learners of the file, also where near-copies speak with one voice; that of
        a hedged model counts both trainings alike.
    votes : Votes
    rng : numpy Generator
    how : "permuted" or "withheld"
    subset : row selection, optional
        Rows asked about (indices, slice or mask); all by default.
    rows : int
        Rows used at most, drawn so that small classes have enough.
    repeats : int
        Permutations.
    together : sequence of groups of learner positions, optional
        Subjects whose votes are taken away together; each learner by itself by default.
    names : sequence of str, optional
        Of these subjects.
    labels : (n,) array of int, optional
        Fused labels of all rows, if they are known already.
    control : Control, optional
        Asked whether to go on.

    Raises
    ------
    InputError
        If ``how`` is unknown or no row has votes.
    """
    if how not in ("permuted", "withheld"):
        raise InputError(f"how is {how!r}; it must be one of permuted, withheld.")
    votes, control = model.recoded(votes).votes, control or Control()
    groups = [(j,) for j in range(votes.n_learners)] if together is None else [tuple(group) for group in together]
    titles = tuple(names) if names is not None else tuple(" + ".join(votes.learners[j] for j in g) for g in groups)
    fused = fused_labels(model, model.read(votes)) if labels is None else np.asarray(labels)
    asked = np.arange(votes.n_rows) if subset is None else np.arange(votes.n_rows)[as_rows(subset, votes.n_rows)]
    asked = asked[votes.votes_per_row[asked] > 0]
    if not len(asked):
        raise InputError("None of these rows has votes, so no learner can have influenced a label.")
    perturbation = Perturbation(model.read(votes), how, 1 if how == "withheld" else max(1, repeats), rng)
    affordable = MAX_CELLS // (len(groups) * perturbation.repeats * _states_per_row(model))
    sample = draw(asked, fused[asked], votes.n_classes, min(rows, max(FEWEST_ROWS, affordable)), rng)
    drops = _measure(model, perturbation, sample, groups, control)
    training = np.repeat(np.arange(max(1, len(model.parts_))), [part.n_restarts for part in model.parts_] or [1])
    by_class, class_error = _by_class(drops.by_row, sample)
    return Importance(
        how=how,
        subjects=titles,
        classes=class_names(model.classes_),
        overall=drops.by_row @ sample.weights,
        by_class=by_class,
        error=np.sqrt(np.nansum((sample.share * class_error) ** 2, axis=1)),
        error_by_class=class_error,
        per_restart=drops.per_restart,
        training=training,
        restart_spread=_spread(drops.per_restart, training),
        noise=drops.per_repeat.std(axis=0, ddof=1) if len(drops.per_repeat) > 1 else np.zeros(len(groups)),
        class_rows=sample.counts,
        class_share=sample.share,
        rows_used=len(sample.rows),
        n_rows=len(asked),
    )


def _states_per_row(model: FittedModel) -> int:
    """Return how many unit states a row takes, over all restarts."""
    return max(1, sum(part.states_per_row for part in model.parts_))


def _spread(values: Floats, training: NDArray[np.int64]) -> Floats:
    """Return the standard deviation of (R, S) values within trainings, (S,).

    NaN if each training has a single restart.
    """
    apart = np.stack([row - values[training == own].mean(axis=0) for row, own in zip(values, training, strict=True)])
    freedom = len(training) - len(np.unique(training))
    return np.sqrt((apart**2).sum(axis=0) / freedom) if freedom else np.full(values.shape[1], np.nan)


@dataclass(frozen=True)
class _Drops:
    """Drops of the fused class's centred logit."""

    by_row: Floats  # (S, b), mean over restarts and repeats
    per_restart: Floats  # (R, S), mean over rows and repeats
    per_repeat: Floats  # (T, S), mean over rows and restarts


def _measure(
    model: FittedModel, perturbation: Perturbation, sample: Sample, groups: Sequence[tuple[int, ...]], control: Control
) -> _Drops:
    rows, weights = perturbation.rows[sample.rows], sample.weights
    before = _centred(model, rows, sample.label)  # (R, b)
    of_restart = restart_weights(model)
    by_row = np.zeros((len(groups), len(rows)))
    per_restart = np.zeros((len(before), len(groups)))
    per_repeat = np.zeros((perturbation.repeats, len(groups)))
    for t, s, changed in perturbation.changes(sample, groups):
        control.check()
        moved = np.flatnonzero((changed != rows).reshape(len(rows), -1).any(axis=1))
        drop = before[:, moved] - _centred(model, changed[moved], sample.label[moved])
        by_row[s, moved] += of_restart @ drop / perturbation.repeats
        own = drop @ weights[moved]
        per_restart[:, s] += own / perturbation.repeats
        per_repeat[t, s] = of_restart @ own
    return _Drops(by_row, per_restart, per_repeat)


def _centred(model: FittedModel, rows: Rows, label: Integers) -> Floats:
    """Return ẑ of the label, (R, b)."""
    scores = logits(model, rows)
    return np.asarray(scores[:, np.arange(len(rows)), label] - scores.mean(axis=2))


def _by_class(by_row: Floats, sample: Sample) -> tuple[Floats, Floats]:
    """Return mean and standard error per class, (S, K).

    Of (S, b) drops, over the rows of each class.
    """
    K, counts = len(sample.share), sample.counts
    own = csr_array(
        (np.ones(len(sample.label)), (np.arange(len(sample.label)), sample.label)), shape=(len(sample.label), K)
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.asarray(by_row @ own) / counts
        apart = (by_row - mean[:, sample.label]) ** 2
        error = np.sqrt(np.asarray(apart @ own) / np.maximum(counts - 1, 0) / counts)  # NaN for fewer than two rows
    return mean, np.where(counts > 1, error, np.nan)
