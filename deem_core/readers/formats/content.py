"""Content: columns of text, and what their format says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from deem_core.errors import InputError
from deem_core.readers.notes import Note
from deem_core.readers.records import as_name
from deem_core.text import clip, quoted


@dataclass(frozen=True)
class Choice:
    """Which of several tables or questions of a file is read.

    Attributes
    ----------
    option : "sheet" or "label"
        The option of `deem_core.read` that says it.
    title : str
        What people call it: "Sheet".
    names : tuple of str
        Those that the file has.
    chosen : str, optional
        None where the file cannot be read before somebody says so.
    """

    option: str
    title: str
    names: tuple[str, ...]
    chosen: str | None = None


class UndecidedError(InputError):
    """A file of several tables or questions, of which one must be named."""

    def __init__(self, sentence: str, choice: Choice) -> None:
        super().__init__(sentence)
        self.choice = choice


@dataclass(frozen=True)
class Content:
    """What a file of another program holds.

    Attributes
    ----------
    columns : dict of str to pyarrow.ChunkedArray
        Cells as text, all of one length.
    format : str
        A word for programs: "xlsx".
    title : str
        Words for people: "Excel workbook, sheet 'Votes'".
    encoding : str
        How the report calls the bytes.
    roles : mapping
        Column → "id", "truth", "learner" or "ignored", as far as the format itself tells. Where it tells learners,
        other columns are none.
    choice : Choice, optional
    notes : tuple of Note
    """

    columns: Mapping[str, pa.ChunkedArray]
    format: str
    title: str
    encoding: str
    roles: Mapping[str, str] = field(default_factory=dict)
    choice: Choice | None = None
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        """Take half characters out of the names, which no file could hold."""
        columns: dict[str, pa.ChunkedArray] = {}
        for told, cells in self.columns.items():
            name = as_name(told)
            while name in columns:  # refused by its name, later
                name += " "
            columns[name] = cells
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "roles", {as_name(name): role for name, role in self.roles.items()})


def choose(file: str, choice: Choice, wish: str) -> str:
    """Return the name that was asked for, or that has the number.

    Raises
    ------
    UndecidedError
        If there is none of it.
    """
    if wish in choice.names:
        return wish
    if wish.isascii() and wish.isdigit() and 1 <= int(wish[:9]) <= len(choice.names):
        return choice.names[int(wish) - 1]
    what = choice.title.casefold()
    raise UndecidedError(
        f"{file} has no {what} {clip(wish, 60)!r}; it has {quoted([clip(name, 40) for name in choice.names])}. "
        f"Name one of them with --{choice.option}, or under “Columns and reading”.",
        choice,
    )


def text_column(cells: Sequence[str]) -> pa.ChunkedArray:
    """Return cells as Arrow text; half characters are replaced."""
    try:
        array = pa.array(cells, pa.string())
    except UnicodeError:
        array = pa.array([cell.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for cell in cells])
    return pa.chunked_array([array])


def as_text(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return a typed column as text; None if it has none.

    Null is the empty cell, booleans are spelled as in Python.
    """
    if pa.types.is_nested(column.type):
        return None
    try:
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_boolean(column.type):
            column = pc.if_else(column, "True", "False")
        text = pc.fill_null(column.cast(pa.string()), "")
        text.validate(full=True)
    except (pa.ArrowException, NotImplementedError):
        return None
    return None if pc.any(pc.match_substring(text, "\0")).as_py() else text


def told_type(kind: pa.DataType) -> str:
    """Return the name of a type as it was written."""
    return clip(str(kind.value_type if pa.types.is_dictionary(kind) else kind), 60)
