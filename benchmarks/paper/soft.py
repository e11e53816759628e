"""Soft votes: DEEM on the most probable classes and on probabilities beside the pools (paper, use of soft labels)."""

from __future__ import annotations

from benchmarks.paper import published
from benchmarks.paper.context import Context
from benchmarks.paper.data import soft_sets
from benchmarks.paper.drawing import grouped_points
from benchmarks.paper.findings import places
from benchmarks.paper.methods import table_rows, title
from benchmarks.paper.outcome import Outcome, Pivot, Table

METHODS = ("mv", "ds", "mean_prob", "geo_pool", "log_pool", "cal_pool", "irbm", "deem", "deem_soft")
RUNS = 3


def run(context: Context) -> Outcome:
    """Run hard DEEM and the pools."""
    sources = soft_sets(context)
    rows = [
        {name: value for name, value in row.items() if name != "memory GB"}
        for source in sources
        for row in table_rows(context, source, METHODS, runs=RUNS)
    ]
    printed = ", ".join(
        f"{'DEEM, soft' if name == 'deem' else title(name)} {value:g}" for name, (value, _) in published.SOFT.items()
    )
    notes = [
        "The paper hands probabilities to DEEM as they are. Positives inside the simplex are then compared with "
        "negatives at its corners, and a model that tells these apart has learnt nothing about labels; soft DEEM here "
        "takes probabilities as evidence on hidden votes (docs/method.md).",
        *(f"{source.name}: {source.about}; {source.votes.n_rows:,} rows." for source in sources),
        f"The paper's table {published.SOFT_TABLE} is of a PetFinder ensemble that we do not hold: {printed}.",
    ]
    pivot = Pivot("Accuracy in per cent", "method", "set", "accuracy", "sd")
    figures = {"Accuracy": grouped_points(rows, "method", "accuracy", "sd", title="accuracy (%)")}
    findings = [*places(rows), *places(rows, ours="deem_soft")]
    return Outcome([Table("soft", "All numbers", rows, (pivot,))], figures, notes, findings)
