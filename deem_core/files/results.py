"""Results of diagnostics: frozen dataclasses with arrays, saved and loaded.

Arrays go into an ``.npz`` archive, everything else into JSON beside it; reading them runs no code.
"""

from __future__ import annotations

import json
import math
import os
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from deem_core.errors import InputError
from deem_core.files.atomic import whole_file, write_json
from deem_core.files.plain import to_plain

VERSION = 1

Arrays = dict[str, NDArray[Any]]


class Result:
    """Frozen dataclass of arrays, names, numbers and other results."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON.

        Arrays as lists, numbers that are not finite as None.
        """
        plain: dict[str, Any] = to_plain(self)
        return plain

    def to_frame(self) -> pd.DataFrame:
        """Return the numbers as a table, one fact a row, for download."""
        raise NotImplementedError


def save(result: Any, folder: str | os.PathLike[str], name: str) -> None:
    """Write a result as ``name.npz`` and ``name.json`` in a folder.

    The folder is made if it is not there.

    The JSON comes last: where it is, the arrays are.
    """
    home = Path(folder)
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"The folder {str(home)!r} could not be made: {error.strerror or error}.") from error
    arrays: Arrays = {}
    content = {"version": VERSION, "result": _pack(result, "result", arrays)}
    with whole_file(home / f"{name}.npz") as stream:
        np.savez_compressed(stream, allow_pickle=False, **arrays)
    write_json(content, home / f"{name}.json")


def load(folder: str | os.PathLike[str], name: str, kinds: Mapping[str, type[Any]]) -> Any:
    """Read a result that `save` wrote.

    Only classes among ``kinds`` can come out.

    Raises
    ------
    InputError
        If it is not there, damaged, or of a newer version.
    """
    home = Path(folder)
    if not os.path.isfile(home / f"{name}.json"):
        raise InputError(f"There is no {name} in {str(home)!r}. Compute it first.")
    try:
        content = json.loads((home / f"{name}.json").read_text(encoding="utf-8"))
        if content["version"] > VERSION:
            raise InputError(f"The {name} in {str(home)!r} was written by a newer DEEM Studio. Update to read it.")
        with np.load(home / f"{name}.npz", allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
        return _unpack(content["result"], arrays, kinds)
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
    ) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"The {name} in {str(home)!r} is damaged ({type(error).__name__}). Compute it again."
        ) from None


def long_frame(columns: Mapping[str, Any], *axes: tuple[str, Any]) -> pd.DataFrame:
    """Return arrays of one shape as a table, a row per cell.

    The names along each axis come first.

    Parameters
    ----------
    columns : mapping of str to array
        All of the shape that the axes have.
    *axes : (name, labels)
    """
    places = np.meshgrid(*(np.arange(len(labels)) for _, labels in axes), indexing="ij")
    named = {
        name: np.asarray(labels, object)[place.ravel()] for (name, labels), place in zip(axes, places, strict=True)
    }
    return pd.DataFrame({**named, **{name: np.asarray(values).ravel() for name, values in columns.items()}})


def _pack(value: Any, path: str, arrays: Arrays) -> Any:
    if isinstance(value, np.ndarray):
        arrays[path] = value
        return {"array": path}
    if is_dataclass(value) and not isinstance(value, type):
        own = {item.name: _pack(getattr(value, item.name), f"{path}.{item.name}", arrays) for item in fields(value)}
        return {"kind": type(value).__name__, "fields": own}
    if isinstance(value, (list, tuple)):
        return [_pack(item, f"{path}.{at}", arrays) for at, item in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": str(value)}
    return value


def _unpack(item: Any, arrays: Arrays, kinds: Mapping[str, type[Any]]) -> Any:
    if isinstance(item, list):
        return tuple(_unpack(each, arrays, kinds) for each in item)
    if not isinstance(item, dict):
        return item
    if "array" in item:
        return arrays[item["array"]]
    if "number" in item:
        return float(item["number"])
    return kinds[item["kind"]](**{name: _unpack(each, arrays, kinds) for name, each in item["fields"].items()})
