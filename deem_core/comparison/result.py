"""Result of a comparison: numbers that JSON can hold, beside the labels."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

import pandas as pd

from deem_core.alarm import Alarm
from deem_core.errors import InputError
from deem_core.files.plain import from_plain, to_plain
from deem_core.methods.registry import SUBJECTS
from deem_core.notebook import bars, figure
from deem_core.text import percent
from deem_core.typing import Codes

TIES_DRAWN, FIRST_CLASS = "ties drawn", "ties to the first class"
"""The two readings of a majority vote with ties, in tables."""

CLUSTER_SECONDS = (
    "Seconds were measured on a cluster, whose machines may differ and had other work at the same time: do not rank "
    "methods by them."
)
"""Said wherever such seconds are shown."""


@dataclass(frozen=True)
class Difference:
    """Difference of two accuracies on the same rows, with its 95% interval."""

    difference: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class MethodResult:
    """One method's part of a comparison.

    Numbers that do not exist are None.

    Attributes
    ----------
    name, title : str
    stochastic : bool
    seeds : int
        Runs that count; 0 if it could not run.
    seconds : float, optional
        Mean time of a run.
    memory_bytes : int, optional
        The most that a run added to the memory of the process, as `gauge.Gauge` can see it.
    iterations : int, optional
        Of the first run.
    converged, cut : bool
        Whether the first run met its stop rule, and whether the time budget ended a run or left seeds out.
    note : str
        Sentences: why it could not run, what was cut, what it says of itself.
    accuracy, balanced_accuracy, macro_f1 : float, optional
        With truth: mean over the seeds; of the majority vote the expected value of a fair draw of ties.
    first_class_accuracy : float, optional
        Of the majority vote alone: accuracy with ties given to the first class, as in its labels.
    intervals : dict
        Metric → [low, high], 95% interval over rows.
    std : dict
        Metric → standard deviation over the seeds; empty for a single run.
    expert_accuracy, rest_accuracy : float, optional
        Accuracy on the rows whose true class is one of the expert classes, and on the rest.
    recalls : list, optional
        Share of right rows in each class of `Comparison.classes`; None for classes that the truth lacks.
    shares : list, optional
        Share of the labelled rows that each class got in the first run.
    stability : float, optional
        Mean share of rows on which two seeds agree.
    versus : dict
        "mv" and the subjects of the comparison (`registry.SUBJECTS`) → `Difference` in accuracy.
    alarms : tuple of Alarm
        About the labels of the first run, without truth; those about the file are in `Comparison.alarms`.
    mean_absolute_error, quadratic_kappa : float, optional
        With truth, where labels have an order: in the units of the scale, and weighted by squared steps; mean over
        the seeds, of the majority vote by the shares of its draws.
    """

    name: str
    title: str
    stochastic: bool
    seeds: int = 0
    seconds: float | None = None
    memory_bytes: int | None = None
    iterations: int | None = None
    converged: bool = False
    cut: bool = False
    note: str = ""
    accuracy: float | None = None
    balanced_accuracy: float | None = None
    macro_f1: float | None = None
    intervals: dict[str, list[float]] = field(default_factory=dict)
    std: dict[str, float] = field(default_factory=dict)
    expert_accuracy: float | None = None
    rest_accuracy: float | None = None
    recalls: list[float | None] | None = None
    shares: list[float] | None = None
    stability: float | None = None
    versus: dict[str, Difference] = field(default_factory=dict)
    first_class_accuracy: float | None = None
    alarms: tuple[Alarm, ...] = ()
    mean_absolute_error: float | None = None
    quadratic_kappa: float | None = None

    @property
    def ran(self) -> bool:
        """Whether it gave labels."""
        return self.seeds > 0

    @property
    def ties_matter(self) -> bool:
        """Whether its accuracy depends on ties; only the majority vote's does."""
        return self.first_class_accuracy is not None and self.first_class_accuracy != self.accuracy


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Shares of rows on which methods agree: names (m,), matrix (m, m)."""

    names: list[str]
    matrix: list[list[float]]


@dataclass(frozen=True, kw_only=True)
class DisputedRow:
    """Row on which methods differ.

    Its number from 1, its id, each method's label, and the share of methods that agree.
    """

    row: int
    id: str
    agreeing: float
    labels: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Dependence:
    """How much learners err together.

    Attributes
    ----------
    votes_per_row, n_eff : float, optional
        Votes of a row, and how many independent ones they count like; found without the truth.
    rho_others : float, optional
        Mean correlation, over pairs of learners, of going against the majority of the others. Without the truth.
    error_correlation : float, optional
        With truth: mean correlation of the errors of two learners. Evaluation only.
    error_rows : int
        Rows with known truth that it rests on.
    """

    votes_per_row: float | None = None
    n_eff: float | None = None
    rho_others: float | None = None
    error_correlation: float | None = None
    error_rows: int = 0


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """All methods on the same votes.

    Attributes
    ----------
    n_rows, n_learners, n_classes, n_truth : int
        ``n_truth`` rows have a known truth; 0 means that nothing was scored.
    classes : list of str
        The labels, those that only the truth has after the others.
    methods : tuple of MethodResult
        In the order asked for.
    best_learner, best_learner_accuracy, average_learner_accuracy : optional
        With truth: single learners, each on the rows it voted on; those with fewer than 30 are left out.
    expert_classes : list of str
    dependence : Dependence, optional
        None in comparisons of earlier versions.
    agreement : Agreement
        Between the methods that ran, by the labels of their first run.
    n_disputed : int
        Rows on which not all of these agree.
    disputed : tuple of DisputedRow
        The most disputed of them, at most 200.
    budget : float, optional
        Seconds that each method had.
    alarms : tuple of Alarm
        About the votes alone: they hold for every method.
    labels : dict
        Method → (n,) class codes of its first run, −1 for a row without votes. Empty after `from_dict`, unless
        `to_dict` was asked to keep them.
    ordered : bool
        Whether the labels are steps of a scale, lowest first.
    on_cluster : bool
        Whether the methods ran on a cluster; see `CLUSTER_SECONDS`.
    """

    n_rows: int
    n_learners: int
    n_classes: int
    n_truth: int
    classes: list[str]
    methods: tuple[MethodResult, ...]
    best_learner: str | None = None
    best_learner_accuracy: float | None = None
    average_learner_accuracy: float | None = None
    expert_classes: list[str] = field(default_factory=list)
    dependence: Dependence | None = None
    agreement: Agreement
    n_disputed: int
    disputed: tuple[DisputedRow, ...] = ()
    budget: float | None = None
    alarms: tuple[Alarm, ...] = ()
    labels: dict[str, Codes] = field(default_factory=dict, compare=False)
    ordered: bool = False
    on_cluster: bool = False

    def _repr_html_(self) -> str:
        """Return the ranked methods as a table, for notebooks."""
        scored = bool(self.n_truth)
        rows = [
            {
                "method": method.title,
                **({"accuracy": method.accuracy, "macro-F1": method.macro_f1} if scored else {}),
                "seconds": method.seconds,
            }
            for method in self.ranked()
        ]
        table = pd.DataFrame(rows).to_html(index=False, float_format="{:.3f}".format)
        table += f"<p>{CLUSTER_SECONDS}</p>" if self.on_cluster else ""
        if not scored:
            return str(table)
        ran = [method for method in self.ranked() if method.accuracy is not None]
        shares = [float(method.accuracy or 0.0) for method in ran]
        shown = bars("Accuracy (evaluation only)", [one.title for one in ran], shares, [percent(one) for one in shares])
        return f"{table}{shown}"

    def plot(self, *, theme: str = "light") -> Any:
        """Return the accuracy of all methods as a Plotly figure.

        Without truth, which methods give the same labels.
        """
        return figure("comparison", self, theme)

    def __getitem__(self, name: str) -> MethodResult:
        """Return one method's result."""
        for method in self.methods:
            if method.name == name:
                return method
        raise InputError(f"{name!r} is not in this comparison; it has {', '.join(m.name for m in self.methods)}.")

    def __contains__(self, name: object) -> bool:
        """Return whether a method was asked for."""
        return any(method.name == name for method in self.methods)

    @property
    def subject(self) -> MethodResult | None:
        """The method that the comparison is about.

        The first of `registry.SUBJECTS` that ran.
        """
        return next((self[name] for name in SUBJECTS if name in self and self[name].ran), None)

    def ranked(self) -> list[MethodResult]:
        """Return the methods that ran, the most accurate first.

        In the order asked for without truth.
        """
        ran = [method for method in self.methods if method.ran]
        return sorted(ran, key=lambda method: -(method.accuracy or 0.0)) if self.n_truth else ran

    def recall_differences(self, a: str, b: str) -> dict[str, float]:
        """Return class → recall of ``a`` minus that of ``b``.

        Only classes that the truth has are in it.
        """
        ours, theirs = self[a].recalls, self[b].recalls
        if ours is None or theirs is None:
            raise InputError("Recall by class needs the truth, and two methods that gave labels.")
        return {
            label: x - y
            for label, x, y in zip(self.classes, ours, theirs, strict=True)
            if x is not None and y is not None
        }

    def to_dict(self, *, labels: bool = False) -> dict[str, Any]:
        """Return plain values for JSON, with a sentence of conclusion.

        Labels only on request.
        """
        from deem_core.comparison.verdict import conclusion  # noqa: PLC0415  # it speaks about this class

        content: dict[str, Any] = to_plain(replace(self, labels=self.labels if labels else {}))
        if not labels:
            del content["labels"]
        return {**content, "conclusion": conclusion(self)}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Self:
        """Inverse of `to_dict`; KeyError or TypeError if something is missing or damaged."""
        return from_plain(cls, content)
