"""Folders: datasets that were saved as several files.

Hugging Face writes Arrow files with what it knows of them (``save_to_disk``), or Parquet files; a folder of WRENCH has
a JSON file for each split. Of several splits one must be named, as part of the path.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from deem_core.errors import InputError
from deem_core.readers import parquet
from deem_core.readers.bounds import Packed
from deem_core.readers.formats import argilla_parquet, arrow
from deem_core.readers.formats.content import Content
from deem_core.readers.formats.wrench import NAMES_FILE
from deem_core.text import clip, count, quoted

_STATE, _INFO, _SPLITS = "state.json", "dataset_info.json", "dataset_dict.json"
_MOST_JSON = 8_000_000  # bytes of what is told about a dataset
_PART = re.compile(r"(.+?)[-_.]\d{4,6}-of-\d{4,6}$")

Columns = Mapping[str, pa.ChunkedArray]


@dataclass(frozen=True)
class Split:
    """Files of one split of a dataset.

    Attributes
    ----------
    name : str
    files : tuple of Path
    """

    name: str
    files: tuple[Path, ...]


def split_folder(path: Path) -> Path | None:
    """Return the folder that a path means, None of a file.

    ``FOLDER/train`` means the files of that split, which need no folder of their own.
    """
    if "\0" in str(path):  # no path at all, which whoever opens it tells
        return None
    try:
        if path.is_dir():
            return path
        return path.parent if not path.exists() and path.parent.is_dir() and not path.suffix else None
    except (OSError, ValueError):
        return None


def read_folder(path: Path, wish: str | None, read_parquet: Callable[[Path], Columns]) -> tuple[int, Content] | Path:
    """Return bytes and columns of a dataset, or its one file.

    Parameters
    ----------
    path : Path
        The folder, or a split in it.
    wish : str, optional
        Of several questions of a dataset of Argilla, the one to be read.
    read_parquet : function
        Path → columns.

    Raises
    ------
    InputError
        If there is no dataset in it, or several splits.
    """
    if path.is_dir():
        if (path / _SPLITS).is_file():
            raise _several(path, [name for name in _list(_told(path / _SPLITS).get("splits")) if isinstance(name, str)])
        if (path / _STATE).is_file() or any(path.glob("*.arrow")):
            return _saved(path, wish)
    splits = _parquet_splits(path if path.is_dir() else path.parent)
    if not path.is_dir():
        splits = [split for split in splits if split.name == path.name]
        if not splits:
            raise InputError(f"There is no file {str(path)!r}. Check the path.")
    if len(splits) > 1:
        raise _several(path, [split.name for split in splits])
    if splits:
        if argilla_parquet.is_argilla(splits[0].files[0]):
            return _argilla(path, splits[0], wish)
        return _joined(path, splits[0], read_parquet)
    weak = sorted(file for file in path.glob("*.json") if file.name != NAMES_FILE)
    if (path / NAMES_FILE).is_file() and weak:
        if len(weak) > 1:
            raise InputError(f"{str(path)!r} holds {quoted(file.name for file in weak)}. Name one of them.")
        return weak[0]
    raise InputError(f"{str(path)!r} is a folder without a dataset that can be read. Name a file in it.")


def _several(path: Path, names: Sequence[str]) -> InputError:
    if not names:
        return InputError(f"{str(path)!r} is a folder of splits, and names none. Name the folder of one.")
    example = str(path / names[0])
    return InputError(f"{str(path)!r} holds several splits: {quoted(names)}. Name one of them, such as {example!r}.")


def _saved(path: Path, wish: str | None) -> tuple[int, Content]:
    """Return a dataset that was saved as Arrow files."""
    state = _told(path / _STATE) if (path / _STATE).is_file() else {}
    if state.get("_indices_files"):
        raise InputError(
            f"{str(path)!r} is a selection of rows that was not written out. Use flatten_indices() before "
            "save_to_disk()."
        )
    listed = [each.get("filename") for each in _list(state.get("_data_files")) if isinstance(each, dict)]
    if not all(isinstance(name, str) and name == Path(name).name for name in listed):
        raise InputError(f"{_STATE} in {str(path)!r} names files outside its folder.")
    files = [path / str(name) for name in listed] or sorted(path.glob("*.arrow"))
    tables, size = [], 0
    for file in files:
        data = _bytes(file)
        size += len(data)
        tables.append(arrow.open_table(Packed(file.name, len(data)), data))
    if not tables:
        raise InputError(f"{str(path)!r} has no Arrow files. Save the dataset again.")
    try:
        table = pa.concat_tables(tables, promote_options="default")
    except pa.ArrowException:
        raise InputError(f"The Arrow files in {str(path)!r} have different columns. Save the dataset again.") from None
    features = _told(path / _INFO).get("features") if (path / _INFO).is_file() else None
    names = arrow.names_of_features(features) or arrow.class_names(table.schema.metadata)
    title = f"Hugging Face dataset, {count(len(files), 'Arrow file')}"
    return size, arrow.table_content(Packed(path.name, size), table, wish, title=title, known=names)


def _parquet_splits(path: Path) -> list[Split]:
    """Return the Parquet files of a folder by split."""
    found: dict[str, list[Path]] = {}
    for file in sorted(path.glob("*.parquet")) or sorted((path / "data").glob("*.parquet")):
        part = _PART.fullmatch(file.stem)
        found.setdefault(part[1] if part else file.stem, []).append(file)
    if len(found) > 1 and all(len(files) == 1 and _PART.fullmatch(files[0].stem) is None for files in found.values()):
        known = {"train", "test", "validation", "valid", "dev"}
        if not known & found.keys():  # parts of one table, whatever they are called
            return [Split(path.name, tuple(file for files in found.values() for file in files))]
    return [Split(name, tuple(files)) for name, files in found.items()]


def _joined(path: Path, split: Split, read: Callable[[Path], Columns]) -> tuple[int, Content]:
    parts = [read(file) for file in split.files]
    names = list(parts[0])
    if any(list(part) != names for part in parts[1:]):
        raise InputError(f"The Parquet files of {split.name!r} in {str(path)!r} have different columns.")
    columns = {
        name: pa.chunked_array([chunk for part in parts for chunk in part[name].cast(pa.string()).chunks], pa.string())
        for name in names
    }
    size = sum(file.stat().st_size for file in split.files)
    title = f"folder of {count(len(parts), 'Parquet file')}"
    return size, Content(columns, "parquet", title, "parquet")


def _argilla(path: Path, split: Split, wish: str | None) -> tuple[int, Content]:
    size = sum(file.stat().st_size for file in split.files)
    with ExitStack() as stack:
        parts = [
            (Packed(file.name, file.stat().st_size), stack.enter_context(parquet.opened(file.name, file)))
            for file in split.files
        ]
        return size, argilla_parquet.read_parts(parts, Packed(path.name, size), wish)


def _told(file: Path) -> dict[str, Any]:
    """Return what a JSON file tells of a dataset."""
    try:
        told = json.loads(file.read_bytes()) if file.stat().st_size <= _MOST_JSON else None
    except (OSError, ValueError, RecursionError):
        told = None
    if not isinstance(told, dict):
        raise InputError(f"{file.name} in {clip(str(file.parent), 80)!r} is damaged. Save the dataset again.")
    return told


def _bytes(file: Path) -> bytes:
    try:
        Packed(file.name, 0).check_memory(file.stat().st_size, "bytes")
        return file.read_bytes()
    except OSError as error:
        raise InputError(f"{str(file)!r} cannot be read: {error.strerror or error}.") from None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
