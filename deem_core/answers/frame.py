"""Frame of an answer: a row per row in the original labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from deem_core.answers.answer import MAX_PROBABILITIES, Answer
from deem_core.typing import Floats, Posterior


def frame(answer: Answer) -> pd.DataFrame:
    """Return a frame with ids as its index.

    Columns are named as in the fused file.
    """
    votes = answer.votes
    names = np.array([*votes.classes.tolist(), None], object)
    ids = votes.ids
    columns: dict[str, Any] = {
        "fused_label": pd.Series(answer.labels, ids, object),  # as text, None would become NaN
        "confidence": _of_voted(answer, answer.confidence),
    }
    if answer.expected_score is not None and answer.expected_score_sd is not None:
        columns["expected_score"] = _of_voted(answer, answer.expected_score)
        columns["expected_score_sd"] = _of_voted(answer, answer.expected_score_sd)
    if len(answer.probability_names) <= MAX_PROBABILITIES:
        for k, label in enumerate(answer.probability_names.tolist()):
            columns[f"p_{label}"] = np.asarray(answer.posterior[:, k], np.float64)
    columns |= {
        "majority_vote": pd.Series(names[answer.majority], ids, object),
        "agreement": answer.agreement,
        "entropy": _of_voted(answer, answer.entropy),
        "needs_review": answer.needs_review,
    }
    return pd.DataFrame(columns, index=ids)


def _of_voted(answer: Answer, values: Posterior) -> Floats:
    """Return values (n,) with NaN for rows without votes, which have no label."""
    return np.where(answer.silent, np.nan, np.asarray(values, np.float64))
