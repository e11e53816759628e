"""Many classes: accuracy, time and memory with a thousand classes (paper, ImageNet ensemble)."""

from __future__ import annotations

from typing import Any

from benchmarks.paper import published
from benchmarks.paper.context import Context
from benchmarks.paper.data import UNREPRODUCIBLE, Source, imagenet
from benchmarks.paper.drawing import grouped_points
from benchmarks.paper.findings import places
from benchmarks.paper.methods import bare, layered_row, method_row, reference_rows
from benchmarks.paper.outcome import Outcome, Table

RUNS = 1
TRAINING = {"restarts": 2}  # one layer of a thousand classes takes a minute of a processor for each
METHODS = ("mv", "lsml", "ds", "ebcc", "hlm", "la2", "irbm", "irbm_cd", "deem")
SAME = "The same training as the contrastive iRBM, since it has no layer here."


def run(context: Context) -> Outcome:
    """Run all methods, each in a process of its own so that memory is its own."""
    source = imagenet(context)
    rows = [_beside_paper(row) for row in _rows(context, source)]
    quick = " In this quick run all methods share one process, so memory only ever grows." if context.quick else ""
    notes = [
        f"{source.name}: {source.about}; {source.votes.n_rows:,} rows, {source.votes.n_classes:,} classes.",
        f"The real set cannot be had: {UNREPRODUCIBLE['ImageNet']}. The paper's numbers ({published.IMAGENET_TABLE}) "
        "are of another set and stand beside for the order only.",
        f"Memory is the peak of a process that does nothing else, libraries included.{quick}",
        "The paper could not run EBCC at this size.",
        "Two restarts are trained here instead of five, once, because of the time they take.",
    ]
    if bare(source):
        notes.append(
            "With so few rows per class the default gives DEEM no layer: it is the contrastive iRBM then. One layer, "
            "as the paper has it, stands beside."
        )
    figures = {
        "Accuracy": grouped_points(rows, "method", "accuracy", "sd", title="accuracy (%)"),
        "Time": grouped_points(rows, "method", "cpu seconds", title="processor seconds", log=True),
    }
    table = Table("many_classes", "Accuracy, seconds and memory, DEEM without and with a layer", rows)
    return Outcome([table], figures, notes, _findings(rows))


def _findings(rows: list[dict[str, Any]]) -> list[str]:
    ran = [row for row in rows if row["runs"]]
    costs = ", ".join(f"{row['method']} {row['seconds']:,.1f} s and {row['memory GB']:.1f} GB" for row in ran)
    layered = places(rows, ours="deem_layer") if any(row["key"] == "deem_layer" for row in rows) else []
    return [*places(rows), *layered, f"Time and peak of memory: {costs}."]


def _rows(context: Context, source: Source) -> list[dict[str, Any]]:
    """Return a row per method; without layers DEEM is the contrastive iRBM, which is trained once for both."""
    found = {
        method: method_row(context, source, method, runs=RUNS, own_process=True, training=TRAINING)
        for method in METHODS
        if not (bare(source) and method == "deem")
    }
    if bare(source):
        found["deem"] = {**found["irbm_cd"], "method": "DEEM, no layer", "key": "deem", "note": SAME}
        found["deem_layer"] = layered_row(context, source, runs=RUNS, own_process=True, training=TRAINING)
    return [*reference_rows(source), *found.values()]


def _beside_paper(row: dict[str, Any]) -> dict[str, Any]:
    accuracy, sd = published.IMAGENET.get(row["key"].removesuffix("_layer"), (None, None))
    own = {name: value for name, value in row.items() if name != "note"}
    return {**own, "paper accuracy": accuracy, "paper sd": sd, "note": row["note"]}
