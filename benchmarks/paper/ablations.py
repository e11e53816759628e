"""Ablations: one setting changed at a time, single restarts so that the spread shows."""

from __future__ import annotations

from typing import Any

from benchmarks.paper.context import Context
from benchmarks.paper.data import Source, ampdata, mniste, tree
from benchmarks.paper.drawing import grouped_points
from benchmarks.paper.outcome import Outcome, Pivot, Table
from benchmarks.paper.trained import trained, trained_row
from deem_core.model.config import Shape, TrainConfig, resolve

CHANGES: dict[str, tuple[Any, ...]] = {
    "n_layers": (0, 1, 2, 3),
    "activation": ("sparsemax", "softmax"),
    "init_scale": (0.5, 1.0, 2.0, 4.0),
    "batch_size": (128, 256, 1024, 4096),
    "momentum": (0.0, 0.5, 0.9),
    "sampler_steps": (1, 2, 5, 10),
    "chain_start": ("data", "persistent"),
    "updates": (50, 150, 360),
    "near_copies": ("guard", "keep", "collapse"),
}
MOST_ROWS = 10_000
RUNS = 3
SINGLE = {"restarts": 1}
LAYERED = {"n_layers": 1}  # all but the depth itself are tried with one layer, also where few rows would mean none


def run(context: Context) -> Outcome:
    """Train with every setting changed by itself."""
    sources = [tree(context, 0)] if context.quick else [tree(context, 0), ampdata(context), mniste(context, MOST_ROWS)]
    tables, figures = [], {}
    for setting, values in CHANGES.items():
        rows = []
        for source in sources:
            for value in values:
                asked = _asked(source, setting, value)
                units = [trained(context, source, seed, **asked) for seed in context.seeds(RUNS)]
                rows.append({"set": source.name, setting: value, **trained_row(units)})
        pivot = Pivot(f"{setting}: accuracy in per cent", setting, "set", "accuracy", "sd")
        tables.append(Table(setting, f"{setting}: all numbers", rows, (pivot,)))
        figures[setting] = grouped_points(rows, setting, "accuracy", "sd", title="accuracy (%)")
    notes = [
        *(f"{source.name}: {source.about}; {source.votes.n_rows:,} rows." for source in sources),
        "Each run is one restart, where the default answers with the consensus of five; spreads are over seeds.",
        "The learning rate and number of updates stay at what the data and the batch size suggest; another momentum "
        "or batch may want another rate.",
        "The paper tries some of this; where chains start, the number of updates and what is done about near-copies "
        "are questions of ours.",
    ]
    return Outcome(tables, figures, notes, [sentence for table in tables for sentence in _findings(table)])


def _asked(source: Source, setting: str, value: Any) -> dict[str, Any]:
    """Return the settings of a training; a value that the data suggest anyway is not trained once more."""
    plain: dict[str, Any] = {**LAYERED, **SINGLE}
    changed, shape = {**plain, setting: value}, Shape.of(source.votes)
    same = resolve(TrainConfig(**changed), shape).config == resolve(TrainConfig(**plain), shape).config
    return plain if same else changed


def _findings(table: Table) -> list[str]:
    """Return the mean over the sets at every value of the setting, and the spread over seeds to see it against."""
    found: dict[Any, list[dict[str, Any]]] = {}
    for row in table.rows:
        if row["accuracy"] is not None:
            found.setdefault(row[table.name], []).append(row)
    means = {value: sum(row["accuracy"] for row in rows) / len(rows) for value, rows in found.items()}
    off = [row["sd"] for rows in found.values() for row in rows if row["sd"] is not None]
    told = ", ".join(f"{value} {accuracy:.1f}" for value, accuracy in means.items())
    against = f"; spread over seeds up to {max(off):.1f}" if off else ""
    return [f"{table.name}: mean accuracy over the sets {told}{against}."]
