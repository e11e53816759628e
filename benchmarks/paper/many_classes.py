"""Many classes: accuracy, time and memory with a thousand classes (paper, ImageNet ensemble)."""

from __future__ import annotations

from typing import Any

from benchmarks.paper import published
from benchmarks.paper.context import Context
from benchmarks.paper.data import UNREPRODUCIBLE, imagenet
from benchmarks.paper.drawing import grouped_points
from benchmarks.paper.methods import table_rows
from benchmarks.paper.outcome import Outcome, Table
from deem_core.config import Shape, TrainConfig, resolve

RUNS = 3  # an iRBM of a thousand classes trains for half an hour on two cores
METHODS = ("mv", "lsml", "ds", "ebcc", "hlm", "la2", "irbm", "irbm_cd", "deem")


def run(context: Context) -> Outcome:
    """Run all methods, each in a process of its own so that memory is its own."""
    source = imagenet(context)
    rows = [_beside_paper(row) for row in table_rows(context, source, METHODS, runs=RUNS, own_process=True)]
    quick = " In this quick run all methods share one process, so memory only ever grows." if context.quick else ""
    notes = [
        f"{source.name}: {source.about}; {source.votes.n_rows:,} rows, {source.votes.n_classes:,} classes.",
        f"The real set cannot be had: {UNREPRODUCIBLE['ImageNet']}. The paper's numbers ({published.IMAGENET_TABLE}) "
        "are of another set and stand beside for the order only.",
        f"Memory is the peak of a process that does nothing else, libraries included.{quick}",
        "The paper could not run EBCC at this size.",
    ]
    if resolve(TrainConfig(), Shape.of(source.votes)).config.n_layers == 0:
        notes.append("With so few rows per class the default gives DEEM no layer: it is the contrastive iRBM then.")
    figures = {
        "Accuracy": grouped_points(rows, "method", "accuracy", "sd", title="accuracy (%)"),
        "Time": grouped_points(rows, "method", "seconds", title="seconds", log=True),
    }
    return Outcome([Table("many_classes", "Accuracy, seconds and memory", rows)], figures, notes)


def _beside_paper(row: dict[str, Any]) -> dict[str, Any]:
    accuracy, sd = published.IMAGENET.get(row["key"], (None, None))
    own = {name: value for name, value in row.items() if name != "note"}
    return {**own, "paper accuracy": accuracy, "paper sd": sd, "note": row["note"]}
