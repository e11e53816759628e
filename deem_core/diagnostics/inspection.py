"""Inspection: everything about a fitted model that needs no choice by the user, computed once and kept in a folder.

What needs truth is a part of its own, `Evaluation`: nothing of it ever goes back into training or selection.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from deem_core.control import Control
from deem_core.diagnostics import confidence, result
from deem_core.diagnostics.agreement import spread_rows
from deem_core.diagnostics.answers import Fused, belief, class_names, fused_labels, in_model_terms, voices
from deem_core.diagnostics.calibration import ReliabilityCurve, SelectiveAccuracy, Temperature
from deem_core.diagnostics.confusion import Confusion, confusions_fit, estimated_confusion, exact_confusion
from deem_core.diagnostics.dependence import Dependence, dependence
from deem_core.diagnostics.dependent_units import LayerDependence
from deem_core.diagnostics.evaluation import Evaluation, evaluate
from deem_core.diagnostics.importance import ROWS, Importance, importance
from deem_core.diagnostics.overruled import Overruled, overruled
from deem_core.diagnostics.reliability import Correlation, Reliability, correlation, estimated_reliability
from deem_core.diagnostics.result import Result
from deem_core.diagnostics.summary import AnswerHealth, ConfidenceSummary, answer_health, summarise_confidence
from deem_core.diagnostics.why import Why, why
from deem_core.errors import InputError
from deem_core.votes import NO_VOTE, Votes

Watch = Callable[[str, float], None]
"""Called with what is being done and the share of all that is done."""

NAME = "inspection"
MAX_ROWS = 200_000
"""Rows that figures rest on at most, evenly spread; shares are then good to a fifth of a percent."""

FEWEST_CHANGED = 30
"""Rows whose label fusing has changed that it takes to ask who changed them."""

REVIEWED = 300
"""Rows whose reasons are kept."""

MAX_CELLS = 40_000_000
"""Cells of their posterior at most: with many classes, fewer rows."""


@dataclass(frozen=True)
class Inspection(Result):
    """Everything about a fitted model that needs no choice.

    Attributes
    ----------
    learners : tuple of d str
    classes : tuple of K str
    n_rows, rows_used : int
        Rows there are, and rows the figures rest on unless they say otherwise.
    influence, withheld : Importance
        By permutation, and by withholding.
    voices : Importance, optional
        Influence of groups of near-copies that speak with one voice; None without any.
    changed, unchanged : Importance, optional
        Influence on the rows whose label is not the majority vote's, and on the others; None if they are few.
    dependence : Dependence
        Given the fused label, at the input and after every layer.
    confusion : Confusion, optional
        Estimated; None where there are too many cells.
    exact_confusion : Confusion, optional
        Dawid-Skene parameters, of models without layers.
    reliability : Reliability
        Accuracy of the learners without truth.
    correlation : Correlation
    confidence : ConfidenceSummary
    overruled : Overruled
        Of all rows.
    review : Why
        Reasons for the labels that deserve a look most, the most doubtful first.
    health : AnswerHealth
    evaluation : Evaluation, optional
        None without truth.
    """

    learners: tuple[str, ...]
    classes: tuple[str, ...]
    n_rows: int
    rows_used: int
    influence: Importance
    withheld: Importance
    voices: Importance | None
    changed: Importance | None
    unchanged: Importance | None
    dependence: Dependence
    confusion: Confusion | None
    exact_confusion: Confusion | None
    reliability: Reliability
    correlation: Correlation
    confidence: ConfidenceSummary
    overruled: Overruled
    review: Why
    health: AnswerHealth
    evaluation: Evaluation | None

    def to_frame(self) -> pd.DataFrame:
        """Return a row per learner: influence, withheld, estimated accuracy, correlation with the fused label."""
        frame = pd.DataFrame(
            {
                "learner": list(self.learners),
                "influence": self.influence.overall,
                "influence_error": self.influence.error,
                "withheld": self.withheld.overall,
                "estimated_accuracy": self.reliability.accuracy,
                "correlation_with_fused": self.correlation.with_consensus,
            }
        )
        if self.evaluation is not None:
            frame["real_accuracy"] = self.evaluation.reliability.accuracy
        return frame

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return the table of every part by name, for download."""
        made = {"learners": self.to_frame(), "importance_by_class": self.influence.class_frame()}
        for owner, prefix in ((self, ""), (self.evaluation, "evaluation_")):
            for item in fields(owner) if owner is not None else ():
                part = getattr(owner, item.name)
                if isinstance(part, Result):
                    made[prefix + item.name] = part.to_frame()
        return made

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write ``inspection.npz`` and ``inspection.json`` into a folder."""
        result.save(self, folder, NAME)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote; nothing in it is executed."""
        found = result.load(folder, NAME, _KINDS)
        if not isinstance(found, cls):
            raise InputError(f"There is something else than an inspection in {os.fspath(folder)!r}. Compute it again.")
        return found


_KINDS: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        AnswerHealth,
        ConfidenceSummary,
        Confusion,
        Correlation,
        Dependence,
        Evaluation,
        Importance,
        Inspection,
        LayerDependence,
        Overruled,
        Reliability,
        ReliabilityCurve,
        SelectiveAccuracy,
        Temperature,
        Why,
    )
}


def inspect(
    model: Fused,
    votes: Votes,
    *,
    rng: np.random.Generator,
    rows: int = ROWS,
    watch: Watch | None = None,
    control: Control | None = None,
) -> Inspection:
    """Inspect a fitted model on votes, usually those it was trained on.

    Parameters
    ----------
    model : DEEM or IRBM
    votes : Votes
        Matched to the model by the names of learners and classes. Their truth, if any, serves `Evaluation` alone.
    rng : numpy Generator
    rows : int
        Rows on which importance is measured.
    watch : callable, optional
        Called with each step and the share that is done.
    control : Control, optional
        Asked whether to go on.

    Raises
    ------
    InputError
        If no row has votes or the votes are of other learners.
    Stopped
        If ``control`` says so.
    """
    tell = _Teller(watch, control or Control())
    whole = in_model_terms(model, votes)
    tell("Fusing the votes", 0.0)
    chosen = np.arange(whole.n_rows)[spread_rows(whole.n_rows, max(1, min(MAX_ROWS, MAX_CELLS // whole.n_classes)))]
    some = whole.select_rows(chosen)
    posterior = model.fuse_codes(some.codes)
    labels = confidence.fused_codes(some, posterior)
    blind = some.without_truth()
    ask = partial(importance, model, blind, rng=rng, rows=rows, labels=labels, control=tell.control)
    tell("Influence of learners", 0.1)
    influence = ask()
    tell("Withholding learners", 0.45)
    withheld = ask(how="withheld")
    names, members = voices(model.reduction_)
    groups = ask(together=members, names=names) if names else None
    tell("Influence where the majority was overruled", 0.5)
    changed, unchanged = _apart(ask, (labels != some.majority_vote.codes) & (labels != NO_VOTE))
    tell("Dependence through the layers", 0.6)
    depends = dependence(model, blind, labels=labels, control=tell.control)
    tell("Confusion and confidence", 0.8)
    believed = posterior if len(model.parts_) == 1 else belief(model, some.codes)
    made = Inspection(
        learners=whole.learners,
        classes=class_names(whole.classes),
        n_rows=whole.n_rows,
        rows_used=some.n_rows,
        influence=influence,
        withheld=withheld,
        voices=groups,
        changed=changed,
        unchanged=unchanged,
        dependence=depends,
        confusion=estimated_confusion(blind, believed) if confusions_fit(whole) else None,
        exact_confusion=_exact(model) if confusions_fit(whole) else None,
        reliability=estimated_reliability(blind, believed),
        correlation=correlation(blind, posterior),
        confidence=summarise_confidence(blind, posterior, labels),
        overruled=_overruled(model, whole),
        review=why(model, whole.without_truth(), chosen[_doubtful(blind, posterior)]),
        health=answer_health(model, blind, labels),
        evaluation=None,
    )
    tell("Evaluation", 0.9)
    truth = some.truth
    known = truth is not None and bool(((truth != NO_VOTE) & (some.votes_per_row > 0)).any())
    evaluation = evaluate(model, some, posterior, rng=rng, control=tell.control) if known else None
    tell("Done", 1.0)
    return replace(made, evaluation=evaluation)


class _Teller:
    """Tells whoever watches what is done, and stops where asked to."""

    def __init__(self, watch: Watch | None, control: Control) -> None:
        self.watch, self.control = watch, control

    def __call__(self, step: str, share: float) -> None:
        self.control.check()
        self.control.tell(step, share)
        if self.watch is not None:
            self.watch(step, share)


def _apart(
    ask: Callable[..., Importance], changed: NDArray[np.bool_]
) -> tuple[Importance, Importance] | tuple[None, None]:
    """Return the influence on changed rows and on the others, if both are enough to tell."""
    if min(int(changed.sum()), int((~changed).sum())) < FEWEST_CHANGED:
        return None, None
    return ask(subset=changed), ask(subset=~changed)


def _doubtful(votes: Votes, posterior: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the rows with votes that deserve a look most, the most doubtful first."""
    score = np.where(votes.votes_per_row > 0, confidence.review_score(votes, posterior), np.inf)
    worst = np.argsort(score, kind="stable")[:REVIEWED]
    return worst[np.isfinite(score[worst])]


def _exact(model: Fused) -> Confusion | None:
    if not model.parts_ or model.parts_[0].model.n_layers:
        return None
    return exact_confusion(model.parts_[0], model.classes_)


def _overruled(model: Fused, votes: Votes) -> Overruled:
    labels = np.full(votes.n_rows, NO_VOTE, np.int32)
    asked = np.flatnonzero(votes.unanimous)
    labels[asked] = fused_labels(model, votes.codes[asked])
    return overruled(votes, labels)
