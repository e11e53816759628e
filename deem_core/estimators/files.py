"""Model files: safetensors with a JSON header, which cannot run code."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save as to_bytes

from deem_core.errors import torch_wanted
from deem_core.estimators.peek import FORMAT, VERSION, check_metadata, opened
from deem_core.files.atomic import whole_file
from deem_core.files.seals import SEAL, tensor_sum
from deem_core.votes import Votes

if TYPE_CHECKING:
    from deem_core.estimators.base import Fuser

KINDS = {
    "DEEM": "deem_core.estimators.deem",
    "SoftDEEM": "deem_core.estimators.soft",
    "IRBM": "deem_core.estimators.irbm",
    "GroupedDawidSkene": "deem_core.estimators.grouped",
}
"""Estimators that a file may hold → their modules, imported when such a file is read."""


@dataclass(frozen=True, eq=False)
class Content:
    """Content of a model file.

    Attributes
    ----------
    header : dict
        Plain JSON values; ``estimator`` names the kind.
    arrays : dict of str to array
    """

    header: dict[str, Any]
    arrays: dict[str, NDArray[Any]]

    def array(self, name: str, *shape: int) -> NDArray[np.float64]:
        """Return finite numbers of that shape.

        Raises
        ------
        ValueError
            If they are something else.
        """
        array = self.arrays[name]
        if array.shape != shape or array.dtype.kind != "f" or not np.isfinite(array).all():
            raise ValueError(f"{name} does not fit")
        return array.astype(np.float64)


def save(content: Content, path: str | os.PathLike[str]) -> None:
    """Write a model file."""
    metadata = {"format": FORMAT, "version": str(VERSION), "json": json.dumps(content.header, default=_plain)}
    arrays = {name: np.ascontiguousarray(array) for name, array in content.arrays.items()}
    metadata[SEAL] = _checksum(metadata["json"], arrays)
    with whole_file(path) as stream:
        stream.write(to_bytes(arrays, metadata))


def load(path: str | os.PathLike[str]) -> Fuser:
    """Read a fitted estimator of whatever kind the file holds.

    Raises
    ------
    InputError
        If it is not there, damaged, foreign or too new.
    MissingPackageError
        If it is a model of PyTorch, which is not installed.
    """
    with opened(path) as file:
        metadata = file.metadata()
        header = check_metadata(os.fspath(path), metadata)
        arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118  # not a dictionary
        if metadata.get(SEAL) not in (None, _checksum(metadata["json"], arrays)):  # earlier versions wrote none
            raise ValueError("another content than was written")
        kind = header["estimator"]
        with torch_wanted():
            estimator: type[Fuser] = getattr(import_module(KINDS[kind]), kind)
        model = estimator.of_content(Content(header, arrays))
        _check_whole(model)
        return model


def _check_whole(model: Fuser) -> None:
    """Ask a model for all that is asked later.

    So damage is told when it is read.

    Raises
    ------
    Exception
        Whatever the damage makes of it.
    """
    row = Votes(np.zeros((1, len(model.learners_)), np.int32), model.classes_, model.learners_)
    answer = model.fuse(row)
    model.summary_  # noqa: B018  # put together from the header
    if not np.isfinite(answer.posterior).all() or not all(isinstance(note, str) for note in answer.notes):
        raise ValueError("the model's numbers or notes are none")


def _checksum(header: str, arrays: Mapping[str, NDArray[Any]]) -> str:
    return tensor_sum([header], ((name, str(array.dtype), array.shape, array.data) for name, array in arrays.items()))


def is_plain(value: Any) -> bool:
    """Tell whether a parameter can stand in a header."""
    return value is None or isinstance(value, (bool, int, float, str))


def _plain(value: Any) -> Any:
    """Return NumPy values as JSON knows them."""
    return value.tolist() if hasattr(value, "tolist") else str(value)
