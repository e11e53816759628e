"""Evaluation of labels, learners and confidence by the truth.

Nothing of it reaches training.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from deem_core.answers import Answer
from deem_core.control import Control
from deem_core.diagnostics import calibration
from deem_core.diagnostics.calibration import ReliabilityCurve, SelectiveAccuracy, Temperature
from deem_core.diagnostics.confusion import Confusion, confusions_fit, real_confusion
from deem_core.diagnostics.disentanglement import Dependence, dependence
from deem_core.diagnostics.model_view import FittedModel
from deem_core.diagnostics.reliability import Reliability, any_learner_right, real_reliability
from deem_core.errors import InputError
from deem_core.files.results import Result
from deem_core.votes import NO_VOTE
from deem_core.votes.describe import majority_accuracy


@dataclass(frozen=True)
class Evaluation(Result):
    """What only the truth can tell, where it is known.

    Attributes
    ----------
    n_truth : int
    accuracy, majority_accuracy, ceiling : float
        Of the fused labels and the majority vote (ties drawn fairly, in expectation); and the share of rows on which
        any learner is right. Rows without votes are in none of them.
    reliability : Reliability
    confusion : Confusion, optional
        None where there are too many cells.
    dependence : Dependence
        Given the truth.
    by_confidence, by_review_score : SelectiveAccuracy
    calibration : ReliabilityCurve
    temperature : Temperature, optional
        None with fewer than 200 rows with truth.
    """

    n_truth: int
    accuracy: float
    majority_accuracy: float
    ceiling: float
    reliability: Reliability
    confusion: Confusion | None
    dependence: Dependence
    by_confidence: SelectiveAccuracy
    by_review_score: SelectiveAccuracy
    calibration: ReliabilityCurve
    temperature: Temperature | None

    def to_frame(self) -> pd.DataFrame:
        """Return the headline figures, a row each."""
        figures = {
            "rows with truth": self.n_truth,
            "accuracy": self.accuracy,
            "majority-vote accuracy": self.majority_accuracy,
            "any learner right": self.ceiling,
            "calibration error": self.calibration.error,
        }
        return pd.DataFrame({"figure": list(figures), "value": list(figures.values())})


def evaluate(
    model: FittedModel,
    answer: Answer,
    *,
    rng: np.random.Generator,
    control: Control | None = None,
) -> Evaluation:
    """Judge labels, learners and confidence by the truth.

    Parameters
    ----------
    model : DEEM, IRBM or GroupedDawidSkene
    answer : Answer
        The model's, in its own terms, with truth on some rows that have votes.
    """
    votes = answer.votes
    if votes.truth is None:
        raise InputError("There is no truth to evaluate against.")
    rows = (votes.truth != NO_VOTE) & (votes.votes_per_row > 0)
    judged, p = votes.select_rows(rows), answer.posterior[rows]
    truth = np.asarray(judged.truth)
    right = answer.codes[rows] == truth
    sure = answer.confidence[rows]
    enough = len(truth) >= calibration.MIN_TRUTH
    return Evaluation(
        n_truth=len(truth),
        accuracy=float(right.mean()),
        majority_accuracy=majority_accuracy(judged),
        ceiling=any_learner_right(judged),
        reliability=real_reliability(judged),
        confusion=real_confusion(judged) if confusions_fit(judged) else None,
        dependence=dependence(model, votes, given="truth", labels=answer.codes, control=control),
        by_confidence=calibration.selective_accuracy(sure, right),
        by_review_score=calibration.selective_accuracy(answer.review_score[rows], right),
        calibration=calibration.reliability_curve(sure, right),
        temperature=calibration.fit_temperature(p, truth, rng=rng) if enough else None,
    )
