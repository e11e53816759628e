"""Trainings on a page: records so far, outcome, names, tables."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from deem_core import Alarm
from deem_core.answers import StoredAnswer
from deem_core.files.tables import row_names
from deem_core.model import AUTO, Record
from deem_core.runs import FusionSummary, Run, agreement, differing_rows, sweep_beside
from deem_core.text import clip
from deem_core.training import alarms_of as training_alarms
from deem_core.training import curves_judged
from deem_core.typing import Floats
from deem_core.votes import NO_VOTE
from studio import jobs, text
from studio.data.datasets import Opened
from studio.rates import sweeps
from studio.train.settings import method_title
from studio.workspace import workspace

MOST_ROWS = 500
"""Rows of a table of overruled rows."""
MOST_LETTERS = 80
"""Letters of a note in the table of runs."""


# ---------------------------------------------------------------------- while it runs


class _Tail:
    """Records of a run, read on from the last position."""

    def __init__(self) -> None:
        self.lock = Lock()  # several tabs look at the same run
        self.offset = 0
        self.records: dict[tuple[int, int], Record] = {}

    def read(self, run: Run) -> list[Record]:
        with self.lock:
            return self._read(run)

    def _read(self, run: Run) -> list[Record]:
        latest, offset = run.records(self.offset)
        if offset < self.offset:  # the run was started over
            self.records = {}
        self.offset = offset
        self.records |= {(record.restart, record.update): record for record in latest}  # a resumed run repeats some
        return [self.records[key] for key in sorted(self.records)]


@st.cache_resource(max_entries=20, show_spinner=False)
def _tail(run_id: str) -> _Tail:
    return _Tail()


def records(run: Run) -> list[Record]:
    """Return what a training has recorded so far, restart by restart."""
    return _tail(run.id).read(run)


def pace(run: Run) -> float | None:
    """Return updates per second over all restarts, from the last records."""
    all_records = records(run)
    latest: dict[int, Record] = {record.restart: record for record in all_records}
    done = sum(record.update for record in latest.values())
    seconds = max((record.seconds for record in latest.values()), default=0.0)
    return done / seconds if seconds > 0 else None


# ---------------------------------------------------------------------- what it found


def summary(run: Run) -> FusionSummary | None:
    """Return what a training did and found.

    None unless it is done and says all that pages show.
    """
    return FusionSummary.of(run)


def outcome(run: Run, opened: Opened) -> StoredAnswer | None:
    """Return the labels of a run; None unless it is done."""
    path = run.result("result.parquet")
    return None if path is None else _outcome(run.id, path, opened.reading.votes.n_classes)


@st.cache_resource(max_entries=8, show_spinner=False)
def _outcome(run_id: str, _path: Any, n_classes: int) -> StoredAnswer:
    return StoredAnswer(_path, n_classes)


def overruled(labels: StoredAnswer, opened: Opened) -> tuple[int, pd.DataFrame]:
    """Return the number of overruled unanimous rows, and the first ones."""
    votes = opened.reading.votes
    rows = np.flatnonzero(votes.unanimous & (labels.codes != labels.majority) & (labels.codes != NO_VOTE))
    first_rows = rows[:MOST_ROWS]
    names = np.array([*map(str, votes.classes), ""], object)
    frame = pd.DataFrame({"row": first_rows + 1})
    if votes.has_ids:
        frame["id"] = row_names(votes, first_rows).to_pylist()
    frame["all votes"] = names[labels.majority[first_rows]]
    frame["fused label"] = names[labels.codes[first_rows]]
    frame["confidence"] = labels.confidence[first_rows]
    frame["votes cast"] = votes.votes_per_row[first_rows]
    return len(rows), frame


def difference(one: Run, other: Run, opened: Opened) -> float | None:
    """Return the share of rows that two runs label differently.

    None unless both are done.
    """
    labels = [outcome(run, opened) for run in (one, other)]
    if labels[0] is None or labels[1] is None or not opened.reading.votes.n_rows:
        return None
    return float((labels[0].codes != labels[1].codes).mean())


def confidence_counts(labels: StoredAnswer) -> tuple[Floats, NDArray[np.int64]]:
    """Return bin edges and rows per bin of the confidence."""
    finite = labels.confidence[np.isfinite(labels.confidence)]
    counts, edges = np.histogram(finite, bins=40, range=(0.0, 1.0))
    return edges, counts


def judged(run: Run) -> bool:
    """Return whether the energy curves of a training are judged."""
    return curves_judged(run.config.get("method"))


def alarms_of(run: Run, opened: Opened, summary: FusionSummary | None) -> list[Alarm]:
    """Return the alarms of a training, and of its labels."""
    all_records = records(run)
    if summary is None:
        return training_alarms(opened.reading.votes, all_records, run.config)
    swept = sweep_beside(workspace(), run, summary)
    sweep = None if swept is None else swept.sweep
    settings = {**summary.training.setting_values, "method": summary.training.method}
    return training_alarms(
        opened.reading.votes.without_truth(),
        all_records,
        settings,
        summary.training.restarts,
        sweep=sweep,
        instead=summary.instead,
        labels=summary.alarms,
    )


# ---------------------------------------------------------------------- runs of a dataset


def title_of(config: Mapping[str, Any]) -> str:
    """Return what people call a training with these settings."""
    parts = [method_title(config.get("method", "deem"))]
    rate = config.get("learning_rate")
    if isinstance(rate, (int, float)):
        parts.append(f"rate {rate:g}")
    elif rate is not None:
        parts.append("rate from a sweep")
    if config.get("n_layers") is not None:
        parts.append(text.count(config["n_layers"], "layer"))
    if config.get("start", AUTO) != AUTO:
        parts.append(f"start: {config['start']}")
    if config.get("near_copies", "guard") != "guard":
        parts.append(f"near-copies: {config['near_copies']}")
    if config.get("draws"):
        parts.append(text.count(config["draws"], "draw"))
    if config.get("gold") is not None:
        parts.append("gold rows")
    return " · ".join(parts)


def asks_for_settings(run: Run | None) -> bool:
    """Return whether a training is to be set up next.

    There is none, or a rate was chosen since.
    """
    rate = sweeps.chosen_rate()
    return run is None or (rate is not None and not run.is_active() and run.config.get("learning_rate") != rate)


def fingerprint(runs: Sequence[Run]) -> str:
    """Return a short hash of the ids of runs."""
    return hashlib.sha256(" ".join(run.id for run in runs).encode()).hexdigest()[:12]


def names(runs: Sequence[Run]) -> dict[str, str]:
    """Return run id → name, numbered where several share one.

    Numbers count from the oldest, so that they stay when another run is made.
    """
    own = {run.id: jobs.title(run) for run in sorted(runs, key=lambda run: run.created)}
    alike: dict[str, list[str]] = {}
    for run_id, name in own.items():
        alike.setdefault(name, []).append(run_id)
    return {
        run_id: name if len(alike[name]) == 1 else f"{name} ({alike[name].index(run_id) + 1})"
        for run_id, name in own.items()
    }


def runs_table(runs: list[Run]) -> pd.DataFrame:
    """Return a row for each run: names, notes and results.

    Without columns that nobody has filled.
    """
    rows, called = [], names(runs)
    for run in runs:
        now, known, said = run.state(), summary(run), run.annotations()
        evaluation = None if known is None else known.evaluation
        rows.append(
            {
                "run": called[run.id],
                "baseline": "Baseline" if said.pinned is not None else "",
                "state": [jobs.look(run, now)[2]],
                "when": jobs.when(run),
                "took": "–" if known is None else text.duration(known.training.seconds),
                "changed": "–" if known is None else text.count(known.answer.changed),
                "accuracy": "–" if evaluation is None else text.percent(evaluation.accuracy),
                "tags": list(said.tags),
                "note": clip(said.note.replace("\n", " "), MOST_LETTERS),
            }
        )
    table = pd.DataFrame(rows)
    unsaid = [name for name in ("baseline", "tags", "note") if not table[name].map(len).any()]
    return table.drop(columns=unsaid)


def same_labels(one: Run, other: Run, opened: Opened) -> tuple[float, int] | None:
    """Return the share of equal labels, and how many differ."""
    labels = [outcome(run, opened) for run in (one, other)]
    if labels[0] is None or labels[1] is None:
        return None
    codes = [stored.codes for stored in labels if stored is not None]
    return agreement(codes[1:], codes[0])[0], len(differing_rows(codes))
