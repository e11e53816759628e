"""Run: a folder with spec, state, progress and results."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from deem_core.files.seals import parse_object, sealed
from deem_core.runs import checksums
from deem_core.runs.annotations import FILE as ANNOTATIONS
from deem_core.runs.annotations import Annotations
from deem_core.runs.private import is_id, is_plain, open_to_read, read_json, write_private_json
from deem_core.runs.process import LOG, Worker
from deem_core.text import listing

if TYPE_CHECKING:  # a worker that waits does without NumPy
    from deem_core.model.records import Record

SPEC = "spec.json"
PROGRESS = "progress.jsonl"
MISHAP = "mishap"  # type of a line of the progress
MODEL = "model.safetensors"
RESULT = "result.parquet"
SUMMARY = "summary.json"
CHECKPOINT = "checkpoint"
PARTIAL = "partial.json"
QUEUE = "queue.json"
"""Of a run that asks: the rows to label."""
LABELS = "labels_{}.parquet"
"""Of a comparison: the answer of a method, by its name."""
BALLAST = "ballast"
_OURS = frozenset(
    {
        SPEC,
        "state.json",
        "worker.json",
        "cancel",
        "finish",
        PROGRESS,
        LOG,
        BALLAST,
        PARTIAL,
        ANNOTATIONS,
        checksums.FILE,
    }
)


@dataclass(frozen=True)
class Run:
    """A run of a workspace; methods read the disk each time.

    Attributes
    ----------
    id : str
        32 hex digits.
    path : Path
    kind : "sweep", "train", "fuse", "compare", "apply", "inspect" or "ask"
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
        """Return the run in a folder; None if missing or damaged."""
        if not is_id(path.name) or not is_plain(path):
            return None
        spec = read_json(path / SPEC)
        if spec is None or spec.get("id") != path.name or not _is_spec(spec):
            return None
        return cls(path.name, path, spec["kind"], spec["title"], spec["dataset"], spec, float(spec["created"]))

    @property
    def config(self) -> dict[str, Any]:
        """Settings of the run."""
        return dict(self.spec["config"])

    def annotations(self) -> Annotations:
        """Return the name, tags, note and pin that people gave it."""
        return Annotations.read(self.path)

    def name(self) -> str:
        """Return the name that people gave it, else its title."""
        return self.annotations().name or self.title

    def state(self) -> State:
        """Return the state; a run whose worker is dead has failed."""
        return read_state(self.path, self.created)

    def damage(self) -> list[str]:
        """Return the results that are no longer what was written.

        All are read, unless this process has done so before; from then on `state` knows it. Without asking, it sees
        only what is missing or has another size.
        """
        state = self.state()
        return checksums.damaged(self.path) if state.state == "done" or state.damaged else []

    def is_active(self) -> bool:
        """Tell whether it runs or waits to run."""
        return self.state().active

    def has_checkpoint(self) -> bool:
        """Tell whether resuming has a place to go on from.

        The size of stacks alone is none.
        """
        return any(not path.stem.endswith("-stacks") for path in (self.path / CHECKPOINT).glob("*.safetensors"))

    def is_attended(self) -> bool:
        """Tell whether a living process works on it."""
        worker = worker_of(self.path)
        return worker is not None and worker.alive

    def is_finishing(self) -> bool:
        """Tell whether it was asked to end with what it has."""
        return os.path.lexists(self.path / FINISH)

    def progress(self, start: int = 0) -> tuple[list[dict[str, Any]], int]:
        """Return the progress from a byte on, and the next byte.

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
        lines = (parse_object(line) for line in content[:whole].splitlines())
        return [line for line in lines if line is not None], at + whole

    def records(self, start: int = 0) -> tuple[list[Record], int]:
        """Return training records from a byte on, and where to continue.

        They come restart by restart, in the order of their updates; see `progress` for what is read.
        """
        from deem_core.model.records import Record  # noqa: PLC0415

        names = [item.name for item in fields(Record)]
        lines, end = self.progress(start)
        latest: dict[tuple[int, int], Record] = {}
        for line in lines:
            if line.get("type") == "record" and set(line) >= set(names):
                with suppress(KeyError, TypeError, ValueError):  # a damaged line
                    record = Record.from_dict({name: line[name] for name in names})
                    latest[record.restart, record.update] = record
        return [latest[key] for key in sorted(latest)], end

    def mishaps(self, start: int = 0) -> tuple[list[str], int]:
        """Return troubles that were put right, from a byte on.

        The number is where to continue; see `progress`.
        """
        lines, end = self.progress(start)
        texts = (line.get("text") for line in lines if line.get("type") == MISHAP)
        return [text for text in texts if isinstance(text, str)], end

    def result(self, name: str) -> Path | None:
        """Return the path of a result; None unless the run is done.

        Results are files such as ``model.safetensors``.
        """
        if os.path.basename(name) != name or name.startswith(".") or name in _OURS:
            return None
        path = self.path / name
        there = is_plain(path) and path.is_file() and self.state().state == "done"
        return path if there and not checksums.damaged(self.path, [name]) else None

    def results(self) -> list[Path]:
        """Return the paths of all results; none unless the run is done."""
        return [path for name in result_names(self.path) if (path := self.result(name)) is not None]

    def labels(self, method: str) -> Path | None:
        """Return the path of a method's answer; None without one.

        Comparisons have them.
        """
        return self.result(LABELS.format(method))

    def keeps_labels(self) -> bool:
        """Tell whether a comparison holds answers of methods.

        Those of earlier versions do not.
        """
        before, after = LABELS.split("{}")
        return any(path.name.startswith(before) and path.name.endswith(after) for path in self.results())

    def summary(self) -> dict[str, Any] | None:
        """Return the summary; None unless the run is done."""
        path = self.result(SUMMARY)
        return None if path is None else read_json(path)

    def partial(self) -> dict[str, Any] | None:
        """Return what is known so far, where the kind tells.

        A sweep does, whatever its state.
        """
        return read_json(self.path / PARTIAL)

    def log(self, most: int = 20_000) -> str:
        """Return the end of the log, at most ``most`` bytes."""
        try:
            with open_to_read(self.path / LOG) as stream:
                stream.seek(max(0, stream.seek(0, os.SEEK_END) - most))
                return stream.read().decode(errors="replace")
        except OSError:
            return ""


def result_names(folder: Path) -> list[str]:
    """Return the names of files that are results, whole or not."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [name for name in names if not name.startswith(".") and name not in _OURS and (folder / name).is_file()]


_TEXTS = ("kind", "title", "dataset")


def _is_spec(spec: Mapping[str, Any]) -> bool:
    """Tell whether a spec has all that every run has."""
    inputs, seed = spec.get("inputs"), spec.get("seed")
    objects = (spec.get("config"), spec.get("versions", {}))  # early versions wrote no versions
    if not all(isinstance(spec.get(name), str) for name in _TEXTS) or not all(isinstance(o, dict) for o in objects):
        return False
    if not isinstance(inputs, dict) or not isinstance(seed, int) or not is_time(spec.get("created")):
        return False
    needed = all(isinstance(inputs.get(name), str) for name in ("name", "data"))
    optional = all(isinstance(inputs.get(name), (str, type(None))) for name in ("truth", "truth_name"))
    return needed and optional and isinstance(inputs.get("reading"), dict)


def is_time(value: object) -> bool:
    """Tell whether a value can be a time in Unix seconds."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < _LATEST


_LATEST = 250_000_000_000  # the year 9892: dates go no further


Name = Literal["queued", "running", "done", "cancelled", "failed"]

STATE = "state.json"
WORKER = "worker.json"
CANCEL = "cancel"
FINISH = "finish"
"""Asks a sweep to end with what it has."""
UNREADABLE = "The state of this run is damaged and cannot be read. Start the run over, or delete it."
DIED = "The worker stopped before it was done: it was killed, or the machine ran out of memory or power."


@dataclass(frozen=True)
class State:
    """State of a run.

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
    worked : float
        Seconds of work before ``started``, if it was resumed from a checkpoint.
    cancelling : bool
        Whether it was asked to stop and still works.
    damaged : bool
        Whether it failed because its state or its results are not what was written.
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
    worked: float = 0.0
    cancelling: bool = False
    damaged: bool = False

    @property
    def seconds(self) -> float:
        """Seconds of work from its beginning to its end, breaks left out."""
        if self.started is None or self.ended is None:
            return self.worked
        return self.worked + max(self.ended - self.started, 0.0)

    @property
    def word(self) -> str:
        """The state in a word; "damaged" for a run that is."""
        return "damaged" if self.damaged else self.state

    @property
    def active(self) -> bool:
        """Whether it runs or waits to run."""
        return self.state in ("queued", "running")

    @property
    def resumable(self) -> bool:
        """Whether it can be resumed: it was cancelled or failed."""
        return self.state in ("cancelled", "failed")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**asdict(self), "resumable": self.resumable}


def write_state(folder: Path, state: State, *, durable: bool = False) -> None:
    """Replace the state of a run atomically."""
    write_private_json(sealed(asdict(state)), folder / STATE, durable=durable)


def read_state(folder: Path, created: float) -> State:
    """Return the state; a run whose worker is dead has failed.

    The file is read again after the worker was found dead, as it may have ended well in between.
    """
    state = _stored_state(folder, created)
    while state.active:
        worker = worker_of(folder)
        if worker is None or worker.alive:
            if worker is None and state.state != "queued":
                return _dead_state(folder, state)
            return replace(state, cancelling=True) if (folder / CANCEL).exists() else state
        again = _stored_state(folder, created)
        if again == state:
            return _dead_state(folder, state)
        state = again
    if state.state == "done" and (lost := checksums.damaged(folder, thorough=False)):
        return replace(state, state="failed", reason=_lost(lost), share=0.0, damaged=True)
    return state


def worker_of(folder: Path) -> Worker | None:
    """Return the process that works on a run or did so last."""
    return Worker.from_dict(read_json(folder / WORKER))


def _dead_state(folder: Path, state: State) -> State:
    changes = {"state": "failed", "reason": DIED}
    if (folder / CANCEL).exists():  # asked to stop, and gone before it could say so
        changes = {"state": "cancelled", "reason": ""}
    return State(**{**asdict(state), **changes, "step": "", "seconds_left": None, "ended": _last_written(folder)})


def _last_written(folder: Path) -> float | None:
    times = []
    for name in (STATE, "progress.jsonl", "log.txt"):
        try:
            times.append((folder / name).lstat().st_mtime)
        except OSError:
            continue
    return max(times, default=None)


def _stored_state(folder: Path, created: float) -> State:
    content = read_json(folder / STATE) or {}
    known = {item.name for item in fields(State)} - {"cancelling", "damaged"}
    kept = {name: value for name, value in content.items() if name in known}
    if not _is_state(kept):
        return State("failed", UNREADABLE, created=created, damaged=True)
    return State(**{**kept, "created": created})


def _is_state(content: Mapping[str, Any]) -> bool:
    """Tell whether all that a state says is of its kind."""
    if "state" not in content or content["state"] not in list(get_args(Name)):
        return False
    texts = all(isinstance(content.get(name, ""), str) for name in ("reason", "step", "device"))
    times = all(content.get(name) is None or is_time(content[name]) for name in ("started", "ended", "seconds_left"))
    share, worked = content.get("share", 0.0), content.get("worked", 0.0)
    return texts and times and is_time(worked) and is_time(share) and share <= 1


def _lost(names: list[str]) -> str:
    verb = "is" if len(names) == 1 else "are"
    return (
        f"{listing(names, 3)} {verb} damaged: no longer there, or not what this run wrote. "
        "Start the run over to make its results again."
    )
