"""Reviewed labels brought back: read, matched to their rows, and used to judge the fused labels. Evaluation only."""

from __future__ import annotations

import hashlib
import io
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import streamlit as st
from numpy.typing import NDArray

from deem_core.errors import InputError
from deem_core.export import neutralise
from deem_core.fused import evaluate
from deem_core.labels import DEFAULT, MissingRule, canonical_text
from deem_core.readers.report import Notebook
from deem_core.readers.source import Source, open_source
from deem_core.readers.truth_file import read_truth_file
from deem_core.readers.wide import code_truth_texts
from deem_core.tables import id_texts
from deem_core.votes import Votes
from studio.results import Labelled

ROW, LABEL = "row", "reviewed_label"
"""Columns of a review queue that came back: the number of the row, from 1, and what the reviewer says."""

Truth = tuple[NDArray[np.int32] | None, NDArray[np.object_]]


def judge(found: Labelled, name: str, data: bytes) -> tuple[dict[str, Any], list[str]]:
    """Return how right the labels are on rows that somebody has reviewed, and what was read; found once for a file.

    Raises
    ------
    InputError
        If the file cannot be read, belongs to other rows or holds no reviewed label.
    """
    return _judge(found.run.id, hashlib.sha256(data).hexdigest(), name, found, data)


@st.cache_resource(max_entries=6, show_spinner="Comparing with the reviewed labels…")
def _judge(run_id: str, digest: str, name: str, _found: Labelled, _data: bytes) -> tuple[dict[str, Any], list[str]]:
    votes, notebook = _found.votes.without_truth(), Notebook()
    codes, only = read_reviewed(votes, name, _data, notebook)
    known = 0 if codes is None else int((codes >= 0).sum())
    judged = None if codes is None else evaluate(replace(votes, truth=codes, truth_only=only), _found.posterior)
    if judged is None:
        raise InputError(f"No row of {name} has a reviewed label. Fill in the column {LABEL} and bring it again.")
    said = [note.text for note in notebook.notes if note.kind in ("warning", "left out")]
    return judged, [f"{known:,} reviewed labels were read from {name}.", *said]


def read_reviewed(votes: Votes, name: str, data: bytes, notebook: Notebook) -> Truth:
    """Return reviewed labels as truth codes (n,) with the labels that no learner votes for.

    A review queue is matched by the number of the row, so that ids need neither be there nor differ; any other file
    of two columns by id.
    """
    keys = [canonical_text(str(label)) for label in votes.classes]
    rule = MissingRule.of(DEFAULT)
    source = open_source(_stream(name, data), Notebook())
    if {ROW, LABEL} <= set(source.columns):
        texts = pa.chunked_array([_by_row(votes, source)])
        return code_truth_texts(LABEL, texts, keys, rule, notebook)
    if isinstance(votes.ids, pd.RangeIndex):
        raise InputError(
            f"{name} has no columns {ROW} and {LABEL}, and the votes have no ids to match it by. Download the review "
            f"queue, fill in {LABEL} and bring that."
        )
    return read_truth_file(_stream(name, data), votes.ids, keys, rule, notebook)


def _stream(name: str, data: bytes) -> io.BytesIO:
    stream = io.BytesIO(data)
    stream.name = name
    return stream


def _by_row(votes: Votes, source: Source) -> pa.Array:
    """Return the reviewed label of every row of the votes, empty where there is none."""
    numbers = pd.to_numeric(pd.Series(source.text(ROW).to_pylist(), dtype=object), errors="coerce").to_numpy(float)
    wrong = ~((numbers >= 1) & (numbers <= votes.n_rows) & (numbers == np.floor(numbers)))
    if wrong.any():
        at = int(wrong.argmax())
        raise InputError(
            f"{source.name} has {source.text(ROW)[at].as_py()!r} as a number of a row (row {at + 1:,} of the file); "
            f"the votes have rows 1 to {votes.n_rows:,}. Is it the review queue of these votes?"
        )
    rows = numbers.astype(np.int64) - 1
    if "id" in source.columns and not isinstance(votes.ids, pd.RangeIndex):
        theirs, ours = source.text("id").to_pylist(), id_texts(votes.ids[rows]).to_pylist()
        if not any(_same(*pair) for pair in zip(theirs, ours, strict=True)):
            raise InputError(f"The ids in {source.name} are not those of these rows. Is it the queue of other votes?")
    labels = np.full(votes.n_rows, "", object)
    labels[rows] = [_as_typed(text or "") for text in source.text(LABEL).to_pylist()]
    return pa.array(labels, pa.string())


def _same(theirs: str | None, ours: str) -> bool:
    """Whether two ids are the same, also if a spreadsheet has taken leading zeros away."""
    theirs = _as_typed((theirs or "").strip())
    return theirs == ours.strip() or theirs == ours.strip().lstrip("0")


def _as_typed(text: str) -> str:
    """Return a text without the apostrophe that made it safe for spreadsheets."""
    return text[1:] if text[:1] == "'" and neutralise(pa.array([text[1:]]))[0].as_py() == text else text
