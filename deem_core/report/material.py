"""Material: all that a report rests on, gathered from the workspace once; nothing is trained here."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pyarrow.parquet
from numpy.typing import NDArray

from deem_core.comparing import Comparison
from deem_core.describe import Facts, describe
from deem_core.diagnostics.alarms import Alarm, alarms
from deem_core.diagnostics.checkup import Finding, checkup
from deem_core.diagnostics.inspection import Inspection
from deem_core.errors import InputError
from deem_core.readers import Reading
from deem_core.records import Record
from deem_core.runs import Run, Workspace
from deem_core.runs.run import RESULT
from deem_core.sweeping.result import Sweep
from deem_core.votes import NO_VOTE

BINS = 40
"""Bins of the histogram of confidence."""

MOST_RECORDS = 120
"""Records of a restart that a report keeps at most; curves look the same."""

MOST_RESTARTS = 20
"""Restarts whose curves a report keeps."""

_NEEDED = frozenset(
    {
        *("method", "settings", "restarts", "warnings", "near_copies", "hedged", "fallback", "device", "seconds"),
        *("n_rows", "n_learners", "n_classes", "class_shares", "majority_shares"),
        *("changed", "overruled", "mean_confidence", "agreement"),
    }
)
_FIELDS = tuple(item.name for item in fields(Record))


@dataclass(frozen=True)
class Labels:
    """The labels of a run in numbers.

    Attributes
    ----------
    changes : (K, K) int64
        Rows by majority vote (first) and fused label (second).
    edges : (B + 1,) float64
    confidence : (B,) int64
        Rows by the confidence of their label.
    """

    changes: NDArray[np.int64]
    edges: NDArray[np.float64]
    confidence: NDArray[np.int64]


@dataclass(frozen=True)
class Swept:
    """A sweep of learning rates beside a training.

    Attributes
    ----------
    sweep : Sweep
    run : str, optional
        Id of the sweep's own run; None for the sweep that the training itself made.
    """

    sweep: Sweep
    run: str | None


@dataclass(frozen=True)
class Material:
    """What a report rests on; what was not computed is None.

    Attributes
    ----------
    run : Run
        A finished train run.
    summary : dict
    reading : Reading
    facts : Facts
    findings : tuple of Finding
    records : tuple of Record
        Of at most `MOST_RESTARTS` restarts, at most `MOST_RECORDS` each.
    labels : Labels
    alarms : tuple of Alarm
    swept : Swept, optional
    inspection : Inspection, optional
    comparison : Comparison, optional
    compare_run : str, optional
        Id of the run that compared.
    """

    run: Run
    summary: dict[str, Any]
    reading: Reading
    facts: Facts
    findings: tuple[Finding, ...]
    records: tuple[Record, ...]
    labels: Labels
    alarms: tuple[Alarm, ...]
    swept: Swept | None
    inspection: Inspection | None
    comparison: Comparison | None
    compare_run: str | None

    @property
    def classes(self) -> list[str]:
        """The classes as text."""
        return [str(label) for label in self.reading.votes.classes]

    @property
    def settings(self) -> dict[str, Any]:
        """Setting → value."""
        return {name: item["value"] for name, item in self.summary["settings"].items()}

    @property
    def evaluation(self) -> dict[str, Any] | None:
        """What truth says about the labels; None without truth."""
        found: dict[str, Any] | None = self.summary.get("evaluation")
        return found if found and {"methods", "gains", "rows"} <= set(found) else None


def gather(workspace: Workspace, run: Run) -> Material:
    """Return what there is about a train run.

    Raises
    ------
    InputError
        If it is not a finished training, or its file is gone.
    """
    summary = _summary(run)
    reading = _read(workspace, run)
    facts = describe(reading.votes)
    records = _records(run)
    comparison, compare_run = _comparison(workspace, run)
    settings = {name: item["value"] for name, item in summary["settings"].items()}
    found = alarms(records, settings, summary["restarts"], overruled=summary["overruled"], unanimous=facts.n_unanimous)
    return Material(
        run=run,
        summary=summary,
        reading=reading,
        facts=facts,
        findings=checkup(reading.votes.without_truth()),
        records=tuple(_thinned(records)),
        labels=_labels(run, reading.votes.n_classes),
        alarms=tuple(found),
        swept=_swept(workspace, run, summary),
        inspection=_inspection(workspace, run),
        comparison=comparison,
        compare_run=compare_run,
    )


# ---------------------------------------------------------------------- the run itself


def _summary(run: Run) -> dict[str, Any]:
    name = f"Run {run.id[:12]}"
    if run.kind != "train":
        raise InputError(f"{name} is of the kind {run.kind}; a report is about a run of the kind train.")
    state = run.state()
    if state.state != "done":
        share = f" ({state.share:.0%} done)" if state.active else ""
        why = f" {state.reason}" if state.reason else ""
        todo = "Wait until it is done" if state.active else f"Resume it: python -m deem_core runs resume {run.id[:12]}"
        raise InputError(f"{name} is {state.state}{share}, and a report needs a finished training.{why} {todo}.")
    summary = run.summary()
    if summary is None or not set(summary) >= _NEEDED:
        raise InputError(f"The results of {name} are damaged or of an earlier version; train once more.")
    return summary


def _read(workspace: Workspace, run: Run) -> Reading:
    inputs = run.spec["inputs"]
    for name, digest in ((inputs.get("name"), inputs.get("data")), (inputs.get("truth_name"), inputs.get("truth"))):
        if digest is None:
            continue
        try:
            workspace.input(digest)
        except InputError:
            raise InputError(
                f"The file {str(name)!r} of run {run.id[:12]} was deleted from the workspace, and a report needs it. "
                "Bring the same file again."
            ) from None
    return workspace.read_inputs(inputs)


def _records(run: Run) -> list[Record]:
    known: dict[tuple[int, int], Record] = {}
    for line in run.progress()[0]:
        if line.get("type") == "record" and set(_FIELDS) <= set(line):
            record = Record.from_dict({name: line[name] for name in _FIELDS})
            known[record.restart, record.update] = record  # a resumed run repeats some: the later counts
    return [known[key] for key in sorted(known)]


def _thinned(records: list[Record]) -> list[Record]:
    """Return records of the first restarts, every so many; the same ones of all, so that they can be averaged."""
    own: dict[int, list[Record]] = {}
    for record in records:
        own.setdefault(record.restart, []).append(record)
    stride = -(-max(map(len, own.values()), default=1) // MOST_RECORDS)
    return [record for restart in sorted(own)[:MOST_RESTARTS] for record in own[restart][::stride]]


def _labels(run: Run, n_classes: int) -> Labels:
    path = run.result(RESULT)
    if path is None:
        raise InputError(f"The labels of run {run.id[:12]} are gone; train once more.")
    try:
        cells = pyarrow.parquet.read_table(path, columns=["fused", "majority", "confidence"])
    except (OSError, ValueError, KeyError):  # Arrow's own errors are of these kinds
        raise InputError(f"The labels of run {run.id[:12]} are damaged; train once more.") from None
    fused, majority = (cells[name].to_numpy().astype(np.int64) for name in ("fused", "majority"))
    voted = fused != NO_VOTE
    pairs = np.bincount(majority[voted] * n_classes + fused[voted], minlength=n_classes**2)
    sure = cells["confidence"].to_numpy().astype(np.float64)
    counts, edges = np.histogram(sure[np.isfinite(sure)].clip(0, 1), bins=BINS, range=(0.0, 1.0))
    return Labels(pairs.reshape(n_classes, n_classes), edges, counts)


# ---------------------------------------------------------------------- runs beside it


def _done(workspace: Workspace, run: Run, kind: str) -> list[tuple[Run, dict[str, Any]]]:
    """Return the finished runs of a kind on the same dataset with their summaries, newest first."""
    others = workspace.runs(dataset=run.dataset_id, kind=kind)
    return [(other, summary) for other in others if (summary := other.summary()) is not None]


def _swept(workspace: Workspace, run: Run, summary: dict[str, Any]) -> Swept | None:
    """Return the sweep that chose the rate of the run, else the latest one of the same dataset."""
    own = [(None, summary["sweep"])] if summary.get("sweep") else []
    for sweep_run, content in [*own, *((other.id, content) for other, content in _done(workspace, run, "sweep"))]:
        try:
            return Swept(Sweep.from_dict(content), sweep_run)
        except InputError:  # of an earlier version
            continue
    return None


def _inspection(workspace: Workspace, run: Run) -> Inspection | None:
    for other, _ in _done(workspace, run, "inspect"):
        if other.config.get("training") == run.id:
            try:
                return Inspection.load(other.path)
            except InputError:
                continue
    return None


def _comparison(workspace: Workspace, run: Run) -> tuple[Comparison | None, str | None]:
    for other, content in _done(workspace, run, "compare"):
        try:
            return Comparison.from_dict(content), other.id
        except (KeyError, TypeError):  # of an earlier version
            continue
    return None, None
