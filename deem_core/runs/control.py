"""Control of a run at work.

Cancellation, progress and checkpoints in its folder.
"""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deem_core import __version__
from deem_core.control import Control, ProgressRecord, Saved
from deem_core.errors import InputError
from deem_core.files.seals import SEAL, tensor_sum
from deem_core.runs.private import is_plain, make_folder, private_file
from deem_core.runs.run import CHECKPOINT, MISHAP
from deem_core.runs.status import Status

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

SECONDS = 5.0
"""Time between two checkpoints; the environment variable DEEM_CHECKPOINT_SECONDS changes it."""

DAMAGED = "The checkpoint “{}” is damaged, so what it held is computed again from the beginning of that part."

_ARRAYS = "arrays"  # names of those that are no tensors, in the metadata

_KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}")


class RunControl(Control):
    """Control of a run: progress to its status, checkpoints to its folder.

    Parameters
    ----------
    status : Status
    stop : threading.Event, optional
        Set when the computation is to stop.
    """

    keeps = True

    def __init__(self, status: Status, stop: threading.Event | None = None) -> None:
        self.status, self.stop = status, stop or threading.Event()
        self.folder = status.folder / CHECKPOINT
        self.seconds = _seconds()
        self._kept: dict[str, float] = {}
        self._begun = time.monotonic()

    def stopped(self) -> bool:
        """Return whether to stop."""
        return self.stop.is_set()

    def tell(self, step: str, share: float, record: ProgressRecord | None = None) -> None:
        """Append the record to the progress and report step and share."""
        if record is not None:
            self.status.append(record.kind, record.to_dict())
        self.status.report(share, step)

    def note(self, sentence: str) -> None:
        """Append a sentence to the progress."""
        self.status.append("note", {"text": sentence})

    def mishap(self, sentence: str) -> None:
        """Append a sentence to the progress, for pages to show."""
        self.status.append(MISHAP, {"text": sentence})

    def due(self, key: str) -> bool:
        """Return whether the last checkpoint is old."""
        return time.monotonic() - self._kept.get(key, self._begun) >= self.seconds

    def save(self, key: str, saved: Saved) -> None:
        """Replace the checkpoint, safe from power cuts."""
        import numpy as np  # noqa: PLC0415  # a worker that waits holds no library
        from safetensors.numpy import save  # noqa: PLC0415

        make_folder(self.folder)
        arrays = {name: tensor.detach().numpy() for name, tensor in saved.tensors.items()} | saved.arrays
        arrays = {name: np.asarray(array, order="C") for name, array in arrays.items()}
        metadata = {"version": __version__, "notes": json.dumps(saved.notes), _ARRAYS: json.dumps(list(saved.arrays))}
        metadata[SEAL] = _checksum(metadata, arrays)
        with private_file(self._path(key), durable=True) as stream:
            stream.write(save(arrays, metadata))
        self._kept[key] = time.monotonic()

    def load(self, key: str) -> Saved | None:
        """Return the checkpoint under a key.

        None if it is of another version, or damaged: then a note says so, and what it held is computed again.
        """
        from safetensors import SafetensorError, safe_open  # noqa: PLC0415

        path = self._path(key)
        if not (is_plain(path) and path.is_file()):
            return None
        try:
            with safe_open(path, framework="np") as file:
                metadata = file.metadata() or {}
                found = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            seal = metadata.pop(SEAL, None)
            if seal is not None and seal != _checksum(metadata, found):
                return self._dropped(key)
            if metadata.get("version") != __version__:
                return None
            arrays = {name: found.pop(name) for name in json.loads(metadata.get(_ARRAYS, "[]"))}
            return Saved(_tensors(found), json.loads(metadata["notes"]), arrays)
        except (SafetensorError, OSError, KeyError, ValueError, TypeError, RuntimeError, OverflowError):
            return self._dropped(key)

    def _dropped(self, key: str) -> Saved | None:
        """Say that a checkpoint is damaged, and remove it."""
        self.mishap(DAMAGED.format(key))
        with suppress(OSError):
            self._path(key).unlink(missing_ok=True)
        return None

    def _path(self, key: str) -> Path:
        if not _KEY.fullmatch(key):
            raise InputError(f"{key[:80]!r} cannot be the key of a checkpoint.")
        return self.folder / f"{key}.safetensors"


def _tensors(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Tensor]:
    """Return arrays as tensors on the same memory."""
    if not arrays:
        return {}
    import torch  # noqa: PLC0415  # only for what was saved with it

    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def _checksum(metadata: Mapping[str, str], arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return the checksum of notes and arrays.

    Types have torch's names, so that it is that of earlier checkpoints.
    """
    import numpy as np  # noqa: PLC0415

    views = (
        (name, f"torch.{array.dtype}", array.shape, np.asarray(array, order="C").reshape(-1).view(np.uint8))
        for name, array in arrays.items()
    )
    return tensor_sum((f"{name}={text}" for name, text in sorted(metadata.items())), views)


def _seconds() -> float:
    try:
        return max(0.0, float(os.environ.get("DEEM_CHECKPOINT_SECONDS", SECONDS)))
    except ValueError:
        return SECONDS
