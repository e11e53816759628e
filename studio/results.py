"""What runs have found, read once, and the fused file that people take home."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import streamlit as st
from numpy.typing import NDArray

from deem_core import export
from deem_core.errors import InputError
from deem_core.runs import Run
from studio.datasets import Opened, open_dataset


def fused_csv(run: Run) -> Callable[[], bytes]:
    """Return what makes the fused table of a finished run, as bytes of a CSV file, when it is called."""

    def make() -> bytes:
        opened = open_dataset(run.dataset_id)
        table = export.fused_table(opened.reading, posterior(run, opened))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "fused.csv"
            export.write(table, path)
            return path.read_bytes()

    return make


def file_name(opened: Opened, ending: str = "fused.csv") -> str:
    """Return the name of a file made from a dataset: ``votes.csv.gz`` becomes ``votes_fused.csv``."""
    stem = opened.dataset.name
    for suffix in (".gz", ".csv", ".tsv", ".txt", ".parquet", ".pq"):
        stem = stem.removesuffix(suffix)
    return f"{stem or 'votes'}_{ending}"


def posterior(run: Run, opened: Opened) -> NDArray[np.floating[Any]]:
    """Return the probability of every class in every row, (n, K), of a finished run.

    Raises
    ------
    InputError
        If the run has no result.
    """
    path = run.result("result.parquet")
    if path is None:
        raise InputError("This run has no labels: it is not finished, or was deleted.")
    return _posterior(run.id, path, opened)


@st.cache_resource(max_entries=4, show_spinner=False)
def _posterior(run_id: str, _path: Path, _opened: Opened) -> NDArray[np.floating[Any]]:
    K = _opened.reading.votes.n_classes
    columns = pyarrow.parquet.read_schema(_path).names
    names = [f"p_{k}" for k in range(K)]
    if set(names) <= set(columns):
        table = pyarrow.parquet.read_table(_path, columns=names)
        made = np.empty((table.num_rows, K), np.float32)
        for k, name in enumerate(names):
            made[:, k] = np.nan_to_num(table[name].to_numpy(), nan=1 / K)
        return made
    from deem_core.estimator import DEEM  # noqa: PLC0415  # many classes: the model is asked again

    return DEEM.load(_path.with_name("model.safetensors")).fuse_codes(_opened.reading.votes.codes)
