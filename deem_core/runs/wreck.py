"""Wrecks: runs and datasets whose own description cannot be read.

They are kept apart from all others, so that nothing else notices them, and can be deleted.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from deem_core.errors import InputError
from deem_core.runs.annotations import Annotations
from deem_core.runs.dataset import load_dataset
from deem_core.runs.private import is_id, read_private
from deem_core.runs.removal import delete_folder, folder_bytes
from deem_core.runs.run import CANCEL, SPEC, Run, State, worker_of

_DIGEST = re.compile(rb"[0-9a-f]{64}")
_LEAVING_SECONDS = 2.0  # how long a worker of a wreck may take to end by itself


@dataclass(frozen=True)
class Wreck:
    """A run or dataset that is damaged beyond reading.

    Attributes
    ----------
    what : "run" or "dataset"
    id : str
        32 hex digits.
    path : Path
        Folder of the run, or record of the dataset.
    since : float
        When it was last changed, in Unix seconds.
    """

    what: Literal["run", "dataset"]
    id: str
    path: Path
    since: float

    @classmethod
    def find(cls, root: Path) -> list[Wreck]:
        """Return the wrecks of a workspace, newest first."""
        runs = [cls.of_run(root / "runs" / name) for name in _names(root / "runs")]
        datasets = [cls._of_dataset(root / "datasets" / name) for name in _names(root / "datasets")]
        return sorted((wreck for wreck in [*runs, *datasets] if wreck is not None), key=lambda each: -each.since)

    @classmethod
    def of_run(cls, path: Path) -> Wreck | None:
        """Return the wreck in the place of a run.

        None if the run can be read, or is not there.
        """
        if not is_id(path.name) or Run.load(path) is not None:
            return None
        return cls._at("run", path.name, path)

    @classmethod
    def _of_dataset(cls, path: Path) -> Wreck | None:
        if path.suffix != ".json" or not is_id(path.stem) or load_dataset(path) is not None:
            return None
        return cls._at("dataset", path.stem, path)

    @classmethod
    def _at(cls, what: Literal["run", "dataset"], id: str, path: Path) -> Wreck | None:
        try:
            return cls(what, id, path, path.lstat().st_mtime)
        except OSError:  # deleted meanwhile
            return None

    @property
    def name(self) -> str:
        """What people called it, where that can still be read."""
        return "" if self.what == "dataset" or self.path.is_symlink() else Annotations.read(self.path).name

    @property
    def sentence(self) -> str:
        """What is wrong, and what to do."""
        if self.what == "run":
            return f"Run {self.id[:12]} is damaged: what was asked of it ({SPEC}) cannot be read. Delete it."
        return f"Dataset {self.id[:12]} is damaged: its record cannot be read. Upload the file again, or delete it."

    @property
    def state(self) -> State:
        """Its state, for lists of runs."""
        return State("failed", self.sentence, created=self.since, damaged=True)

    @property
    def bytes(self) -> int:
        """Space that deleting it frees."""
        if self.path.is_dir() and not self.path.is_symlink():
            return folder_bytes(self.path)
        return self.path.lstat().st_size

    def digests(self) -> set[str]:
        """Return the hashes of inputs that what is left of it names."""
        with suppress(OSError):
            content = read_private(self.path / SPEC if self.what == "run" else self.path)
            return {digest.decode() for digest in _DIGEST.findall(content)}
        return set()

    def delete(self) -> None:
        """Delete it; a worker that still works on it is ended first.

        Raises
        ------
        InputError
            If the disk refuses.
        """
        if self.what == "run":
            self._end_worker()
        delete_folder(self.path)

    def _end_worker(self) -> None:
        worker = worker_of(self.path)
        if worker is None or not worker.alive:
            return
        with suppress(OSError):
            (self.path / CANCEL).touch(0o600)
        until = time.monotonic() + _LEAVING_SECONDS
        while worker.alive and time.monotonic() < until:
            time.sleep(0.05)
        if not worker.end():
            raise InputError(
                f"Run {self.id[:12]} is damaged, and its worker cannot be ended. End process {worker.pid}."
            )


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
