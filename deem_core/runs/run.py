"""A run: a folder with what was asked (spec), where it stands (state), what it said (progress) and what it found."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deem_core.runs.private import is_id, is_plain, open_to_read, read_json
from deem_core.runs.state import State, read_state, worker_of

SPEC = "spec.json"
PROGRESS = "progress.jsonl"
LOG = "log.txt"
MODEL = "model.safetensors"
RESULT = "result.parquet"
SUMMARY = "summary.json"
CHECKPOINT = "checkpoint"
PARTIAL = "partial.json"
BALLAST = "ballast"

_OURS = frozenset({SPEC, "state.json", "worker.json", "cancel", PROGRESS, LOG, BALLAST, PARTIAL})


@dataclass(frozen=True)
class Run:
    """A run of a workspace; its methods look at the disk anew each time.

    Attributes
    ----------
    id : str
        32 hex digits.
    path : Path
    kind : "sweep", "train", "compare", "apply" or "inspect"
    title : str
    dataset_id : str
    spec : dict
        Inputs by content hash, config, seed and versions.
    created : float
        Unix seconds.
    """

    id: str
    path: Path
    kind: str
    title: str
    dataset_id: str
    spec: dict[str, Any]
    created: float

    @classmethod
    def load(cls, path: Path) -> Run | None:
        """Return the run in a folder; None if it is not one or damaged."""
        if not is_id(path.name) or not is_plain(path):
            return None
        spec = read_json(path / SPEC)
        if spec is None or spec.get("id") != path.name:
            return None
        try:
            texts = [spec[name] for name in ("kind", "title", "dataset")]
            created, objects = float(spec["created"]), [spec["inputs"], spec["config"]]
        except (KeyError, TypeError, ValueError):
            return None
        if not all(isinstance(text, str) for text in texts) or not all(isinstance(part, dict) for part in objects):
            return None
        return cls(path.name, path, texts[0], texts[1], texts[2], spec, created)

    @property
    def config(self) -> dict[str, Any]:
        """What was asked."""
        return dict(self.spec["config"])

    def state(self) -> State:
        """Return where it stands now; a run whose worker is dead has failed."""
        return read_state(self.path, self.created)

    def is_active(self) -> bool:
        """Return whether it is going on or waits to."""
        return self.state().active

    def is_attended(self) -> bool:
        """Return whether a living process looks after it."""
        worker = worker_of(self.path)
        return worker is not None and worker.alive

    def progress(self, start: int = 0) -> tuple[list[dict[str, Any]], int]:
        """Return what it has said from a byte on, and the byte to ask from next time.

        Lines that are being written are left for the next time, damaged ones are skipped, and a file that has become
        shorter (the run was started over) is read from its beginning. A run that was resumed repeats what came after
        its last checkpoint: the later line of the same restart and update counts.
        """
        try:
            with open_to_read(self.path / PROGRESS) as stream:
                size = stream.seek(0, os.SEEK_END)
                at = start if 0 <= start <= size else 0
                stream.seek(at)
                content = stream.read()
        except OSError:
            return [], 0
        whole = content.rfind(b"\n") + 1
        return [record for line in content[:whole].splitlines() if (record := _parsed(line)) is not None], at + whole

    def result(self, name: str) -> Path | None:
        """Return where a result is, such as ``model.safetensors``; None unless the run is done and it has one."""
        if os.path.basename(name) != name or name.startswith(".") or name in _OURS:
            return None
        path = self.path / name
        done = self.state().state == "done"
        return path if done and is_plain(path) and path.is_file() else None

    def results(self) -> list[Path]:
        """Return all results; none unless the run is done."""
        try:
            names = sorted(os.listdir(self.path))
        except OSError:
            return []
        return [path for name in names if (path := self.result(name)) is not None]

    def summary(self) -> dict[str, Any] | None:
        """Return what it found in short; None unless it is done."""
        path = self.result(SUMMARY)
        return None if path is None else read_json(path)

    def partial(self) -> dict[str, Any] | None:
        """Return what is known of it so far, where its kind tells (a sweep does), whatever its state."""
        return read_json(self.path / PARTIAL)

    def log(self, most: int = 20_000) -> str:
        """Return the end of its log, at most so many bytes."""
        try:
            with open_to_read(self.path / LOG) as stream:
                stream.seek(max(0, stream.seek(0, os.SEEK_END) - most))
                return stream.read().decode(errors="replace")
        except OSError:
            return ""


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None
