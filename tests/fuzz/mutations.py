"""Small damage to tables, bytes, JSON values and model files."""

from __future__ import annotations

import gzip
import json
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from tests.fuzz.seeds import Grid, parquet, write

Rng = np.random.Generator

NASTY = (
    *("", " ", "nan", "NaN", "null", "None", "-1", "0", "1e999", "-1e-999", "9" * 400, "inf", "-inf", "0x10", "1_0"),
    *("\x00", "\ufeff", "\u202e", "\u2028", "\x1b[31m", "\r", "\n", '"', "'", ",", ";", "\t", "|", "=1+1", "@x", "+1"),
    *("é", "日本", "\U0001f600", "$x$", ":red[x]", "<img src=x>", "a:b", "a.b", ":", "x" * 70_000, "True", "1.0", "٣"),
    *(
        "id",
        "task",
        "label",
        "truth",
        "worker",
        "gold_label",
        "row",
        "\ud800",
        "½",
        "²",
        "0.5",
        "-0.1",
        "1.5",
        "1e-400",
    ),
)
CODECS = ("utf-16", "utf-16-le", "utf-32", "cp1252", "shift-jis", "utf-8-sig", "utf-7", "mac-roman")


def pick(rng: Rng, items: Any) -> Any:
    """Return one of some items, whatever they are."""
    return items[int(rng.integers(len(items)))]


# ---------------------------------------------------------------------- tables


def mutate_grid(rng: Rng, table: Grid) -> None:
    """Spoil one thing of a table."""
    at = int(rng.integers(len(table)))
    row = table[at]
    column = int(rng.integers(max(len(row), 1)))
    kind = int(rng.integers(14))
    if not row:
        row.append("")
        return
    if kind == 0:
        other = pick(rng, table)
        if other:
            there = int(rng.integers(len(other)))
            row[column], other[there] = other[there], row[column]
    elif kind == 1:
        table[0][int(rng.integers(len(table[0])))] = pick(rng, table[0])  # a header cell twice
    elif kind == 2:
        row.pop(column)
    elif kind == 3:
        row.insert(column, pick(rng, NASTY))
    elif kind == 4:
        table[0][int(rng.integers(len(table[0])))] = pick(rng, NASTY)
    elif kind == 5:
        table.insert(at + 1, list(row))
    elif kind == 6 and len(table) > 2:
        del table[max(1, int(rng.integers(len(table)))) :]
    elif kind == 7:
        value = pick(rng, NASTY)
        for each in table[1:]:
            if column < len(each):
                each[column] = value
    elif kind == 8:
        for each in table:
            if column < len(each):
                each.append(each[column])
    elif kind == 9:
        for each in table[1:]:
            if column < len(each):
                each[column] = str(rng.integers(-3, 10**6))
    elif kind == 10:
        table[0], table[at] = table[at], table[0]
    elif kind == 11:
        for each in table:
            if column < len(each):
                each.pop(column)
    elif kind == 12:
        row[column] = row[column] + pick(rng, NASTY)
    else:
        row[column] = pick(rng, NASTY)


# ---------------------------------------------------------------------- bytes


def mutate_bytes(rng: Rng, data: bytes) -> bytes:
    """Spoil one thing of a file, whatever it holds."""
    if not data:
        return b"\x00"
    at = int(rng.integers(len(data)))
    kind = int(rng.integers(8))
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + bytes([data[at] ^ (1 << int(rng.integers(8)))]) + data[at + 1 :]
    if kind == 2:
        return data[:at] + rng.bytes(int(rng.integers(1, 8))) + data[at:]
    if kind == 3:
        return data[:at] + pick(rng, NASTY).encode("utf-8", "surrogatepass") + data[at:]
    if kind == 4:
        return data[:at] + data[at + int(rng.integers(1, 9)) :]
    if kind == 5:
        there = int(rng.integers(len(data)))
        return data[:at] + data[there : there + 200] + data[at:]
    if kind == 6:
        return data[:at] + bytes([int(rng.integers(256))]) + data[at + 1 :]
    return data[:at] + struct.pack("<Q", int(rng.integers(1 << 62))) + data[at + 8 :]


def recode(rng: Rng, data: bytes) -> bytes:
    """Return text in another encoding, or with other line ends, or packed."""
    kind = int(rng.integers(5))
    if kind == 0:
        return data.decode("utf-8", "replace").encode(pick(rng, CODECS), "replace")
    if kind == 1:
        return data.replace(b"\n", pick(rng, (b"\r\n", b"\r", b"\n\n", b"\n \n")))
    if kind == 2:
        return gzip.compress(data, mtime=0)
    if kind == 3:
        return gzip.compress(data[: len(data) // 2], mtime=0) + gzip.compress(data[len(data) // 2 :], mtime=0)
    return pick(rng, (b"sep=;\n", b"\n\n", b"# a note\n", b"\xef\xbb\xbf", b"\xff\xfe")) + data


# ---------------------------------------------------------------------- Parquet

_KINDS: tuple[Callable[[int], pa.Array], ...] = (
    lambda n: pa.array(range(n), pa.int64()),
    lambda n: pa.array([float(i) / 3 for i in range(n)]),
    lambda n: pa.array([float("nan")] * n),
    lambda n: pa.array([i % 2 == 0 for i in range(n)]),
    pa.nulls,
    lambda n: pa.nulls(n, pa.string()),
    lambda n: pa.array([[str(i)] for i in range(n)]),
    lambda n: pa.array([{"a": i} for i in range(n)]),
    lambda n: pa.array([b"\xff\xfe\x00"] * n, pa.binary()),
    lambda n: pa.array(["cat"] * n).dictionary_encode(),
    lambda n: pa.array([10**9 * i for i in range(n)], pa.timestamp("ns")),
    lambda n: pa.array(range(n), pa.date32()),
    lambda n: pa.array(range(n), pa.duration("s")),
    lambda n: pa.array([str(i % 3) for i in range(n)], pa.large_string()),
    lambda n: pa.array(range(n), pa.decimal128(10, 2)),
    lambda n: pa.array(["a\x00b"] * n),
    lambda n: pa.array([b"1234"] * n, pa.binary(4)),
    lambda n: pa.array(range(n), pa.time32("s")),
    lambda n: pa.array([i % 256 for i in range(n)], pa.uint8()),
    lambda n: pa.array(np.arange(n, dtype=np.float16)),
    lambda n: pa.array([None if i % 2 else "x" for i in range(n)]),
)


def parquet_file(rng: Rng, table: Grid, times: int) -> bytes:
    """Return a Parquet file with columns of other types or broken names."""
    header, rows = [name.encode(errors="replace").decode() for name in table[0]], table[1:]
    rows = [[cell.encode(errors="replace").decode() for cell in row] for row in rows]
    columns = [pa.array([row[j] if j < len(row) else None for row in rows], pa.string()) for j in range(len(header))]
    for _ in range(times):
        if columns and rng.random() < 0.6:
            columns[int(rng.integers(len(columns)))] = pick(rng, _KINDS)(len(rows))
    data = parquet(pa.Table.from_arrays(columns, names=header))
    name = pick(rng, header).encode()
    if name and rng.random() < 0.3:  # a byte of a name, wherever the file spells it
        at = int(rng.integers(len(name)))
        data = data.replace(name, name[:at] + bytes([int(rng.integers(256))]) + name[at + 1 :])
    return data


# ---------------------------------------------------------------------- JSON and models

_VALUES = (
    *(None, True, False, 0, -1, 3, 10**30, 1.5, float("nan"), float("inf"), "", "x", "\x00", "x" * 5000, [], {}, [[]]),
    *(
        [None],
        [0, 0],
        ["a", "a"],
        {"a": 1},
        {"id": "r1"},
        [1, 2, 3],
        ["x"] * 300,
        "0",
        [[0, 1], [2]],
        -(10**9),
        1 << 40,
    ),
)


def mutate_json(rng: Rng, value: Any) -> Any:
    """Return a JSON value with one thing changed somewhere inside."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = pick(rng, list(value))
        kind = int(rng.integers(8))
        changed = dict(value)
        if kind == 0:
            del changed[key]
        elif kind == 1:
            changed[pick(rng, ("x", "", "label", "id", "\x00", "0"))] = changed.pop(key)
        elif kind == 2:
            changed[pick(rng, ("new", "a b", "é"))] = pick(rng, _VALUES)
        else:
            changed[key] = mutate_json(rng, value[key])
        return changed
    if isinstance(value, list) and value and rng.random() < 0.9:
        at, changed = int(rng.integers(len(value))), list(value)
        kind = int(rng.integers(6))
        if kind == 0:
            del changed[at]
        elif kind == 1:
            changed.insert(at, changed[at])
        elif kind == 2:
            changed[at], changed[0] = changed[0], changed[at]
        else:
            changed[at] = mutate_json(rng, value[at])
        return changed
    return pick(rng, _VALUES)


def mutate_model(rng: Rng, data: bytes) -> bytes | None:
    """Return a model file with a changed header, tensor or number; None if it is past that."""
    try:
        size = struct.unpack("<Q", data[:8])[0]
        header, body = json.loads(data[8 : 8 + size]), data[8 + size :]
        told = json.loads(header["__metadata__"]["json"])
    except (ValueError, KeyError, TypeError):
        return None
    kind = int(rng.integers(5))
    tensors = [key for key in header if key != "__metadata__"]
    if kind <= 1:
        header["__metadata__"]["json"] = json.dumps(mutate_json(rng, told))
    elif kind == 2 and tensors:
        _mutate_tensor(rng, header, pick(rng, tensors))
    elif kind == 3 and len(body) >= 8:
        at = int(rng.integers(len(body) // 8)) * 8
        number = pick(rng, (float("nan"), float("inf"), 1e308, -1e308, 0.0))
        body = body[:at] + struct.pack("<d", number) + body[at + 8 :]
    else:
        key = pick(rng, list(header["__metadata__"]))
        header["__metadata__"][key] = str(mutate_json(rng, header["__metadata__"][key]))
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + body


def _mutate_tensor(rng: Rng, header: dict[str, Any], name: str) -> None:
    tensor = header[name]
    choice = int(rng.integers(4))
    if choice == 0:
        tensor["shape"] = [*tensor["shape"][1:], *tensor["shape"][:1]]
    elif choice == 1:
        tensor["dtype"] = pick(rng, ("F64", "F32", "I64", "I32", "BF16", "F16", "U8", "BOOL"))
    elif choice == 2:
        header[pick(rng, [*header, "other"])] = header.pop(name)
    else:
        del header[name]


def mutate_text(rng: Rng, text: str) -> str:
    """Return an address with one thing changed."""
    at = int(rng.integers(len(text) + 1))
    piece = pick(
        rng, (*NASTY, "&", "=", "|", "%", "%zz", "%00", "..", ".", "vote.", "confidence=", "nan..nan", "%F0%9F")
    )
    if rng.random() < 0.4:
        return text[:at] + text[at + int(rng.integers(1, 4)) :]
    return text[:at] + piece + text[at:]


def json_file(rng: Rng, table: Grid, *, lines: bool) -> bytes:
    """Return records in which one value became another."""
    records: Any = [dict(zip(table[0], row, strict=False)) for row in table[1:]]
    if rng.random() < 0.4:
        records = [{"id": each.pop(table[0][0], ""), "votes": each} for each in records]
    records = mutate_json(rng, records)
    if not lines or not isinstance(records, list):
        return json.dumps(records).encode(errors="replace")
    return "\n".join(json.dumps(each) for each in records).encode(errors="replace")


__all__ = ["json_file", "mutate_bytes", "mutate_grid", "mutate_model", "mutate_text", "parquet_file", "recode", "write"]
