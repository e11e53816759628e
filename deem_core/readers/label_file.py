"""Label files: names of labels as CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from deem_core.errors import InputError
from deem_core.files.atomic import whole_file
from deem_core.files.spreadsheet import as_typed, neutralise
from deem_core.readers.label_table import LabelRow
from deem_core.readers.notes import Notebook
from deem_core.readers.source import open_source
from deem_core.votes.label_map import as_pairs

MOST_LETTERS = 1 << 23
"""Letters of a label file as JSON, whose objects take many times as much."""

LABEL, NAME = "label", "name"
"""Columns of a label file: how the file spells it, and the class it stands for (empty: no vote)."""


def read_labels(file: str | os.PathLike[str]) -> tuple[tuple[str, str], ...]:
    """Return the names of labels in a file or JSON text.

    Parameters
    ----------
    file : path, or JSON text
        A table with the columns ``label`` and ``name``; or JSON, either an object of label → name or a list of objects
        with ``label`` and ``name``. An empty name is no vote, and the order is that of the classes.

    Raises
    ------
    InputError
        If it cannot be read, or holds no such columns.
    """
    name = os.fspath(file)
    if name.lstrip().startswith(("{", "[")):
        return _of_json(name, "The text of --labels")
    if name.lower().endswith(".json"):
        try:
            with open(name, encoding="utf-8-sig") as stream:
                return _of_json(stream.read(MOST_LETTERS + 1), name)
        except (OSError, UnicodeError) as error:
            raise InputError(
                f"The labels in {name!r} could not be read: {getattr(error, 'strerror', None) or error}."
            ) from None
    source = open_source(file, Notebook())
    columns = {column.strip().casefold(): column for column in source.columns}
    if LABEL not in columns or NAME not in columns:
        raise InputError(
            f"{source.name} needs the columns {LABEL} and {NAME}; it has {', '.join(source.columns)}. "
            "describe --labels-out writes such a file."
        )
    labels, names = (map(as_typed, source.text(columns[column]).to_pylist()) for column in (LABEL, NAME))
    return as_pairs(zip(labels, names, strict=True))


def _of_json(text: str, where: str) -> tuple[tuple[str, str], ...]:
    if len(text) > MOST_LETTERS:
        raise InputError(f"{where} is longer than {MOST_LETTERS:,} letters, as no label file is. Check its name.")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where} is not JSON: {error}.") from None
    if isinstance(content, list) and all(isinstance(item, dict) for item in content):
        if not all(LABEL in item for item in content):
            raise InputError(f"{where} needs a {LABEL!r} in each entry, and a {NAME!r}.")
        return as_pairs((item[LABEL], item.get(NAME)) for item in content)
    return as_pairs(content)


def to_json(names: Iterable[tuple[str, str]]) -> str:
    """Return names of labels as one line of JSON, which `read_labels` takes."""
    return json.dumps(dict(names), ensure_ascii=False)


def write_labels(rows: Iterable[LabelRow], path: str | os.PathLike[str]) -> None:
    """Write the labels of a file as CSV or JSON by suffix.

    No spreadsheet runs the cells of the CSV as formulas, and `read_labels` takes them for what they were.
    """
    entries: list[dict[str, Any]] = [
        {LABEL: row.label, NAME: row.name, "votes": row.votes, "learners": row.learners} for row in rows
    ]
    if os.fspath(path).lower().endswith(".json"):
        text = json.dumps(entries, ensure_ascii=False, indent=2) + "\n"
    else:
        sink = io.StringIO()
        writer = csv.DictWriter(sink, [LABEL, NAME, "votes", "learners"], lineterminator="\n")
        writer.writeheader()
        for entry in entries:
            safe = neutralise(pa.array([entry[LABEL], entry[NAME]], pa.string())).to_pylist()
            writer.writerow({**entry, LABEL: safe[0], NAME: safe[1]})
        text = sink.getvalue()
    with whole_file(path) as stream:
        stream.write(text.encode())
