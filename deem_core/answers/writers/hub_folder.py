"""Hugging Face dataset folder: Parquet files with a card.

``load_dataset(FOLDER)`` reads it, and it can be uploaded as it is. Labels are class codes with names (ClassLabel), or
lists of them where a row may have several.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from deem_core.answers.answer import PART_ROWS, Answer
from deem_core.answers.export import fused_table, label_name, reading_rows
from deem_core.answers.writers.card import Card, card
from deem_core.errors import InputError
from deem_core.files.tables import class_texts
from deem_core.readers import Reading
from deem_core.typing import Integers
from deem_core.votes import NO_VOTE, Votes
from deem_core.votes.label_sets import LabelSets

SHARD_ROWS = 2 * PART_ROWS
"""Rows of one Parquet file."""

_MAJORITY = "majority_vote"
_SETS = pa.list_(pa.int64())  # labels of a row that may have several


def check_folder(path: str | os.PathLike[str]) -> None:
    """Refuse a folder that cannot be made, or that holds anything.

    Raises
    ------
    InputError
    """
    folder = Path(path)
    if not os.path.isdir(folder.absolute().parent):
        raise InputError(f"The folder {str(folder.parent)!r} does not exist; create it first.")
    if os.path.isdir(folder):
        if os.listdir(folder):
            raise InputError(f"The folder {str(folder)!r} is not empty; name a new one.")
    elif os.path.lexists(folder):
        raise InputError(f"{str(folder)!r} is a file; a dataset needs a folder.")


def write(reading: Reading, answer: Answer, path: str | os.PathLike[str], **options: Any) -> None:
    """Write a folder with ``README.md`` and ``data/train-*.parquet``.

    It appears complete or not at all.

    Parameters
    ----------
    reading, answer
        As in `deem_core.answers.export.write_fused`.
    path : path
        A folder that is not there yet, or an empty one.
    **options
        Of `deem_core.answers.export.fused_table`.

    Raises
    ------
    InputError
        If the folder is taken or cannot be written, or as `fused_table` does.
    """
    check_folder(path)
    if options.get("review_share") is not None and options.get("review_below") is None:  # among all rows, once
        answer = answer.reviewing(options.pop("review_share"))
    folder = Path(os.path.realpath(path))
    draft = folder.with_name(f".{secrets.token_hex(8)}.part")
    try:
        try:
            _fill(draft, reading, answer, options)
            if folder.is_dir():
                folder.rmdir()  # empty, as checked
            draft.replace(folder)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    except OSError as error:
        raise InputError(f"{str(path)!r} could not be written: {error.strerror or error}.") from error


def _fill(folder: Path, reading: Reading, answer: Answer, options: dict[str, Any]) -> None:
    (folder / "data").mkdir(parents=True)
    shards = max(-(-answer.votes.n_rows // SHARD_ROWS), 1)
    column = label_name(
        reading, options.get("label_column", "fused_label"), originals=bool(options.get("originals", True))
    )
    features: dict[str, Any] = {}
    n_bytes = size = 0
    for at in range(shards):
        rows = range(at * SHARD_ROWS, min((at + 1) * SHARD_ROWS, answer.votes.n_rows))
        file = folder / "data" / f"train-{at:05d}-of-{shards:05d}.parquet"
        writer = None
        try:
            for part in _parts(reading, answer, rows, column, options):
                features = features or features_of(part.schema, _label_names(answer.votes))
                info = json.dumps({"info": {"features": features}})
                table = part.replace_schema_metadata({"huggingface": info})
                writer = writer or pyarrow.parquet.ParquetWriter(file, table.schema)
                writer.write_table(table)
                n_bytes += table.nbytes
        finally:
            if writer is not None:
                writer.close()
        size += file.stat().st_size
    made = Card(
        features=features, n_bytes=n_bytes, download_bytes=size, label_column=column, n_rows=answer.votes.n_rows
    )
    (folder / "README.md").write_text(card(reading, answer, made), encoding="utf-8", newline="\n")


def _parts(reading: Reading, answer: Answer, rows: range, column: str, options: dict[str, Any]) -> Iterator[pa.Table]:
    """Yield the fused table of some rows with labels as class codes."""
    for start in range(rows.start, max(rows.stop, rows.start + 1), PART_ROWS):  # once, even if there are none
        end = min(start + PART_ROWS, rows.stop)
        part = answer.rows(start, end)
        table = fused_table(reading_rows(reading, start, end), part, **options)
        columns = [_plain(cells) for cells in table.columns]
        names = table.column_names
        labels = part.codes
        if options.get("blank"):  # as the column of text tells
            labels = labels.copy()
            labels[table[column].is_null().to_numpy(zero_copy_only=False)] = NO_VOTE
        columns[names.index(column)] = _coded(labels, part.votes)
        if options.get("diagnostics", True):
            columns[_majority_column(names)] = _coded(part.majority, part.votes)
        yield pa.table(columns, names=names)


def _majority_column(names: list[str]) -> int:
    """Return where the majority vote stands.

    Its name is numbered where the file had such a column, which stands before.
    """
    found = [at for at, name in enumerate(names) if name == _MAJORITY or name.startswith(f"{_MAJORITY}_")]
    return found[-1]


def _coded(codes: Integers, votes: Votes) -> pa.Array:
    """Return labels as class codes, sets of labels as lists of them."""
    if not votes.separator:
        return pa.array(codes, pa.int64(), mask=codes == NO_VOTE)
    members = LabelSets.of(votes.classes.tolist(), votes.separator).members
    sets = pa.array([np.flatnonzero(row).tolist() for row in members], _SETS)
    return sets.take(pa.array(codes, pa.int64(), mask=codes == NO_VOTE))


def _label_names(votes: Votes) -> list[str]:
    """Return the names of the codes."""
    return list(LabelSets.of(votes.classes.tolist(), votes.separator).labels) if votes.separator else class_texts(votes)


def _plain(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column without dictionaries, texts as short strings."""
    kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
    return cells.cast(pa.string() if pa.types.is_large_string(kind) else kind)


def features_of(schema: pa.Schema, classes: list[str]) -> dict[str, Any]:
    """Return the features as the library ``datasets`` describes them.

    The only whole numbers are class codes, the only lists those of several labels: cells of the file are text, and
    figures have decimals.
    """
    labels = {"names": classes, "_type": "ClassLabel"}
    several = {"feature": labels, "_type": "Sequence"}
    kinds: dict[pa.DataType, dict[str, Any]] = {pa.int64(): labels, _SETS: several}
    return {field.name: kinds.get(field.type, {"dtype": _dtype(field.type), "_type": "Value"}) for field in schema}


def _dtype(kind: pa.DataType) -> str:
    return {"double": "float64", "float": "float32"}.get(str(kind), str(kind))
