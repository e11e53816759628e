"""Label matrices: NumPy and SciPy files of votes.

Nothing here can run code: arrays of objects are refused by their header, before anything is unpacked.
"""

from __future__ import annotations

import io
import math
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from deem_core.errors import InputError
from deem_core.readers import roles
from deem_core.readers.bounds import Packed
from deem_core.readers.formats.content import Choice, Content, UndecidedError, choose
from deem_core.readers.formats.zipped import Archive
from deem_core.readers.notes import Note
from deem_core.readers.parse import MAX_COLUMNS
from deem_core.text import count, quoted

NPY = b"\x93NUMPY"
ABSTAINS = -1

_SPARSE = frozenset({"data", "shape", "format"})
_COMPRESSED = ("csr", "csc")
_TRUTHS = frozenset({"y", "y_train", "y_valid", "y_test", "labels", "gold"}) | frozenset(roles.TRUTH_NAMES)
_NAMES = frozenset({"names", "lf_names", "learners", "rules", "annotators", "workers"})
_KINDS = "iufb"
_HEADER = 10_000  # letters of an array's header


@dataclass(frozen=True)
class Header:
    """What an array's first bytes say.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype
    start : int
        Where the numbers begin.
    fortran : bool
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    start: int
    fortran: bool


def read_npy(name: str, data: bytes, size: int) -> Content:
    """Return a dense matrix as columns of text."""
    array = _array(name, data, _header(name, data))
    return _content(_dense(Packed(name, size), array, "the array"), "npy", f"NumPy array, {_told(array)}")


def is_npz(archive: Archive) -> bool:
    """Tell an archive of arrays by its entries."""
    return bool(archive.entries) and all(name.endswith(".npy") for name in archive.entries)


def read_npz(archive: Archive, wish: str | None) -> Content:
    """Return a matrix of an archive as columns of text.

    Beside it may be an array of true labels, one for each row, and one of the columns' names.
    """
    name, packed = archive.name, Packed(archive.name, len(archive.data))
    unpacked = {entry.removesuffix(".npy"): archive.read(entry) for entry in archive.entries}
    headers = {key: _header(name, data) for key, data in unpacked.items()}
    if headers.keys() >= _SPARSE:
        if wish is not None:
            raise InputError(f"{name} holds one sparse matrix. Leave the sheet out.")
        arrays = {key: _array(name, unpacked[key], header) for key, header in headers.items()}
        matrix, note = _sparse(packed, arrays)
        return _content(matrix, "npz", f"SciPy sparse matrix, {_told(matrix)}", notes=[note])
    tables = tuple(key for key, header in headers.items() if len(header.shape) == 2 and header.dtype.kind in _KINDS)
    if not tables:
        raise InputError(f"{name} holds no matrix of numbers: its arrays are {quoted(headers)}.")
    choice = Choice("sheet", "Array", tables)
    if wish is None and len(tables) > 1:
        raise UndecidedError(
            f"{name} holds several matrices: {quoted(tables)}. Say which one to read with --sheet, or under “Columns "
            "and reading”.",
            choice,
        )
    chosen = tables[0] if wish is None else choose(name, choice, wish)
    matrix = _dense(packed, _array(name, unpacked[chosen], headers[chosen]), f"the array {chosen!r}")
    truths = [key for key, header in headers.items() if _may_be_truth(key, header, len(matrix), tables)]
    truth = _array(name, unpacked[truths[0]], headers[truths[0]]) if len(truths) == 1 else None
    notes = []
    if len(truths) > 1:
        notes.append(Note("left out", f"{quoted(truths)} could all be the truth, so none was taken.", len(truths)))
    names = next((key for key, header in headers.items() if _may_be_names(key, header, matrix.shape[1])), None)
    learners = None if names is None else [str(each) for each in _array(name, unpacked[names], headers[names])]
    short = [key for key in headers if key not in (*tables, *truths) and roles.simple(key) in _TRUTHS]
    for key in short:
        shape = headers[key].shape
        has = f"has {count(shape[0], 'value')}" if len(shape) == 1 else f"is {_sides(shape)}"
        text = f"The array {key!r} is named like the truth, but {has} for {count(len(matrix), 'row')}: it was left out."
        notes.append(Note("warning", text))
    rest = [key for key in headers if key not in (chosen, names, *truths, *short)]
    if rest:
        notes.append(Note("left out", f"Other arrays were left out: {quoted(rest)}.", len(rest)))
    title = f"NumPy archive, array {chosen!r}, {_told(matrix)}"
    made = _content(matrix, "npz", title, truth=truth, learners=learners, notes=notes)
    picked = Choice("sheet", "Array", tables, chosen)
    return Content(made.columns, made.format, made.title, made.encoding, made.roles, picked, made.notes)


# ---------------------------------------------------------------------- arrays


def _header(name: str, data: bytes) -> Header:
    """Return what an array's first bytes say, checked."""
    stream = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(stream, max_header_size=_HEADER)
    except (
        ValueError,
        SyntaxError,
        TypeError,
        OverflowError,
        MemoryError,
        RecursionError,
        EOFError,
        UnicodeError,
        tokenize.TokenError,
    ):
        raise _damaged(name) from None
    if dtype.hasobject:
        raise InputError(
            f"{name} holds Python objects, which may run code and are never loaded. Save numbers: "
            "np.save(file, matrix.astype(int))."
        )
    if not all(isinstance(side, int) and side >= 0 for side in shape):
        raise _damaged(name)
    start = stream.tell()
    if dtype.itemsize * math.prod(shape) != len(data) - start:
        raise _damaged(name)
    return Header(tuple(shape), dtype, start, bool(fortran))


def _array(name: str, data: bytes, header: Header) -> NDArray[Any]:
    """Return the numbers of an array whose header was checked."""
    if not header.dtype.itemsize:
        raise _damaged(name)
    flat = np.frombuffer(data, header.dtype, offset=header.start)
    return flat.reshape(header.shape, order="F" if header.fortran else "C")


def _dense(packed: Packed, array: NDArray[Any], what: str) -> NDArray[np.int64]:
    """Return a matrix of whole numbers, (n, d)."""
    if array.ndim != 2:
        hint = " Probabilities (rows, learners, classes) go to Votes.from_soft in Python." if array.ndim == 3 else ""
        raise InputError(
            f"{packed.name} must hold a matrix of rows and learners; {what} has the shape {array.shape}.{hint}"
        )
    _check_shape(packed, array.shape)
    if array.dtype.kind not in _KINDS:
        raise InputError(f"{packed.name} must hold whole numbers; {what} holds {array.dtype.name[:40]}.")
    if array.dtype.kind == "f":
        known = np.where(np.isnan(array), ABSTAINS, array)
        if not (np.isfinite(known).all() and (known == np.floor(known)).all() and (np.abs(known) < 2**53).all()):
            raise InputError(f"{packed.name} holds numbers that are not whole, so they are no labels.")
        array = known
    if array.dtype.kind == "u" and array.size and int(array.max()) >= 2**63:
        raise InputError(f"{packed.name} holds numbers that are too large for labels.")
    whole: NDArray[np.int64] = array.astype(np.int64)
    return whole


def _check_shape(packed: Packed, shape: Sequence[int]) -> None:
    rows, columns = shape
    if columns > MAX_COLUMNS:
        raise InputError(f"{packed.name} has {columns:,} columns; at most {MAX_COLUMNS:,} can be read.")
    if not rows or not columns:
        raise InputError(f"{packed.name} holds an empty matrix ({rows:,} × {columns:,}).")
    packed.check_cells(rows * columns, rows=rows)


def _sparse(packed: Packed, arrays: dict[str, NDArray[Any]]) -> tuple[NDArray[np.int64], Note]:
    """Return a sparse matrix written out, and how zeros were read.

    What is not stored is no vote, unless -1 is stored: then zeros were dropped when the matrix was packed.
    """
    name, form, shape = packed.name, _word(arrays["format"]), arrays["shape"]
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or min(shape.tolist()) < 0:
        raise _damaged(name)
    n, d = (int(side) for side in shape)
    _check_shape(packed, (n, d))
    data = arrays["data"]
    values = _dense(packed, data.reshape(1, -1), "the matrix")[0] if data.size and data.ndim == 1 else None
    if values is None:
        raise InputError(f"{name} holds a sparse matrix without a vote.") if data.ndim == 1 else _damaged(name)
    places = {
        key: arrays[key].astype(np.int64) for key in ("indices", "indptr", "row", "col") if _whole(arrays.get(key))
    }
    if form in _COMPRESSED and {"indices", "indptr"} <= places.keys():
        outer = n if form == "csr" else d
        ends, inner = places["indptr"], places["indices"]
        steps = np.diff(ends)
        if (
            len(ends) != outer + 1
            or len(inner) != len(values)
            or ends[0]
            or ends[-1] != len(inner)
            or (steps < 0).any()
        ):
            raise _damaged(name)
        first = np.repeat(np.arange(outer), steps)
        rows, columns = (first, inner) if form == "csr" else (inner, first)
    elif form == "coo" and {"row", "col"} <= places.keys() and len(places["row"]) == len(places["col"]) == len(values):
        rows, columns = places["row"], places["col"]
    else:
        raise InputError(f"{name} is a sparse matrix of the kind {form[:20]!r}; csr, csc and coo are read.")
    if len(rows) and (min(rows.min(), columns.min()) < 0 or rows.max() >= n or columns.max() >= d):
        raise _damaged(name)
    stored = (values == ABSTAINS).any()
    matrix = np.full((n, d), 0 if stored else ABSTAINS, np.int64)
    matrix[rows, columns] = values
    text = (
        "Cells that are not stored are the class 0, since -1 is stored and stands for no vote."
        if stored
        else "Cells that are not stored are no votes."
    )
    return matrix, Note("understood", text)


def _whole(array: NDArray[Any] | None) -> bool:
    return array is not None and array.ndim == 1 and array.dtype.kind in "iu"


def _word(array: NDArray[Any]) -> str:
    word = array.tolist() if array.ndim == 0 else None
    return word.decode("ascii", "replace") if isinstance(word, bytes) else str(word)


def _may_be_truth(key: str, header: Header, rows: int, tables: Sequence[str]) -> bool:
    fits = header.shape in ((rows,), (rows, 1)) and key not in tables
    return fits and header.dtype.kind in _KINDS + "U" and roles.simple(key) in _TRUTHS


def _may_be_names(key: str, header: Header, columns: int) -> bool:
    return header.shape == (columns,) and header.dtype.kind == "U" and roles.simple(key) in _NAMES


# ---------------------------------------------------------------------- columns


def _content(
    matrix: NDArray[np.int64],
    format: str,
    title: str,
    *,
    truth: NDArray[Any] | None = None,
    learners: Sequence[str] | None = None,
    notes: Sequence[Note] = (),
) -> Content:
    names = [f"lf_{j}" for j in range(matrix.shape[1])] if learners is None else list(learners)
    columns = {name: _texts(matrix[:, j]) for j, name in enumerate(names)}
    if len(columns) < len(names):
        raise InputError(f"Two columns of the matrix are named alike ({quoted(names)}). Give each its own name.")
    told = dict.fromkeys(names, "learner")
    if truth is not None and "ground_truth" not in columns:
        known = truth.reshape(-1)
        if known.dtype.kind == "f":
            known = np.where(np.isnan(known), ABSTAINS, known)
        columns["ground_truth"] = _texts(known)
        told["ground_truth"] = "truth"
    abstained = int((matrix == ABSTAINS).sum())
    said = Note("understood", f"-1 is read as no vote ({count(abstained, 'cell')}).", abstained)
    return Content(columns, format, title, format, told, None, (*notes, said))


def _texts(values: NDArray[Any]) -> pa.ChunkedArray:
    """Return numbers as text, and -1 as the empty cell."""
    if values.dtype.kind == "U":
        return pa.chunked_array([pa.array(values.tolist(), pa.string())])
    whole = pa.array(values.astype(np.int64), mask=values == ABSTAINS)
    return pa.chunked_array([pc.fill_null(whole.cast(pa.string()), "")])


def _told(array: NDArray[Any]) -> str:
    return _sides(array.shape)


def _sides(shape: Sequence[int]) -> str:
    return " × ".join(f"{side:,}" for side in shape) or "a single number"


def _damaged(name: str) -> InputError:
    return InputError(f"{name} is a damaged file of NumPy arrays. Save it again.")
