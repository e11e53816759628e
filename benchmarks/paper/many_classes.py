"""Many classes: accuracy, time and memory with a thousand classes (paper, ImageNet ensemble)."""

from __future__ import annotations

from typing import Any

from benchmarks.paper import published
from benchmarks.paper.context import Context
from benchmarks.paper.data import UNREPRODUCIBLE, Source, imagenet
from benchmarks.paper.drawing import grouped_points
from benchmarks.paper.findings import places
from benchmarks.paper.methods import layered_row, method_row, reference_rows, title
from benchmarks.paper.outcome import Outcome, Table
from deem_core.model.config import Shape, TrainConfig, resolve

RUNS = 1  # two restarts of a thousand classes without a layer train for about ten minutes on two cores
TRAINING = {"restarts": 2}
METHODS = ("mv", "lsml", "ds", "ebcc", "hlm", "la2", "irbm", "irbm_cd", "deem")
SAME = "The same training as the contrastive iRBM, since it has no layer here."


def run(context: Context) -> Outcome:
    """Run all methods, each in a process of its own so that memory is its own."""
    source = imagenet(context)
    bare = resolve(TrainConfig(), Shape.of(source.votes)).config.n_layers == 0
    rows = [_beside_paper(row) for row in _rows(context, source, bare)]
    quick = " In this quick run all methods share one process, so memory only ever grows." if context.quick else ""
    notes = [
        f"{source.name}: {source.about}; {source.votes.n_rows:,} rows, {source.votes.n_classes:,} classes.",
        f"The real set cannot be had: {UNREPRODUCIBLE['ImageNet']}. The paper's numbers ({published.IMAGENET_TABLE}) "
        "are of another set and stand beside for the order only.",
        f"Memory is the peak of a process that does nothing else, libraries included.{quick}",
        "The paper could not run EBCC at this size.",
        "Two restarts are trained here instead of five, once, because of the time they take.",
    ]
    if bare:
        notes.append(
            "With so few rows per class the default gives DEEM no layer: it is the contrastive iRBM then. One layer, "
            "as the paper has it, stands beside."
        )
    figures = {
        "Accuracy": grouped_points(rows, "method", "accuracy", "sd", title="accuracy (%)"),
        "Time": grouped_points(rows, "method", "cpu seconds", title="processor seconds", log=True),
    }
    return Outcome([Table("many_classes", "Accuracy, seconds and memory", rows)], figures, notes, _findings(rows))


def _findings(rows: list[dict[str, Any]]) -> list[str]:
    ran = [row for row in rows if row["runs"]]
    costs = ", ".join(f"{row['method']} {row['seconds']:,.1f} s and {row['memory GB']:.1f} GB" for row in ran)
    return [*places(rows), f"Time and peak of memory: {costs}."]


def _rows(context: Context, source: Source, bare: bool) -> list[dict[str, Any]]:
    """Return a row per method; without layers DEEM is the contrastive iRBM, which is trained once for both."""
    found = {
        method: method_row(context, source, method, runs=RUNS, own_process=True, training=TRAINING)
        for method in METHODS
        if not (bare and method == "deem")
    }
    if bare:
        found["deem"] = {**found["irbm_cd"], "method": title("deem"), "key": "deem", "note": SAME}
        found["deem_layer"] = layered_row(context, source, runs=RUNS, own_process=True, training=TRAINING)
    return [*reference_rows(source), *found.values()]


def _beside_paper(row: dict[str, Any]) -> dict[str, Any]:
    accuracy, sd = published.IMAGENET.get(row["key"], (None, None))
    own = {name: value for name, value in row.items() if name != "note"}
    return {**own, "paper accuracy": accuracy, "paper sd": sd, "note": row["note"]}
