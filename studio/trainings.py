"""Trainings on a page: what a run has said so far, what it found, and how two runs differ."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet
import streamlit as st
from numpy.typing import NDArray

from deem_core.diagnostics.alarms import Alarm, alarms
from deem_core.records import Record
from deem_core.runs import Run
from deem_core.votes import NO_VOTE
from studio import jobs, sweeps, text
from studio.datasets import Opened

METHODS = {"deem": "DEEM", "irbm": "iRBM, exact", "irbm_cd": "iRBM, by sampling"}
MOST_ROWS = 500
"""Rows of a table of overruled rows."""


# ---------------------------------------------------------------------- while it runs


class _Tail:
    """The records of a run, read on from where the last look ended."""

    def __init__(self) -> None:
        self.lock = Lock()  # several tabs look at the same run
        self.offset = 0
        self.records: dict[tuple[int, int], Record] = {}

    def read(self, run: Run) -> list[Record]:
        with self.lock:
            return self._read(run)

    def _read(self, run: Run) -> list[Record]:
        lines, offset = run.progress(self.offset)
        if offset < self.offset:  # the run was started over
            self.records = {}
        self.offset = offset
        for line in lines:
            if line.get("type") == "record" and "shares" in line:
                record = Record.from_dict({name: line[name] for name in _FIELDS})
                self.records[record.restart, record.update] = record  # a resumed run repeats some: the later counts
        return [self.records[key] for key in sorted(self.records)]


_FIELDS = tuple(Record.__dataclass_fields__)


@st.cache_resource(max_entries=20, show_spinner=False)
def _tail(run_id: str) -> _Tail:
    return _Tail()


def records(run: Run) -> list[Record]:
    """Return what a training has recorded so far, restart by restart."""
    return _tail(run.id).read(run)


def pace(run: Run) -> float | None:
    """Return updates per second over all restarts, from the last records."""
    known = records(run)
    latest: dict[int, Record] = {record.restart: record for record in known}
    done = sum(record.update for record in latest.values())
    seconds = max((record.seconds for record in latest.values()), default=0.0)
    return done / seconds if seconds > 0 else None


# ---------------------------------------------------------------------- what it found


@dataclass(frozen=True)
class Outcome:
    """The labels of a finished training beside the majority vote.

    Attributes
    ----------
    fused, majority : (n,) int32
        Class codes; -1 for a row without votes.
    confidence : (n,) float32
        NaN for a row without votes.
    changes : (K, K) int64
        Rows by majority vote (first) and fused label (second).
    """

    fused: NDArray[np.int32]
    majority: NDArray[np.int32]
    confidence: NDArray[np.float32]
    changes: NDArray[np.int64]


_NEEDED = {"method", "settings", "restarts", "near_copies", "hedged", "device", "seconds"} | {
    *("n_rows", "n_classes", "class_shares", "majority_shares"),
    *("changed", "overruled", "mean_confidence", "agreement"),
}


def summary(run: Run) -> dict[str, Any] | None:
    """Return what a training found in short; None unless it is done and says all that pages show."""
    found = run.summary()
    evaluation = (found or {}).get("evaluation")
    evaluated = evaluation is None or {"methods", "gains", "rows"} <= set(evaluation)
    return found if found is not None and set(found) >= _NEEDED and evaluated else None


def outcome(run: Run, opened: Opened) -> Outcome | None:
    """Return the labels of a run; None unless it is done."""
    path = run.result("result.parquet")
    return None if path is None else _outcome(run.id, path, opened.reading.votes.n_classes)


@st.cache_resource(max_entries=8, show_spinner=False)
def _outcome(run_id: str, _path: Any, n_classes: int) -> Outcome:
    table = pyarrow.parquet.read_table(_path, columns=["fused", "majority", "confidence"])
    fused, majority = (table[name].to_numpy().astype(np.int32) for name in ("fused", "majority"))
    voted = fused != NO_VOTE
    pairs = majority[voted].astype(np.int64) * n_classes + fused[voted]
    changes = np.bincount(pairs, minlength=n_classes**2).reshape(n_classes, n_classes)
    return Outcome(fused, majority, table["confidence"].to_numpy().astype(np.float32), changes)


def overruled(found: Outcome, opened: Opened) -> tuple[int, pd.DataFrame]:
    """Return how many unanimous rows have another fused label, and the first of them with all votes."""
    votes = opened.reading.votes
    rows = np.flatnonzero(votes.unanimous & (found.fused != found.majority) & (found.fused != NO_VOTE))
    shown = rows[:MOST_ROWS]
    names = np.array([*map(str, votes.classes), ""], object)
    frame = pd.DataFrame({"row": shown + 1, "id": [str(votes.ids[row]) for row in shown]})
    frame["all votes"] = names[found.majority[shown]]
    frame["fused label"] = names[found.fused[shown]]
    frame["confidence"] = found.confidence[shown]
    frame["votes cast"] = votes.votes_per_row[shown]
    return len(rows), frame


def confidence_counts(found: Outcome) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return bin edges and rows per bin of the confidence."""
    known = found.confidence[np.isfinite(found.confidence)]
    counts, edges = np.histogram(known, bins=40, range=(0.0, 1.0))
    return edges, counts


def plain_settings(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return setting → value."""
    return {name: item["value"] for name, item in summary.get("settings", {}).items()}


def alarms_of(run: Run, opened: Opened, summary: Mapping[str, Any] | None) -> list[Alarm]:
    """Return the alarms of a training, also while it runs."""
    known = records(run)
    if summary is None:
        return alarms(known, run.config)
    return alarms(
        known,
        plain_settings(summary),
        summary["restarts"],
        overruled=summary["overruled"],
        unanimous=opened.facts.n_unanimous,
    )


# ---------------------------------------------------------------------- runs of a dataset


def title_of(config: Mapping[str, Any]) -> str:
    """Return what people call a training with these settings."""
    parts = [METHODS.get(config.get("method", "deem"), "DEEM")]
    rate = config.get("learning_rate")
    if isinstance(rate, (int, float)):
        parts.append(f"rate {rate:g}")
    elif rate is not None:
        parts.append("rate by sweep")
    if config.get("n_layers") is not None:
        parts.append(text.count(config["n_layers"], "layer"))
    if config.get("near_copies", "guard") != "guard":
        parts.append(f"near-copies: {config['near_copies']}")
    return " · ".join(parts)


def asks_for_settings(run: Run | None) -> bool:
    """Return whether the next thing to do is to set up a training: there is none, or a rate was chosen since."""
    rate = sweeps.chosen_rate()
    return run is None or (rate is not None and not run.is_active() and run.config.get("learning_rate") != rate)


def fingerprint(runs: Sequence[Run]) -> str:
    """Return a short word that is the same for the same runs only."""
    return hashlib.sha256(" ".join(run.id for run in runs).encode()).hexdigest()[:12]


def runs_table(runs: list[Run]) -> pd.DataFrame:
    """Return a row for each run: state, when, and what it found."""
    rows = []
    for run in runs:
        now, found = run.state(), run.summary() or {}
        seconds, changed = found.get("seconds"), found.get("changed")
        accuracy = (found.get("evaluation") or {}).get("accuracy")
        rows.append(
            {
                "run": jobs.title(run),
                "state": [jobs.STATE_LOOKS[now.state][2]],
                "when": jobs.when(run),
                "took": "–" if seconds is None else text.duration(seconds),
                "changed": "–" if changed is None else text.count(changed),
                "accuracy": "–" if accuracy is None else text.percent(accuracy),
            }
        )
    return pd.DataFrame(rows)


def differences(one: Run, other: Run) -> pd.DataFrame:
    """Return the settings in which two runs differ, as they were resolved where they are done."""
    first, second = (_settings(run) for run in (one, other))
    names = [name for name in {**first, **second} if first.get(name) != second.get(name)]
    return pd.DataFrame(
        {
            "setting": names,
            "first run": [str(first.get(name, "–")) for name in names],
            "second run": [str(second.get(name, "–")) for name in names],
        }
    )


def same_labels(one: Run, other: Run, opened: Opened) -> tuple[float, int] | None:
    """Return the share of rows with the same label in two finished runs and the number that differ."""
    found = [outcome(run, opened) for run in (one, other)]
    if found[0] is None or found[1] is None:
        return None
    voted = found[0].fused != NO_VOTE
    same = found[0].fused[voted] == found[1].fused[voted]
    return float(same.mean()) if len(same) else 1.0, int((~same).sum())


def _settings(run: Run) -> dict[str, Any]:
    summary = run.summary()
    asked = {"method": run.config.get("method", "deem"), **run.config}
    return asked if summary is None else {**asked, **plain_settings(summary)}
