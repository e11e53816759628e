"""Model files looked at from outside, without torch.

Whose they are, and for which learners and classes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray
from safetensors import safe_open

from deem_core.errors import DeemError, InputError
from deem_core.text import size
from deem_core.votes.coding import as_label_array

MOST_HEADER = 1 << 24
"""Bytes of a model file's header; JSON takes many times as much in memory."""

TITLES = {"SoftDEEM": "Soft DEEM", "IRBM": "iRBM", "GroupedDawidSkene": "Grouped Dawid-Skene"}
"""Kinds whose name in the file is not what people call them."""

FORMAT = "deem-studio-model"
VERSION = 1


@dataclass(frozen=True)
class ModelFile:
    """What a model file says of itself.

    Attributes
    ----------
    kind : str
        Name of the estimator, such as "DEEM" or "GroupedDawidSkene".
    learners : tuple of d str
    classes : (K,) array
    n_rows : int
        Rows it was trained on.
    header : dict
        Everything but the parameters.
    """

    kind: str
    learners: tuple[str, ...]
    classes: NDArray[Any]
    n_rows: int
    header: dict[str, Any]

    @property
    def title(self) -> str:
        """What people call the kind of model."""
        return TITLES.get(self.kind, self.kind)


def check_metadata(name: str, metadata: dict[str, str] | None) -> dict[str, Any]:
    """Return the header that the metadata of a safetensors file hold.

    Raises
    ------
    InputError
        If the file is not a model of ours, or of a newer version.
    """
    told = metadata or {}
    if told.get("format") != FORMAT:
        raise InputError(f"{name!r} is not a DEEM Studio model. Save one with train or model.save.")
    if int(told["version"]) > VERSION:
        raise InputError(f"{name!r} was written by a newer DEEM Studio. Update to read it.")
    header: dict[str, Any] = json.loads(told["json"])
    return header


def peek(path: str | os.PathLike[str], name: str | None = None) -> ModelFile:
    """Return what a model file says of itself.

    Its parameters are not read and nothing in it is executed.

    Parameters
    ----------
    path : path
    name : str, optional
        What people call the file.

    Raises
    ------
    InputError
        If it is not there, damaged, foreign or too new.
    """
    with opened(path, name) as file:
        header = check_metadata(name or os.fspath(path), file.metadata())
        learners = tuple(map(str, header["learners"]))
        return ModelFile(
            str(header["estimator"]), learners, as_label_array(header["classes"]), int(header["n_rows_"]), header
        )


@contextmanager
def opened(path: str | os.PathLike[str], name: str | None = None) -> Iterator[Any]:
    """Open a model file.

    Whatever goes wrong while it is open is told as damage.

    Raises
    ------
    InputError
        If it is not there, damaged or foreign.
    """
    called = name or os.fspath(path)
    if not os.path.isfile(path):
        raise InputError(f"There is no model file {called!r}. Check the path.")
    try:
        with open(path, "rb") as stream:
            told = int.from_bytes(stream.read(8), "little")
        if MOST_HEADER < told <= os.path.getsize(path):
            raise InputError(
                f"{called!r} has a header of {size(told)}; that of a DEEM Studio model has {size(MOST_HEADER)} at most."
            )
        with safe_open(os.fspath(path), framework="np") as file:
            yield file
    except DeemError:
        raise
    except Exception as error:  # what a file that is not ours makes of our code is anybody's guess
        raise InputError(f"{called!r} is damaged or not a DEEM Studio model ({type(error).__name__}).") from None
