"""Labels of finished runs, read once, and files made from them."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import streamlit as st

from deem_core import InputError
from deem_core.answers import DOWNLOADS, ZIPPED, Answer, Names, export, write_download
from deem_core.readers import Reading, Source
from deem_core.runs import Run, labels_path, run_answer
from deem_core.text import clip
from deem_core.votes import Votes
from studio import jobs, text
from studio.data.datasets import Opened, open_dataset
from studio.workspace import workspace

LABEL_STUDIO = "Label Studio predictions"
DATASET = ZIPPED
"""Ending of a folder in a zip file."""

_TITLES = {
    "csv": "CSV",
    "csv.gz": "CSV, gzipped",
    "tsv": "TSV",
    "parquet": "Parquet",
    "jsonl": "JSON lines",
    "label-studio": LABEL_STUDIO,
    "huggingface": "Hugging Face dataset (zip)",
}
FORMATS = {title: (DOWNLOADS[kind].ending, DOWNLOADS[kind].media_type) for kind, title in _TITLES.items()}
"""What fused labels can be exported as: name → ending and media type."""

IN_SPREADSHEETS = (".csv", ".csv.gz", ".tsv")
"""Endings of files that spreadsheets open."""

_MOST_ADDED = 3 + len(export.DIAGNOSTICS)  # columns beside the probabilities
_CELL_BYTES = 20  # of a number as text
_LONGEST_STEM = 80  # letters of a file's name
_UNSAFE = re.compile(r"[^\w .,()+=@#…-]")  # in the name of a download: slashes, marks and what is invisible


@dataclass(frozen=True)
class Labelled:
    """A dataset with the labels that a finished run gave it.

    Attributes
    ----------
    run : Run
    opened : Opened
    reading : Reading
        The file as it was read.
    answer : Answer
        In the terms of the run: an applied model brings its own learners and classes.
    method : str
        Whose labels these are, if the run is a comparison.
    """

    run: Run
    opened: Opened
    reading: Reading
    answer: Answer
    method: str = ""

    @property
    def key(self) -> str:
        """What tells these labels from all others."""
        return f"{self.run.id} {self.method}"

    @property
    def instead(self) -> str:
        """Whose labels these are if training failed; else empty."""
        return jobs.instead(self.run, self.run.state())

    @property
    def votes(self) -> Votes:
        """The votes in the terms of the run."""
        return self.answer.votes

    def head(self, rows: int) -> Labelled:
        """Return the first rows, at no cost however many there are."""
        stop = min(rows, self.votes.n_rows)
        return replace(self, reading=export.reading_rows(self.reading, 0, stop), answer=self.answer.head(stop))


def labelled(run: Run, method: str = "") -> Labelled:
    """Return the labels that a finished run gave.

    Of a comparison, those of a method.

    Raises
    ------
    InputError
        If the run has none, or its dataset is gone.
    """
    labels_path(run, method)  # looked for each time, as results may be lost while the server runs
    return _labelled(run, method, open_dataset(run.dataset_id))


@st.cache_resource(max_entries=3, show_spinner="Reading the labels…", hash_funcs={Run: lambda run: run.id})
def _labelled(run: Run, method: str, _opened: Opened) -> Labelled:
    answer = run_answer(workspace(), run, _opened.votes_of(run), method)
    return Labelled(run, _opened, _opened.reading, answer, method)


# ---------------------------------------------------------------------- files


def fused_csv(run: Run) -> Callable[[], bytes]:
    """Return a function that makes a run's fused CSV."""
    return lambda: fused_bytes(labelled(run), ".csv", {})


def fused_bytes(
    result: Labelled, ending: str, options: Mapping[str, Any], *, safe: bool = True, names: Names | None = None
) -> bytes:
    """Return the fused labels as the bytes of a file.

    The options are those of `export.fused_table`; the names are for Label Studio. A folder comes as a zip file.
    """
    kind = next(word for word, one in DOWNLOADS.items() if one.ending == ending)

    def write(path: Path) -> None:
        write_download(result.reading, result.answer, path, kind, names, spreadsheet_safe=safe, **options)

    return _bytes_of(write, ending)


def _bytes_of(write: Callable[[Path], None], ending: str) -> bytes:
    """Return the bytes of a file that is written first.

    Part by part, to disk.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table{ending}"
        write(path)
        return path.read_bytes()


def check_room(result: Labelled, options: Mapping[str, Any]) -> None:
    """Refuse a file for which the disk has no room.

    Nobody should wait for it first.

    Raises
    ------
    InputError
        If there is no folder for files in the making, or too little space in it.
    """
    votes = result.votes
    columns = _MOST_ADDED + (votes.n_classes if options.get("probabilities") else 0)
    n_bytes = votes.n_rows * columns * _CELL_BYTES
    n_bytes += result.reading.source.table.nbytes if options.get("originals", True) else 0
    try:
        folder = tempfile.gettempdir()
        free = shutil.disk_usage(folder).free
    except OSError:
        raise InputError("The file cannot be written: there is no folder for temporary files (TMPDIR).") from None
    if free < n_bytes:
        raise InputError(
            f"The file cannot be written: it needs about {text.size(n_bytes)} in {folder}, where {text.size(free)} are "
            "free. Make room, or leave columns out."
        )


def frame_bytes(frame: pd.DataFrame, like: Source | None = None) -> bytes:
    """Return a small table as CSV bytes, safe for spreadsheets.

    Written as a source is, if one is given: who opens the one in a spreadsheet can open the other.
    """
    table = pa.Table.from_pandas(frame, preserve_index=False)

    def write(path: Path) -> None:
        export.write(table, path, form=None if like is None else export.form_like(like, path, frame.columns))

    return _bytes_of(write, ".csv")


def fused_name(result: Labelled, ending: str) -> str:
    """Return a name for the fused file.

    ``votes_fused.csv``, or ``votes_fused_ds.csv`` for a method of a comparison, or ``votes_majority_vote.csv`` after a
    training that failed.
    """
    name = stem(result.instead)
    return file_name(result.opened, f"{name}{'_' if result.method else ''}{result.method}{ending}")


def stem(instead: str) -> str:
    """Return what a file of labels is called."""
    return instead.replace(" ", "_") or "fused"


def file_name(opened: Opened, ending: str = "fused.csv") -> str:
    """Return a file name for a dataset: ``votes.csv.gz`` becomes ``votes_fused.csv``."""
    stem = opened.dataset.name
    for suffix in (".gz", ".csv", ".tsv", ".txt", ".parquet", ".pq"):
        stem = stem.removesuffix(suffix)
    return _UNSAFE.sub("_", f"{clip(stem, _LONGEST_STEM).strip('. …') or 'votes'}_{ending}")
