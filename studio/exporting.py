"""What the Export page computes: the effect of a threshold, the first rows of a file, and the review queue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import streamlit as st
from numpy.typing import NDArray

from deem_core.diagnostics import confidence as sure
from deem_core.diagnostics.review import Queue, review_queue
from deem_core.tables import id_texts
from deem_core.votes import NO_VOTE
from studio.results import Labelled, fused_table

MOST_ROWS = 500
"""Rows of the review queue on the page; the download has all."""

STEP = 0.01
"""Of the threshold, and the width of a bar, so that every bar lies on one side of it."""


@dataclass(frozen=True)
class Weighed:
    """What every threshold is weighed by, found once for each run.

    Attributes
    ----------
    confidence : (n,) float64
        NaN for rows without votes.
    usual, always : (n,) bool
        Rows to review by the usual rule, and whatever the threshold: overruled unanimous votes and rows without votes.
    known, right : (n,) bool
        Labels whose truth is known, and that are right. Evaluation only.
    edges, counts : (B + 1,) and (B,)
        Histogram of the confidence.
    """

    confidence: NDArray[np.float64]
    usual: NDArray[np.bool_]
    always: NDArray[np.bool_]
    known: NDArray[np.bool_]
    right: NDArray[np.bool_]
    edges: NDArray[np.float64]
    counts: NDArray[np.int64]


@dataclass(frozen=True)
class Effect:
    """What a confidence threshold does.

    Attributes
    ----------
    review, below, rows : int
        Rows to review, those of them with a label below the threshold, and all rows.
    kept_confidence : float, optional
        Mean confidence of the labels that need no review.
    kept_accuracy, all_accuracy : float, optional
        With truth: accuracy of the labels that need no review, and of all. Evaluation only.
    """

    review: int
    below: int
    rows: int
    kept_confidence: float | None
    kept_accuracy: float | None
    all_accuracy: float | None


def weighed(found: Labelled) -> Weighed:
    """Return what every threshold is weighed by."""
    return _weighed(found.run.id, found)


@st.cache_resource(max_entries=3, show_spinner=False)
def _weighed(run_id: str, _found: Labelled) -> Weighed:
    votes = _found.votes
    silent = votes.votes_per_row == 0
    codes = sure.fused_codes(votes, _found.posterior)
    confidence = sure.confidence(_found.posterior)
    confidence[silent] = np.nan
    counts, edges = np.histogram(confidence[~silent], bins=round(1 / STEP), range=(0.0, 1.0))
    known, right = np.zeros(votes.n_rows, bool), np.zeros(votes.n_rows, bool)
    if votes.truth is not None:
        known = (votes.truth != NO_VOTE) & ~silent
        right = known & (codes == votes.truth)
    always = silent | (votes.unanimous & (codes != votes.majority_vote.codes))
    return Weighed(confidence, _found.needs_review, always, known, right, edges, counts)


def effect(by: Weighed, threshold: float) -> Effect:
    """Return what reviewing the rows below a confidence does; 0 stands for the usual rule."""
    low = by.confidence < threshold  # no NaN is
    review = by.always | low if threshold else by.usual
    kept = ~review
    return Effect(
        review=int(review.sum()),
        below=int(low.sum()),
        rows=len(review),
        kept_confidence=float(by.confidence[kept].mean()) if kept.any() else None,
        kept_accuracy=_accuracy(by, kept),
        all_accuracy=_accuracy(by, np.ones_like(kept)),
    )


def _accuracy(by: Weighed, rows: NDArray[np.bool_]) -> float | None:
    judged = int((by.known & rows).sum())
    return int((by.right & rows).sum()) / judged if judged else None


def preview(found: Labelled, options: Mapping[str, Any], rows: int = 20) -> pd.DataFrame:
    """Return the first rows of the file that the options describe; the others are not looked at.

    Raises
    ------
    InputError
        If there can be no such file.
    """
    first = found.head(rows)
    table = fused_table(first, options)
    if options.get("diagnostics", True) and options.get("review_below") is None:
        name = table.column_names[-1]  # the lowest tenth of all rows is not that of the first ones
        table = table.set_column(table.num_columns - 1, name, pa.array(first.needs_review))
    return pd.DataFrame({name: table[name].to_pylist() for name in table.column_names})


# ---------------------------------------------------------------------- review


def queue(found: Labelled) -> Queue:
    """Return the rows worth a look, found once for each run."""
    return _queue(found.run.id, found)


@st.cache_resource(max_entries=3, show_spinner="Ranking the rows…")
def _queue(run_id: str, _found: Labelled) -> Queue:
    return review_queue(_found.votes, _found.posterior, _found.support)


def queue_table(found: Labelled, most: int | None = MOST_ROWS) -> pd.DataFrame:
    """Return rows to review with label, reasons and every vote, and a column for the reviewed label.

    Rows are counted from 1. There is a column ``id`` where the file names its rows, and ``restarts_agreeing`` where
    the run knows that.
    """
    votes, every = found.votes, queue(found)
    ranked = replace(every, **{field.name: getattr(every, field.name)[:most] for field in fields(every)})
    rows = ranked.rows
    names = np.array([*map(str, votes.classes), ""], object)
    p = found.posterior[rows]
    columns: dict[str, Any] = {"row": rows + 1}
    if not isinstance(votes.ids, pd.RangeIndex):
        columns["id"] = pd.Series(id_texts(votes.ids[rows]).to_pylist(), dtype=object)
    columns["fused_label"] = names[p.argmax(axis=1)]
    columns["reviewed_label"] = np.full(len(rows), "", object)
    columns["confidence"] = p.max(axis=1)
    if found.support is not None:
        columns["restarts_agreeing"] = ranked.support
    columns["why"] = np.array(ranked.why, object)
    for at, learner in enumerate(votes.learners):
        columns[_free(columns, str(learner))] = names[votes.codes[rows, at]]
    return pd.DataFrame(columns)


def _free(columns: Mapping[str, Any], name: str) -> str:
    """Return a name of a learner that is not yet the name of a column."""
    while name in columns:
        name = f"{name} (vote)"
    return name
