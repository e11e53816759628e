"""What runs have found, read once, and the files that people take home."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import streamlit as st
from numpy.typing import NDArray

from deem_core import export
from deem_core.coding import as_label_array, code_truth
from deem_core.errors import InputError
from deem_core.inputs import recode
from deem_core.readers import Reading
from deem_core.runs import Run
from deem_core.votes import Votes
from studio import text
from studio.datasets import Opened, open_dataset

FORMATS = {
    "CSV": (".csv", "text/csv"),
    "CSV, gzipped": (".csv.gz", "application/gzip"),
    "TSV": (".tsv", "text/tab-separated-values"),
    "Parquet": (".parquet", "application/vnd.apache.parquet"),
}
"""What a fused table can be taken home as: name → ending and media type."""

_MOST_ADDED = 6  # columns beside the probabilities
_CELL_BYTES = 20  # of a number as text


@dataclass(frozen=True)
class Labelled:
    """The rows of a dataset with the labels that a finished run gave them.

    Attributes
    ----------
    run : Run
    opened : Opened
    reading : Reading
        In the terms of the run: an applied model brings its own learners and classes.
    posterior : (n, K) array
        Rows without votes hold 1/K.
    support : (n,) array, optional
        Share of the restarts that agree with the label.
    needs_review : (n,) bool
        Rows worth a look by the usual rule.
    """

    run: Run
    opened: Opened
    reading: Reading
    posterior: NDArray[np.float64]
    support: NDArray[np.float64] | None
    needs_review: NDArray[np.bool_]

    @property
    def votes(self) -> Votes:
        """The votes in the terms of the run."""
        return self.reading.votes

    def head(self, rows: int) -> Labelled:
        """Return the first rows, at no cost however many there are."""
        first, source = slice(0, min(rows, self.votes.n_rows)), self.reading.source
        reading = replace(
            self.reading,
            votes=self.votes.select_rows(first),
            source=replace(source, table=source.table.slice(0, first.stop)),
        )
        support = None if self.support is None else self.support[first]
        return replace(
            self,
            reading=reading,
            posterior=self.posterior[first],
            support=support,
            needs_review=self.needs_review[first],
        )


def labelled(run: Run) -> Labelled:
    """Return the labels that a finished run gave.

    Raises
    ------
    InputError
        If the run has none, or its dataset is gone.
    """
    path = run.result("result.parquet")
    if path is None:
        raise InputError("This run has no labels: it is not finished, or was deleted.")
    return _labelled(run, path, open_dataset(run.dataset_id))


@st.cache_resource(max_entries=3, show_spinner="Reading the labels…", hash_funcs={Run: lambda run: run.id})
def _labelled(run: Run, _path: Path, _opened: Opened) -> Labelled:
    reading = _in_terms_of(run, _opened.reading)
    votes, columns = reading.votes, pyarrow.parquet.read_schema(_path).names
    names = [f"p_{k}" for k in range(votes.n_classes)]
    support = _column(_path, "restarts_agreeing") if "restarts_agreeing" in columns else None
    if set(names) <= set(columns):
        posterior = np.empty((votes.n_rows, votes.n_classes))
        for k, name in enumerate(names):  # one after the other: the table is never there twice
            posterior[:, k] = np.nan_to_num(_column(_path, name), nan=1 / votes.n_classes)
    else:
        posterior = _ask_again(run, votes)
    usual = np.asarray(pyarrow.parquet.read_table(_path, columns=["needs_review"])["needs_review"].to_numpy(), bool)
    return Labelled(run, _opened, reading, posterior, support, usual)


def _column(path: Path, name: str) -> NDArray[np.float64]:
    return np.asarray(pyarrow.parquet.read_table(path, columns=[name])[name].to_numpy(), np.float64)


def _in_terms_of(run: Run, reading: Reading) -> Reading:
    """Return the reading with its votes in the learners and classes of the model that labelled them."""
    summary: Mapping[str, Any] = run.summary() or {}
    if "classes" not in summary:  # it was trained on these very votes
        return reading
    votes, classes = reading.votes, as_label_array(summary["classes"])
    learners = tuple(summary["learners"])
    truth, only = None, np.empty(0, object)
    if votes.truth is not None:
        labels = np.array([*votes.classes.tolist(), *votes.truth_only.tolist(), None], object)
        truth, only = code_truth(labels[votes.truth], classes)
    codes = recode(votes, learners, classes).codes
    return replace(reading, votes=Votes(codes, classes, learners, votes.ids, truth, truth_only=only))


def _ask_again(run: Run, votes: Votes) -> NDArray[np.float64]:
    """Return the posterior of a table with so many classes that it was not kept."""
    from deem_core.estimator import DEEM  # noqa: PLC0415  # imports torch
    from studio.workspace import workspace  # noqa: PLC0415

    own = run.result("model.safetensors")
    path = workspace().input(run.config["model"]) if own is None else own
    return DEEM.load(path).fuse_codes(votes.codes)


# ---------------------------------------------------------------------- files


def fused_csv(run: Run) -> Callable[[], bytes]:
    """Return what makes the fused table of a finished run, as bytes of a CSV file, when it is called."""
    return lambda: file_bytes(fused_table(labelled(run), {}), ".csv")


def fused_table(found: Labelled, options: Mapping[str, Any]) -> pa.Table:
    """Return the fused table; the options are those of `deem_core.export.fused_table`."""
    return export.fused_table(found.reading, found.posterior, **options)


def file_bytes(table: pa.Table, ending: str, *, safe: bool = True) -> bytes:
    """Return a table as the bytes of a file; it is written to disk first, piece by piece."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table{ending}"
        export.write(table, path, spreadsheet_safe=safe)
        del table
        return path.read_bytes()


def check_room(found: Labelled, options: Mapping[str, Any]) -> None:
    """Refuse, before anybody waits for it, a file for which there is no room on the disk.

    Raises
    ------
    InputError
        If there is no folder for files in the making, or too little space in it.
    """
    votes = found.votes
    columns = _MOST_ADDED + (votes.n_classes if options.get("probabilities") else 0)
    wanted = votes.n_rows * columns * _CELL_BYTES
    wanted += found.reading.source.table.nbytes if options.get("originals", True) else 0
    try:
        folder = tempfile.gettempdir()
        free = shutil.disk_usage(folder).free
    except OSError:
        raise InputError("The file cannot be written: there is no folder for temporary files (TMPDIR).") from None
    if free < wanted:
        raise InputError(
            f"The file cannot be written: it needs about {text.size(wanted)} in {folder}, where {text.size(free)} are "
            "free. Make room, or leave columns out."
        )


def frame_bytes(frame: pd.DataFrame) -> bytes:
    """Return a small table as the bytes of a CSV file that is safe to open in a spreadsheet."""
    return file_bytes(pa.Table.from_pandas(frame, preserve_index=False), ".csv")


def file_name(opened: Opened, ending: str = "fused.csv") -> str:
    """Return the name of a file made from a dataset: ``votes.csv.gz`` becomes ``votes_fused.csv``."""
    stem = opened.dataset.name
    for suffix in (".gz", ".csv", ".tsv", ".txt", ".parquet", ".pq"):
        stem = stem.removesuffix(suffix)
    return f"{stem or 'votes'}_{ending}"
