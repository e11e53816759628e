"""State: where a run stands, as its file says it and as a reader may trust it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args

from deem_core.runs.alive import Worker
from deem_core.runs.private import read_json, write_private_json

Name = Literal["queued", "running", "done", "cancelled", "failed"]

STATE = "state.json"
WORKER = "worker.json"
CANCEL = "cancel"
DIED = "The worker died before it was done: it was killed, or the machine ran out of memory or power."


@dataclass(frozen=True)
class State:
    """Where a run stands.

    Attributes
    ----------
    state : "queued", "running", "done", "cancelled" or "failed"
    reason : str
        Why it failed, as a sentence; else empty.
    share : float
        How much is done, 0 to 1.
    step : str
        What it is doing, in a few words.
    seconds_left : float, optional
        An estimate, while it runs.
    created, started, ended : float, optional
        Unix seconds; ``started`` is when the work last began.
    device : str
        Where it is computed; empty before it is known.
    """

    state: Name
    reason: str = ""
    share: float = 0.0
    step: str = ""
    seconds_left: float | None = None
    created: float = 0.0
    started: float | None = None
    ended: float | None = None
    device: str = ""

    @property
    def active(self) -> bool:
        """Whether it is going on or waits to."""
        return self.state in ("queued", "running")

    @property
    def resumable(self) -> bool:
        """Whether it can be taken up again: it was cancelled or failed."""
        return self.state in ("cancelled", "failed")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**asdict(self), "resumable": self.resumable}


def write_state(folder: Path, state: State, *, durable: bool = False) -> None:
    """Replace the state of a run at one stroke."""
    write_private_json(asdict(state), folder / STATE, durable=durable)


def read_state(folder: Path, created: float) -> State:
    """Return where a run stands; whoever should be at work on it but is dead has failed.

    The file is read again after the worker was found dead, as it may have ended well in between.
    """
    state = _said(folder, created)
    while state.active:
        worker = worker_of(folder)
        if worker is None or worker.alive:
            return state if worker is not None or state.state == "queued" else _died(folder, state)
        again = _said(folder, created)
        if again == state:
            return _died(folder, state)
        state = again
    return state


def worker_of(folder: Path) -> Worker | None:
    """Return who works on a run or did so last."""
    return Worker.from_dict(read_json(folder / WORKER))


def _died(folder: Path, state: State) -> State:
    told = {"state": "failed", "reason": DIED}
    if (folder / CANCEL).exists():  # asked to stop, and gone before it could say so
        told = {"state": "cancelled", "reason": ""}
    return State(**{**asdict(state), **told, "step": "", "seconds_left": None, "ended": _last_written(folder)})


def _last_written(folder: Path) -> float | None:
    times = []
    for name in (STATE, "progress.jsonl", "log.txt"):
        try:
            times.append((folder / name).lstat().st_mtime)
        except OSError:
            continue
    return max(times, default=None)


def _said(folder: Path, created: float) -> State:
    content = read_json(folder / STATE)
    if content is None or content.get("state") not in get_args(Name):
        return State("failed", "The state of this run cannot be read: its file is damaged.", created=created)
    known = {item.name for item in fields(State)}
    return State(**{**{name: value for name, value in content.items() if name in known}, "created": created})
