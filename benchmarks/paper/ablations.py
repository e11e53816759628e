"""Ablations: one setting changed at a time, single restarts so that the spread shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import t as student

from benchmarks.paper.context import Context
from benchmarks.paper.data import Source, ablation_sets
from benchmarks.paper.drawing import paired
from benchmarks.paper.outcome import Outcome, Pivot, Table
from benchmarks.paper.trained import trained, trained_row
from deem_core.model.config import Shape, TrainConfig, resolve
from deem_core.training.near_copies import guard

CHANGES: dict[str, tuple[Any, ...]] = {
    "near_copies": ("guard", "keep", "collapse"),
    "chain_start": ("data", "persistent"),
    "n_layers": (1, 0, 2, 3),
    "momentum": (0.0, 0.9),
    "updates": (360, 150, 720),
}
"""Setting → values, the default with a layer first."""
RUNS = 3
SINGLE = {"restarts": 1}
LAYERED = {"n_layers": 1}  # all but the depth itself are tried with one layer, also where few rows would mean none
LEVEL = 0.05
"""Of Student's two-sided test over the sets: a mean difference beyond it is called clear."""


def run(context: Context) -> Outcome:
    """Train with every setting changed by itself."""
    sources = ablation_sets(context)
    found = {setting: setting_rows(context, sources, setting, values) for setting, values in CHANGES.items()}
    near = ", ".join(source.name for source in sources if _near_copies(source))
    return outcome(
        found,
        CHANGES,
        [
            *(f"{source.name}: {source.about}; {source.votes.n_rows:,} rows." for source in sources),
            "With momentum m the rate is (1 − m) times the default, so that all runs go equally far.",
            f"Near-copies are found in {near or 'no set'}; elsewhere there is nothing to do, and the difference is 0.",
            "The paper tries some of this; where chains start, the number of updates and what is done about "
            "near-copies are questions of ours.",
        ],
    )


def setting_rows(
    context: Context, sources: Sequence[Source], setting: str, values: Sequence[Any]
) -> list[dict[str, Any]]:
    """Return a row for every set and value of a setting."""
    rows = []
    for source in sources:
        for value in values:
            asked = _asked(source, setting, value)
            units = [trained(context, source, seed, **asked) for seed in context.seeds(RUNS)]
            rows.append({"set": source.name, setting: value, **trained_row(units)})
    return rows


def outcome(
    found: Mapping[str, list[dict[str, Any]]], changes: Mapping[str, tuple[Any, ...]], notes: list[str]
) -> Outcome:
    """Return tables, paired differences and their figures, of setting → rows."""
    tables, figures, means = [], {}, []
    for setting, values in changes.items():
        rows = found[setting]
        pivot = Pivot(f"{setting}: accuracy in per cent", "set", setting, "accuracy", "sd")
        tables.append(Table(setting, f"{setting}: all numbers", rows, (pivot,)))
        apart = _differences(rows, setting, values[0])
        own = [_mean_row(setting, value, values[0], apart) for value in values[1:]]
        means += own
        drawn = [{**row, setting: value} for row, value in zip(own, values[1:], strict=True) if row["sets"]]
        figures[setting] = paired(apart, drawn, setting, title=f"accuracy minus that of {values[0]} (points)")
    summary = Table("differences", "Accuracy minus that of the default, paired by set", means)
    every = [
        "Each run is one restart, where the default answers with the consensus of five; spreads are over seeds.",
        "Differences are paired: on every set the mean over seeds minus that of the default, then mean and standard "
        f"error over the sets. Beyond the {LEVEL:.0%} level of Student's test they are called clear; draws of one "
        "simulation are not as independent as this takes them to be.",
        "The learning rate and number of updates stay at what the data suggest unless they are changed.",
    ]
    return Outcome([summary, *tables], figures, [*notes, *every], [_sentence(row) for row in means])


def _asked(source: Source, setting: str, value: Any) -> dict[str, Any]:
    """Return the settings of a training; a value that the data suggest anyway is not trained once more."""
    plain: dict[str, Any] = {**LAYERED, **SINGLE}
    shape = Shape.of(source.votes)
    usual = resolve(TrainConfig(**plain), shape).config
    changed = {**plain, setting: value}
    if setting == "momentum" and value:
        changed |= {"learning_rate": float(usual.learning_rate or 0) * (1 - value), "updates": usual.updates}
    same = resolve(TrainConfig(**changed), shape).config == usual
    alone = setting == "near_copies" and not _near_copies(source)  # nothing to guard against, keep or collapse
    return plain if same or alone else changed


def _near_copies(source: Source) -> bool:
    """Return whether the guard finds near-copies."""
    return bool(guard(source.votes.without_truth(), "guard", np.random.default_rng(0)).cliques)


def _differences(rows: list[dict[str, Any]], setting: str, default: Any) -> list[dict[str, Any]]:
    """Return, by set and value, the accuracy minus that of the default on the same set."""
    base = {row["set"]: row["accuracy"] for row in rows if row[setting] == default}
    return [
        {**row, "difference": row["accuracy"] - base[row["set"]]}
        for row in rows
        if row[setting] != default and None not in (row["accuracy"], base[row["set"]])
    ]


def _mean_row(setting: str, value: Any, default: Any, apart: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the mean difference over the sets with its standard error."""
    own = np.array([row["difference"] for row in apart if row[setting] == value])
    row: dict[str, Any] = {"setting": setting, "value": str(value), "default": str(default), "sets": len(own)}
    numbers = dict.fromkeys(("difference", "standard error", "smallest", "largest"))
    if len(own):
        numbers |= {"difference": float(own.mean()), "smallest": float(own.min()), "largest": float(own.max())}
    note = "One set: no standard error." if len(own) == 1 else "" if len(own) else "No run."
    if len(own) > 1:
        numbers["standard error"] = float(own.std(ddof=1) / np.sqrt(len(own)))
    return {**row, **numbers, "note": note}


def _sentence(row: dict[str, Any]) -> str:
    """Return whether a value differs from the default, and by how much."""
    told = f"{row['setting']} {row['value']} instead of {row['default']}"
    if row["difference"] is None:
        return f"{told}: no run."
    amount = f"{row['difference']:+.2f}"
    error = row["standard error"]
    if error is None:
        return f"{told}: {amount} points on one set."
    clear = abs(row["difference"]) > student.ppf(1 - LEVEL / 2, row["sets"] - 1) * error
    words = "clear" if clear else "within the noise"
    range_ = f"{row['smallest']:+.1f} to {row['largest']:+.1f}"
    return f"{told}: {amount} ± {error:.2f} points over {row['sets']} sets ({range_}), {words}."
