"""Review of fused labels: threshold, queue, and reviewed labels."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from deem_core import InputError
from deem_core.answers import export
from deem_core.comparison import Evaluation, evaluate
from deem_core.diagnostics import Queue, review_queue
from deem_core.files.tables import id_texts
from deem_core.readers import ROW, Truth, label_truth, labels_by_row, open_source, queue_answer, read_truth, row_numbers
from deem_core.typing import Floats, Mask
from deem_core.votes import NO_VOTE, Votes
from studio.export.results import Labelled

MOST_ROWS = 500
"""Rows of the review queue on the page; the download has all."""

STEP = 0.01
"""Of the threshold, and the width of a bar, so that every bar lies on one side of it."""

LABEL = "reviewed_label"
"""Column of a review queue that came back with what the reviewer says."""


@dataclass(frozen=True)
class ThresholdFacts:
    """Facts behind the effect of any threshold, once per run.

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

    confidence: Floats
    usual: Mask
    always: Mask
    known: Mask
    right: Mask
    edges: Floats
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


def threshold_facts(result: Labelled) -> ThresholdFacts:
    """Return what the effect of any threshold rests on."""
    return _threshold_facts(result.key, result)


@st.cache_resource(max_entries=3, show_spinner=False)
def _threshold_facts(key: str, _result: Labelled) -> ThresholdFacts:
    answer, truth = _result.answer, _result.votes.truth
    silent = answer.silent
    confidence = np.where(silent, np.nan, answer.confidence)
    counts, edges = np.histogram(confidence[~silent], bins=round(1 / STEP), range=(0.0, 1.0))
    known, right = np.zeros(len(silent), bool), np.zeros(len(silent), bool)
    if truth is not None:
        known = (truth != NO_VOTE) & ~silent
        right = known & (answer.codes == truth)
    always = silent | answer.overruled
    return ThresholdFacts(confidence, answer.needs_review, always, known, right, edges, counts)


def effect(by: ThresholdFacts, threshold: float) -> Effect:
    """Return the effect of a threshold; 0 is the usual rule."""
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


def _accuracy(by: ThresholdFacts, rows: Mask) -> float | None:
    judged = int((by.known & rows).sum())
    return int((by.right & rows).sum()) / judged if judged else None


def preview(result: Labelled, options: Mapping[str, Any], rows: int = 20) -> pd.DataFrame:
    """Return the first rows of the file that the options describe.

    The others are not looked at.

    Raises
    ------
    InputError
        If there can be no such file.
    """
    first = result.head(rows)
    table = export.fused_table(first.reading, first.answer, **options)
    return pd.DataFrame({name: table[name].to_pylist() for name in table.column_names})


# ---------------------------------------------------------------------- the queue


def queue(result: Labelled) -> Queue:
    """Return the rows worth a look, computed once for each answer."""
    return _queue(result.key, result)


@st.cache_resource(max_entries=3, show_spinner="Ranking the rows…")
def _queue(key: str, _result: Labelled) -> Queue:
    return review_queue(_result.answer)


def queue_table(result: Labelled, most: int | None = MOST_ROWS) -> pd.DataFrame:
    """Return rows to review with label, reasons and every vote.

    There is a column for the reviewed label.

    Rows are counted from 1. There is a column ``id`` where the file names its rows, and ``restarts_agreeing`` where
    the run knows that.
    """
    votes, every = result.votes, queue(result)
    ranked = replace(every, **{field.name: getattr(every, field.name)[:most] for field in fields(every)})
    rows = ranked.rows
    names = np.array([*map(str, votes.classes), ""], object)
    columns: dict[str, Any] = {"row": rows + 1}
    if not isinstance(votes.ids, pd.RangeIndex):
        columns["id"] = pd.Series(id_texts(votes.ids[rows]).to_pylist(), dtype=object)
    columns["fused_label"] = names[result.answer.codes[rows]]
    columns["reviewed_label"] = np.full(len(rows), "", object)
    columns["confidence"] = result.answer.confidence[rows]
    if result.answer.support is not None:
        columns["restarts_agreeing"] = ranked.support
    columns["why"] = np.array(ranked.why, object)
    for at, learner in enumerate(votes.learners):
        columns[_free(columns, str(learner))] = names[votes.codes[rows, at]]
    return pd.DataFrame(columns)


def _free(columns: Mapping[str, Any], name: str) -> str:
    """Return a learner's name that no column has yet."""
    while name in columns:
        name = f"{name} (vote)"
    return name


# ---------------------------------------------------------------------- labels that come back; evaluation only


def judge(result: Labelled, name: str, data: bytes) -> tuple[Evaluation, list[str]]:
    """Return the accuracy on reviewed rows, and notes of the reading.

    Computed once for each file.

    Raises
    ------
    InputError
        If the file cannot be read, belongs to other rows or holds no reviewed label.
    """
    return _judge(result.key, hashlib.sha256(data).hexdigest(), name, result, data)


@st.cache_resource(max_entries=6, show_spinner="Comparing with the reviewed labels…")
def _judge(key: str, digest: str, name: str, _result: Labelled, _data: bytes) -> tuple[Evaluation, list[str]]:
    votes = _result.votes.without_truth()
    truth = read_reviewed(votes, name, _data)
    known = 0 if truth.codes is None else int((truth.codes >= 0).sum())
    reviewed = replace(votes, truth=truth.codes, truth_only=truth.truth_only)
    evaluation = evaluate(_result.answer.with_truth(reviewed))
    if evaluation is None:
        raise InputError(f"No row of {name} has a reviewed label. Fill in the column {LABEL} and bring it again.")
    notes = [note.text for note in truth.notes if note.kind in ("warning", "left out")]
    return evaluation, [f"{known:,} reviewed labels were read from {name}.", *notes]


def read_reviewed(votes: Votes, name: str, data: bytes) -> Truth:
    """Return reviewed labels as the truth of the votes.

    A review queue is matched by the number of the row, so that ids need neither be there nor differ; any other file
    of two columns by id.
    """
    source = open_source(_stream(name, data))
    answer = queue_answer(source)
    if answer is not None:
        return label_truth(answer, labels_by_row(source, answer, row_numbers(source, votes), votes), votes)
    if isinstance(votes.ids, pd.RangeIndex):
        raise InputError(
            f"{name} has no columns {ROW} and {LABEL}, and the votes have no ids to match it by. Download the review "
            f"queue, fill in {LABEL} and bring that."
        )
    return read_truth(_stream(name, data), votes)


def _stream(name: str, data: bytes) -> io.BytesIO:
    stream = io.BytesIO(data)
    stream.name = name
    return stream
