"""Status of a run at work: writer of its state and progress."""

from __future__ import annotations

import json
import math
import os
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from deem_core.errors import InputError
from deem_core.files.seals import sealed
from deem_core.runs import checksums
from deem_core.runs.annotations import FILE as ANNOTATIONS
from deem_core.runs.private import is_plain, open_private
from deem_core.runs.process import LOG
from deem_core.runs.run import (
    BALLAST,
    CANCEL,
    CHECKPOINT,
    FINISH,
    PARTIAL,
    PROGRESS,
    SPEC,
    STATE,
    WORKER,
    Run,
    State,
    result_names,
    write_state,
)
from deem_core.text import count

WRITE_SECONDS = 0.5
"""The state is written no more often than this."""

_DIGITS = 7  # significant ones of a number in the progress
_KEPT = frozenset({SPEC, STATE, WORKER, CANCEL, PROGRESS, LOG, CHECKPOINT, PARTIAL, ANNOTATIONS})
_LAST_TRIES = 10


class Status:
    """Writer of a run's state and progress.

    Safe to use from several threads.

    Parameters
    ----------
    run : Run
    """

    def __init__(self, run: Run) -> None:
        self.folder = run.path
        before = run.state()
        self.state = State("queued", share=before.share, created=run.created, worked=before.worked)
        self.ended = False
        self._lock = threading.Lock()
        self._written, self._pending = -math.inf, False
        self._begun, self._begun_share = 0.0, 0.0
        self._progress: int | None = None
        self._torn = False

    # ------------------------------------------------------------------ state

    def wait(self, others: int) -> None:
        """Write that other runs come first."""
        self._change(step=f"Queued: {count(others, 'run')} ahead")

    def begin(self, device: str) -> None:
        """Write that the work begins."""
        self._change(state="running", step="Starting", started=time.time(), device=device, now=True)

    def report(self, share: float, step: str, device: str | None = None) -> None:
        """Take the share that is done and the step at work.

        Written every `WRITE_SECONDS` at most.
        """
        share = min(max(float(share), 0.0), 1.0) if math.isfinite(share) else self.state.share
        if step != self.state.step:  # each step has a pace of its own
            self._begun, self._begun_share = time.monotonic(), share
        gained = share - self._begun_share
        left = (1 - share) * (time.monotonic() - self._begun) / gained if gained > 0.005 else None
        self._change(share=share, step=step, seconds_left=left, device=device or self.state.device)

    def flush(self) -> None:
        """Write what was reported but not yet written."""
        with self._lock:
            if not self.ended:
                self._write_if_due()

    def end(self, state: Literal["done", "cancelled", "failed"], reason: str = "") -> bool:
        """Write how it ended and return whether this was the first call.

        Nothing is written after it.

        A run that is not done leaves no results, and what they took makes room for the last word on a full disk.
        """
        with self._lock:
            if self.ended:
                return False
            share = 1.0 if state == "done" else self.state.share
            self.state = replace(
                self.state, state=state, reason=reason, share=share, step="", seconds_left=None, ended=time.time()
            )
            if state == "done":
                checksums.write_checksums(self.folder, result_names(self.folder))
                write_state(self.folder, self.state, durable=True)
                clear_tools(self.folder)
            else:
                clear_results(self.folder, ballast=True)
                self._write_somehow()
            self.ended = True
            return True

    def _write_somehow(self) -> None:
        for _ in range(_LAST_TRIES):
            try:
                return write_state(self.folder, self.state, durable=True)
            except InputError:  # whoever filled the disk may take this room too: then the dead worker tells it all
                time.sleep(0.1)
        return None

    def _change(self, now: bool = False, **changes: Any) -> None:
        with self._lock:
            if self.ended:
                return
            changed = replace(self.state, **changes)
            self._pending = self._pending or changed != self.state
            self.state = changed
            if now:
                self._written = -math.inf
            self._write_if_due()

    def _write_if_due(self) -> None:
        if self._pending and time.monotonic() - self._written >= WRITE_SECONDS:
            write_state(self.folder, self.state)
            self._written, self._pending = time.monotonic(), False

    # ------------------------------------------------------------------ progress

    def append(self, type: str, content: Mapping[str, Any]) -> None:
        """Add a line to the progress file in one write."""
        values = {
            "time": round(time.time(), 3),
            "type": type,
            **{name: rounded(value) for name, value in content.items()},
        }
        line = json.dumps(sealed(values), ensure_ascii=False, allow_nan=False).encode(errors="backslashreplace") + b"\n"
        with self._lock:
            if self._progress is None:
                self._progress = open_private(self.folder / PROGRESS, os.O_RDWR | os.O_APPEND)
                self._torn = not _ends_with_line(self._progress)  # a worker died in the middle of its last line
            rest = memoryview(b"\n" + line if self._torn else line)
            self._torn = True
            while rest:  # in one go, unless the disk is full
                rest = rest[os.write(self._progress, rest) :]
            self._torn = False


def _ends_with_line(descriptor: int) -> bool:
    size = os.lseek(descriptor, 0, os.SEEK_END)
    if size == 0:
        return True
    os.lseek(descriptor, size - 1, os.SEEK_SET)
    return os.read(descriptor, 1) == b"\n"


def clear_results(folder: Path, *, ballast: bool = False) -> None:
    """Remove partial files and results of an unfinished run.

    On request the ballast too.
    """
    spared = _KEPT if ballast else _KEPT | {BALLAST}
    _remove(folder, lambda name: name not in spared)
    _remove(folder / CHECKPOINT, _is_part)


def clear_tools(folder: Path) -> None:
    """Remove what a run that is done no longer needs."""
    _remove(folder, lambda name: name in (CHECKPOINT, CANCEL, FINISH, BALLAST, PARTIAL) or _is_part(name))


def _is_part(name: str) -> bool:
    return name.endswith(".part")


def _remove(folder: Path, unneeded: Callable[[str], bool]) -> None:
    if not is_plain(folder) or not folder.is_dir():
        return
    for entry in list(os.scandir(folder)):
        if unneeded(entry.name):
            with suppress(OSError):
                shutil.rmtree(entry.path) if entry.is_dir(follow_symlinks=False) else os.unlink(entry.path)


def rounded(value: Any) -> Any:
    """Return plain values for JSON.

    Numbers to a few significant digits, null for what is not finite.
    """
    if isinstance(value, Mapping):
        return {str(name): rounded(item) for name, item in value.items()}
    if hasattr(value, "tolist"):  # NumPy arrays and scalars
        return rounded(value.tolist())
    if isinstance(value, (list, tuple)):
        return [rounded(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None
    return value
