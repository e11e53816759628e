"""Inspection: every diagnostic of a fitted model, computed once.

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

from deem_core.answers import Answer
from deem_core.control import Control
from deem_core.diagnostics.calibration import ReliabilityCurve, SelectiveAccuracy, Temperature
from deem_core.diagnostics.certainty import AnswerHealth, ConfidenceSummary, answer_health, summarise_confidence
from deem_core.diagnostics.checkup.duplicates import near_pairs
from deem_core.diagnostics.confusion import Confusion, confusions_fit, estimated_confusion, exact_confusion
from deem_core.diagnostics.disentanglement import Dependence, dependence
from deem_core.diagnostics.evaluation import Evaluation, evaluate
from deem_core.diagnostics.groups import GroupTree, group_tree
from deem_core.diagnostics.influence import ROWS, Importance, importance
from deem_core.diagnostics.layer_dependence import LayerDependence
from deem_core.diagnostics.model_view import FittedModel, belief, class_names, fused_labels
from deem_core.diagnostics.reasons import Why, why
from deem_core.diagnostics.reliability import Correlation, Reliability, correlation, estimated_reliability
from deem_core.diagnostics.unanimity import Overruled, overruled_rows
from deem_core.errors import InputError
from deem_core.files import results
from deem_core.files.results import Result
from deem_core.typing import Mask
from deem_core.votes import NO_VOTE, Votes
from deem_core.votes.arrays import spread_rows

NAME = "inspection"
MAX_ROWS = 200_000
"""Rows that figures rest on at most, evenly spread; shares are then good to a fifth of a percent."""

FEWEST_CHANGED = 30
"""Rows whose label fusing has changed that it takes to ask who changed them."""

REVIEWED = 300
"""Rows whose reasons are kept."""

MAX_CELLS = 40_000_000
"""Cells of their posterior, or of their probabilities, at most: with many classes, fewer rows."""


@dataclass(frozen=True)
class Inspection(Result):
    """Every diagnostic of a fitted model that needs no choice.

    Attributes
    ----------
    learners : tuple of d str
    classes : tuple of K str
    n_rows, rows_used : int
        Rows there are, and rows the figures rest on unless they say otherwise.
    influence, withheld : Importance
        By permutation, and by withholding.
    voices : Importance, optional
        Influence of near-copies that speak with one voice, or of groups that err together; None without any.
    changed, unchanged : Importance, optional
        Influence on the rows whose label is not the majority vote's, and on the others; None if they are few.
    dependence : Dependence
        Given the fused label, at the input and after every layer.
    confusion : Confusion, optional
        Estimated; None where there are too many cells.
    exact_confusion : Confusion, optional
        By the parameters, of models that have such.
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
    groups : GroupTree, optional
        Of grouped Dawid-Skene.
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
    groups: GroupTree | None = None

    def to_frame(self) -> pd.DataFrame:
        """Return a row per learner with its main figures."""
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
        tables = {"learners": self.to_frame(), "importance_by_class": self.influence.class_frame()}
        for owner, prefix in ((self, ""), (self.evaluation, "evaluation_")):
            for item in fields(owner) if owner is not None else ():
                part = getattr(owner, item.name)
                if isinstance(part, Result):
                    tables[prefix + item.name] = part.to_frame()
        return tables

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write ``inspection.npz`` and ``inspection.json`` into a folder."""
        results.save(self, folder, NAME)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote; nothing in it is executed."""
        inspection = results.load(folder, NAME, _KINDS)
        if not isinstance(inspection, cls):
            raise InputError(f"{os.fspath(folder)!r} does not hold an inspection. Compute it again.")
        return inspection


_KINDS: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        AnswerHealth,
        ConfidenceSummary,
        Confusion,
        Correlation,
        Dependence,
        Evaluation,
        GroupTree,
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
    model: FittedModel,
    votes: Votes,
    *,
    rng: np.random.Generator | None = None,
    rows: int = ROWS,
    control: Control | None = None,
) -> Inspection:
    """Inspect a fitted model on votes, usually those it was trained on.

    Parameters
    ----------
    model : DEEM, SoftDEEM, IRBM or GroupedDawidSkene
    votes : Votes
        Matched to the model by the names of learners and classes. Their truth, if any, serves `Evaluation` alone.
    rng : numpy Generator, optional
        By default the same one every time.
    rows : int
        Rows on which importance is measured.
    control : Control, optional
        Asked whether to go on, and told each step and the share that is done.

    Raises
    ------
    InputError
        If no row has votes or the votes are of other learners.
    Stopped
        If ``control`` says so.
    """
    control, rng = control or Control(), rng or np.random.default_rng(0)

    def tell(step: str, share: float) -> None:
        control.check()
        control.tell(step, share)

    whole = model.recoded(votes).votes
    tell("Fusing the votes", 0.0)
    per_row = whole.n_classes * (1 if whole.soft is None else whole.n_learners)
    most = max(1, min(MAX_ROWS, MAX_CELLS // per_row))
    chosen = spread_rows(whole.n_rows, most, nearest=True)
    some = whole.select_rows(chosen)
    blind = some.without_truth()
    answer = Answer(blind, model.fuse_rows(model.read(some)))
    labels = answer.codes
    ask = partial(importance, model, blind, rng=rng, rows=rows, labels=labels, control=control)
    tell("Influence of learners", 0.1)
    influence = replace(ask(), pairs=near_pairs(blind))
    tell("Withholding learners", 0.45)
    withheld = ask(how="withheld")
    together = model.voices_
    groups = ask(together=together.members, names=together.names) if together.names else None
    tell("Influence where the majority was overruled", 0.5)
    changed, unchanged = _apart(ask, (labels != answer.majority) & (labels != NO_VOTE))
    tell("Dependence through the layers", 0.6)
    depends = dependence(model, blind, labels=labels, control=control)
    tell("Confusion and confidence", 0.8)
    believed = answer if len(model.parts_) == 1 else Answer(blind, belief(model, model.read(some)))
    inspection = Inspection(
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
        confusion=estimated_confusion(believed) if confusions_fit(whole) else None,
        exact_confusion=_exact(model) if confusions_fit(whole) else None,
        reliability=estimated_reliability(believed),
        correlation=correlation(answer),
        confidence=summarise_confidence(answer),
        overruled=_overruled(model, whole),
        review=why(model, whole.without_truth(), chosen[_doubtful(answer)]),
        health=answer_health(model, blind, labels),
        evaluation=None,
        groups=group_tree(model),
    )
    tell("Evaluation", 0.9)
    truth = some.truth
    known = truth is not None and bool(((truth != NO_VOTE) & (some.votes_per_row > 0)).any())
    evaluation = evaluate(model, answer.with_truth(some), rng=rng, control=control) if known else None
    tell("Done", 1.0)
    return replace(inspection, evaluation=evaluation)


def _apart(ask: Callable[..., Importance], changed: Mask) -> tuple[Importance, Importance] | tuple[None, None]:
    """Return the influence on changed rows and on the others.

    None if either are too few.
    """
    if min(int(changed.sum()), int((~changed).sum())) < FEWEST_CHANGED:
        return None, None
    return ask(subset=changed), ask(subset=~changed)


def _doubtful(answer: Answer) -> NDArray[np.intp]:
    """Return the most doubtful rows with votes, worst first."""
    score = np.where(answer.silent, np.inf, answer.review_score)
    worst = np.argsort(score, kind="stable")[:REVIEWED]
    return worst[np.isfinite(score[worst])]


def _exact(model: FittedModel) -> Confusion | None:
    if not model.parts_ or model.parts_[0].parameters() is None:
        return None
    return exact_confusion(model.parts_[0], model.classes_)


def _overruled(model: FittedModel, votes: Votes) -> Overruled:
    labels = np.full(votes.n_rows, NO_VOTE, np.int32)
    asked = np.flatnonzero(votes.unanimous)
    labels[asked] = fused_labels(model, model.read(votes)[asked])
    return overruled_rows(votes, labels)
