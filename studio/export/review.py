"""Review of fused labels: threshold, queue, and reviewed labels."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import streamlit as st
from numpy.typing import NDArray

from deem_core import InputError
from deem_core.answers import Answer, export
from deem_core.comparison import Evaluation, evaluate
from deem_core.diagnostics import Queue, review_queue, review_reasons
from deem_core.files.tables import id_texts
from deem_core.readers import (
    AS_SPELLED,
    ROW,
    LabelMap,
    Truth,
    label_truth,
    labels_by_row,
    open_source,
    queue_answer,
    read_truth,
    row_numbers,
)
from deem_core.typing import Floats, Mask
from deem_core.votes import NO_VOTE, Votes, exact
from studio.export.results import Labelled

MOST_ROWS = 500
"""Rows of the review queue on the page; the download has all."""

BARS = 60
"""Of the histogram of confidence, between the least and 100%."""

SHARES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0)
"""Of the rows that the thresholds on offer send to review, so that a slider reaches all of them."""

LABEL = "reviewed_label"
"""Column of a review queue that came back with what the reviewer says."""


@dataclass(frozen=True)
class Budget:
    """Rows to review: a share, or those below a confidence."""

    share: float = 0.1
    below: float | None = None

    @property
    def options(self) -> dict[str, float]:
        """The options of `export.fused_table` that say so."""
        return {"review_share": self.share} if self.below is None else {"review_below": self.below}

    def chosen(self, answer: Answer) -> Mask:
        """Return the rows that the budget itself chooses, (n,)."""
        return answer.reviewing(self.share).doubtful if self.below is None else answer.below(self.below)


@dataclass(frozen=True)
class Effect:
    """What a budget does.

    Attributes
    ----------
    review, chosen, rows : int
        Rows to review, those of them that the budget chooses, and all rows. Overruled unanimous votes and rows without
        votes need review whatever the budget.
    kept_confidence : float, optional
        Mean confidence of the labels that need no review.
    kept_accuracy, all_accuracy : float, optional
        With truth: accuracy of the labels that need no review, and of all. Evaluation only.
    kept_interval : (float, float), optional
        95% interval of the former.
    edges, counts, reviewed : (B + 1,), (B,) and (B,) arrays
        Histogram of the confidence, and of that of the rows to review.
    """

    review: int
    chosen: int
    rows: int
    kept_confidence: float | None
    kept_accuracy: float | None
    all_accuracy: float | None
    kept_interval: tuple[float, float] | None
    edges: Floats
    counts: NDArray[np.int64]
    reviewed: NDArray[np.int64]


def effect(result: Labelled, budget: Budget) -> Effect:
    """Return the effect of a budget, computed once for each."""
    return _effect(result.key, budget, result)


@st.cache_resource(max_entries=20, show_spinner=False)
def _effect(key: str, budget: Budget, _result: Labelled) -> Effect:
    answer, truth, silent = _result.answer, _result.votes.truth, _result.answer.silent
    confidence, chosen = answer.confidence, budget.chosen(_result.answer)
    review = silent | answer.overruled | chosen
    known = np.zeros(len(silent), bool) if truth is None else (truth != NO_VOTE) & ~silent
    right = known if truth is None else known & (answer.codes == truth)
    lowest = float(confidence[~silent].min(initial=1.0))
    ends = (min(lowest, 0.99), 1.0)
    counts, edges = np.histogram(confidence[~silent], BARS, ends)
    return Effect(
        review=int(review.sum()),
        chosen=int(chosen.sum()),
        rows=len(review),
        kept_confidence=float(confidence[~review].mean()) if (~review).any() else None,
        kept_accuracy=_accuracy(known, right, ~review),
        all_accuracy=_accuracy(known, right, ~silent),
        kept_interval=_interval(known, right, ~review),
        edges=edges,
        counts=counts,
        reviewed=np.histogram(confidence[review & ~silent], BARS, ends)[0],
    )


def _accuracy(known: Mask, right: Mask, rows: Mask) -> float | None:
    judged = int((known & rows).sum())
    return int((right & rows).sum()) / judged if judged else None


def _interval(known: Mask, right: Mask, rows: Mask) -> tuple[float, float] | None:
    judged = int((known & rows).sum())
    low, high = exact(int((right & rows).sum()), judged)
    return (float(low), float(high)) if judged else None


def thresholds(result: Labelled) -> dict[float, int]:
    """Return confidences to choose a threshold from → labels below each.

    They lie where the labels are: between the least and the most confident, at the quantiles `SHARES`.
    """
    return _thresholds(result.key, result)


@st.cache_resource(max_entries=3, show_spinner=False)
def _thresholds(key: str, _result: Labelled) -> dict[float, int]:
    confidence = np.sort(_result.answer.confidence[~_result.answer.silent])
    if not len(confidence):
        return {}
    above = np.nextafter(np.quantile(confidence, SHARES, method="inverted_cdf"), 2.0)  # the row itself is below
    values = np.unique(np.minimum(above, 1.0))
    return {float(value): int(np.searchsorted(confidence, value)) for value in values}


def preview(result: Labelled, options: Mapping[str, Any], rows: int = 20) -> pd.DataFrame:
    """Return the first rows of the file that the options describe.

    The others are not looked at. What fusion adds comes first, after the id: it is what one wants to see.

    Raises
    ------
    InputError
        If there can be no such file.
    """
    first = result.head(rows)
    table = export.fused_table(first.reading, first.answer, **options)
    frame = pd.DataFrame({name: table[name].to_pylist() for name in table.column_names})
    given = export.original_names(first.reading, originals=options.get("originals", True))
    ids = export.original_names(first.reading, originals=False)
    added = [name for name in frame if name not in set(given)]
    return frame[[*ids, *added, *(name for name in given if name not in set(ids))]]


# ---------------------------------------------------------------------- the queue


def queue(result: Labelled) -> Queue:
    """Return the rows worth a look, computed once for each answer."""
    return _queue(result.key, result)


@st.cache_resource(max_entries=3, show_spinner="Ranking the rows…")
def _queue(key: str, _result: Labelled) -> Queue:
    return review_queue(_result.answer)


def queue_table(result: Labelled, most: int | None = MOST_ROWS) -> pd.DataFrame:
    """Return rows to review with label, reasons, text and every vote.

    There is a column for the reviewed label.

    Rows are counted from 1. There is a column ``id`` where the file names its rows, ``restarts_agreeing`` where the run
    knows that, and those columns of the file that are no votes, such as a text.
    """
    votes, every = result.votes, queue(result)
    ranked = replace(every, **{field.name: getattr(every, field.name)[:most] for field in fields(every)})
    rows = ranked.rows
    names = np.array([*map(str, votes.classes), ""], object)
    columns: dict[str, Any] = {"row": rows + 1}
    if votes.has_ids:
        columns["id"] = pd.Series(id_texts(votes.ids[rows]).to_pylist(), dtype=object)
    columns["fused_label"] = names[result.answer.codes[rows]]
    columns["reviewed_label"] = np.full(len(rows), "", object)
    columns["confidence"] = result.answer.confidence[rows]
    if result.answer.support is not None:
        columns["restarts_agreeing"] = ranked.support
    columns["why"] = np.array(review_reasons(result.answer, ranked), object)
    for name, cells in _other_cells(result, rows):
        columns[_free(columns, name, "file")] = cells
    for at, learner in enumerate(votes.learners):
        columns[_free(columns, str(learner), "vote")] = names[votes.codes[rows, at]]
    return pd.DataFrame(columns)


def _other_cells(result: Labelled, rows: NDArray[np.int64]) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield columns of the file that are neither votes, id nor truth."""
    reading = result.reading
    if reading.report.layout == "long":  # whose rows are votes
        return
    for name, role in reading.report.roles.items():
        if role == "ignored":
            yield name, np.array(reading.source.text(name).take(pa.array(rows)).to_pylist(), object)


def _free(columns: Mapping[str, Any], name: str, kind: str) -> str:
    """Return a name that no column has yet."""
    while name in columns:
        name = f"{name} ({kind})"
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
    truth = read_reviewed(votes, name, _data, _result.reading.labels)
    known = 0 if truth.codes is None else int((truth.codes >= 0).sum())
    reviewed = replace(votes, truth=truth.codes, truth_only=truth.truth_only)
    evaluation = evaluate(_result.answer.with_truth(reviewed))
    if evaluation is None:
        raise InputError(f"No row of {name} has a reviewed label. Fill in the column {LABEL} and upload it again.")
    notes = [note.text for note in truth.notes if note.kind in ("warning", "left out")]
    return evaluation, [f"{known:,} reviewed labels were read from {name}.", *notes]


def read_reviewed(votes: Votes, name: str, data: bytes, labels: LabelMap = AS_SPELLED) -> Truth:
    """Return reviewed labels as the truth of the votes.

    A review queue is matched by the number of the row, so that ids need neither be there nor differ; any other file
    of two columns by id.
    """
    source = open_source(_stream(name, data))
    answer = queue_answer(source)
    if answer is not None:
        texts = labels_by_row(source, answer, row_numbers(source, votes), votes)
        return label_truth(answer, texts, votes, labels.rule, labels)
    if not votes.has_ids:
        raise InputError(
            f"{name} has no columns {ROW} and {LABEL}, and the votes have no ids to match it by. Download the review "
            f"queue, fill in {LABEL} and upload that."
        )
    return read_truth(_stream(name, data), votes, labels.rule, labels)


def _stream(name: str, data: bytes) -> io.BytesIO:
    stream = io.BytesIO(data)
    stream.name = name
    return stream
