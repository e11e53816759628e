"""What the Export page needs: the effect of a threshold, the review queue, reviewed labels, and reports."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from deem_core.describe import accuracy
from deem_core.diagnostics import confidence as sure
from deem_core.diagnostics.review import Queue, review_queue
from deem_core.errors import InputError
from deem_core.fused import evaluate
from deem_core.labels import DEFAULT, MissingRule, canonical_text
from deem_core.readers.long import read_truth_file
from deem_core.readers.report import Notebook
from deem_core.tables import id_texts
from deem_core.votes import NO_VOTE
from studio.results import Labelled, fused_table

MOST_ROWS = 500
"""Rows of the review queue on the page; the download has all."""

BINS = 40


@dataclass(frozen=True)
class Effect:
    """What a confidence threshold does.

    Attributes
    ----------
    edges, counts : (B + 1,) and (B,)
        Histogram of the confidence.
    below, voted : int
        Rows with votes below it, and all rows with votes.
    kept_accuracy, all_accuracy : float, optional
        With truth: of the labels at or above it, and of all. Evaluation only.
    """

    edges: NDArray[np.float64]
    counts: NDArray[np.int64]
    below: int
    voted: int
    kept_accuracy: float | None
    all_accuracy: float | None


def effect(found: Labelled, threshold: float) -> Effect:
    """Return what keeping only labels of at least some confidence does."""
    votes = found.votes
    voted = votes.votes_per_row > 0
    confidence = sure.confidence(found.posterior)
    counts, edges = np.histogram(confidence[voted], bins=BINS, range=(0.0, 1.0))
    low = voted & (confidence < threshold)
    kept, every = None, None
    if votes.truth is not None and (votes.truth != NO_VOTE).any():
        codes = sure.fused_codes(votes, found.posterior)
        every = accuracy(codes, votes.truth)
        left = voted & ~low & (votes.truth != NO_VOTE)
        kept = float((codes[left] == votes.truth[left]).mean()) if left.any() else None
    return Effect(edges, counts, int(low.sum()), int(voted.sum()), kept, every)


# ---------------------------------------------------------------------- review


def queue(found: Labelled) -> Queue:
    """Return the rows worth a look, found once for each run."""
    return _queue(found.run.id, found)


@st.cache_resource(max_entries=3, show_spinner="Ranking the rows…")
def _queue(run_id: str, _found: Labelled) -> Queue:
    return review_queue(_found.votes, _found.posterior, _found.support)


def queue_table(found: Labelled, most: int | None = MOST_ROWS) -> pd.DataFrame:
    """Return rows to review with label, reasons and every vote, and a column for the reviewed label."""
    votes, ranked = found.votes, queue(found)
    rows = ranked.rows[:most]
    names = np.array([*map(str, votes.classes), ""], object)
    p = found.posterior[rows]
    frame = pd.DataFrame({"row": rows + 1, "id": id_texts(votes.ids[rows]).to_pylist()})
    frame["fused_label"] = names[p.argmax(axis=1)]
    frame["reviewed_label"] = ""
    frame["confidence"] = p.max(axis=1)
    frame["restarts_agreeing"] = ranked.support[:most]
    frame["why"] = ranked.why[:most] if most is not None else ranked.why
    for at, learner in enumerate(votes.learners):
        frame[_free(frame, str(learner))] = names[votes.codes[rows, at]]
    return frame


def _free(frame: pd.DataFrame, name: str) -> str:
    """Return a name of a learner that is not yet the name of a column."""
    while name in frame:
        name = f"{name} (vote)"
    return name


def evaluate_reviewed(found: Labelled, name: str, data: bytes) -> tuple[dict[str, Any], list[str]]:
    """Return how right the labels are on rows that somebody has reviewed, and what was read; for evaluation only.

    Raises
    ------
    InputError
        If the file cannot be read or has no row in common.
    """
    votes = found.votes.without_truth()
    if isinstance(votes.ids, pd.RangeIndex):
        raise InputError("Reviewed labels are matched by id, and no column of the file names the rows.")
    stream, notebook = io.BytesIO(data), Notebook()
    stream.name = name
    keys = [canonical_text(str(label)) for label in votes.classes]
    codes, only = read_truth_file(stream, votes.ids, keys, MissingRule.of(DEFAULT), notebook)
    judged = evaluate(replace(votes, truth=codes, truth_only=only), found.posterior)
    if judged is None:
        raise InputError(
            f"No row of {name} has a reviewed label. Fill in the column reviewed_label and bring it again."
        )
    return judged, [note.text for note in notebook.notes]


def preview(found: Labelled, options: Mapping[str, Any], rows: int = 20) -> pd.DataFrame:
    """Return the first rows of the file that the options describe."""
    columns = fused_table(found, options).slice(0, rows)
    return pd.DataFrame({name: columns[name].to_pylist() for name in columns.column_names})
