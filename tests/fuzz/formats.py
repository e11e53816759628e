"""Files of other programs, whole or with something in them spoiled."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.feather

from tests.fuzz.mutations import NASTY, Rng, mutate_bytes, pick
from tests.fuzz.seeds import Grid


def workbook(table: Grid, rng: Rng) -> bytes:
    """Return a table as a workbook of two sheets."""
    book, buffer = openpyxl.Workbook(), io.BytesIO()
    book.create_sheet("other").append(["a", "b"])
    for row in table:
        book.worksheets[0].append([_cell(cell) for cell in row])
    book.save(buffer)
    return _repacked(buffer.getvalue(), rng) if rng.random() < 0.5 else buffer.getvalue()


def label_studio(table: Grid, rng: Rng) -> bytes:
    """Return a table as annotated tasks."""
    header, *rows = table
    tasks = []
    for row in rows:
        annotations = [
            {"completed_by": name, "was_cancelled": False, "ground_truth": name == "label", "result": _choice(cell)}
            for name, cell in zip(header[1:], row[1:], strict=False)
        ]
        tasks.append({"id": row[0] if row else None, "data": {"text": "t"}, "annotations": annotations})
    return json.dumps(spoiled(tasks, rng)).encode(errors="replace")


def argilla(table: Grid, rng: Rng) -> bytes:
    """Return a table as records of Argilla."""
    header, *rows = table
    records = [
        {
            "id": row[0] if row else None,
            "fields": {"text": "t"},
            "responses": {
                "mood": [{"value": cell, "user_id": name} for name, cell in zip(header[1:], row[1:], strict=False)]
            },
            "suggestions": {},
        }
        for row in rows
    ]
    return json.dumps(spoiled(records, rng)).encode(errors="replace")


def wrench(table: Grid, rng: Rng) -> bytes:
    """Return the size of a table as rows of weak labels."""
    rows: Any = {
        str(at): {"label": 0, "weak_labels": rng.integers(-1, 3, len(table[0])).tolist(), "data": {"text": "t"}}
        for at in range(len(table) - 1)
    }
    return json.dumps(spoiled(rows, rng)).encode(errors="replace")


def matrix(table: Grid, rng: Rng) -> bytes:
    """Return a matrix of the size of a table, dense or sparse."""
    votes = rng.integers(-1, 3, (len(table), len(table[0])))
    buffer = io.BytesIO()
    kind = int(rng.integers(3))
    if kind == 0:
        np.save(buffer, votes.astype(pick(rng, ("i1", "i8", "f4", "u2", "c8", "U3"))))
    elif kind == 1:
        np.savez(
            buffer, L=votes, Y=rng.integers(0, 3, int(rng.integers(1, len(votes) + 2))), names=["a"] * votes.shape[1]
        )
    else:
        rows, columns = np.nonzero(votes)
        places = {"row": rows, "col": columns}
        if rng.random() < 0.3:
            places["row"] = rows + int(rng.integers(-3, 9))
        shape = [len(votes), votes.shape[1]] if rng.random() < 0.7 else rng.integers(-2, 2**40, 2)
        np.savez(buffer, data=votes[rows, columns], shape=shape, format="coo", **places)
    return _repacked(buffer.getvalue(), rng) if kind and rng.random() < 0.3 else buffer.getvalue()


def arrow(table: Grid, rng: Rng) -> bytes:
    """Return a table as an Arrow file or stream."""
    header, *rows = table
    columns = [pa.array([row[j] if j < len(row) else None for row in rows], pa.string()) for j in range(len(header))]
    if rng.random() < 0.5:
        columns = [column.dictionary_encode() for column in columns]
    made = pa.Table.from_arrays(columns, names=header)
    if rng.random() < 0.3:
        made = made.replace_schema_metadata({"huggingface": pick(rng, ("{}", "[", '{"info": {"features": []}}'))})
    sink = io.BytesIO()
    if rng.random() < 0.5:
        pyarrow.feather.write_feather(made, sink, compression=pick(rng, ("lz4", "zstd", "uncompressed")))
    else:
        with pa.ipc.new_stream(sink, made.schema) as writer:
            writer.write_table(made)
    return sink.getvalue()


FORMATS: dict[str, Callable[[Grid, Rng], bytes]] = {
    "xlsx": workbook,
    "label_studio.json": label_studio,
    "argilla.json": argilla,
    "wrench.json": wrench,
    "npz": matrix,
    "arrow": arrow,
}
"""Ending of a name → what makes the file."""


def spoiled(value: Any, rng: Rng, chance: float = 0.001) -> Any:
    """Return JSON values, some of them replaced by others."""
    if rng.random() < chance:
        return pick(rng, (None, True, 7, -1.5, [], {}, [[]], {"a": {}}, pick(rng, NASTY)[:50]))
    if isinstance(value, dict):
        return {key: spoiled(each, rng, chance) for key, each in value.items() if rng.random() > chance}
    return [spoiled(each, rng, chance) for each in value] if isinstance(value, list) else value


def _choice(cell: str) -> list[Any]:
    return [{"from_name": "mood", "type": "choices", "value": {"choices": [cell]}}] if cell else []


def _cell(cell: str) -> Any:
    """Return a cell that a workbook may hold."""
    text = "".join(
        sign for sign in cell[:1000] if sign >= " " and not "\ud800" <= sign <= "\udfff" and sign != "\uffff"
    )
    try:
        return float(text) if text.isascii() else text
    except ValueError:
        return text


def _repacked(data: bytes, rng: Rng) -> bytes:
    """Return an archive with one of its entries spoiled, packed anew."""
    sink = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as new:
        names = old.namelist()
        chosen = names[int(rng.integers(len(names)))]
        for name in names:
            content = old.read(name)
            new.writestr(name, mutate_bytes(rng, content) if name == chosen else content)
    return sink.getvalue()
