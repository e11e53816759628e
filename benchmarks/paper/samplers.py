"""Samplers: DMALA, DULA and Gibbs with gradients, all else equal (paper, DLP sampler)."""

from __future__ import annotations

from typing import Any

from benchmarks.paper.context import Context
from benchmarks.paper.data import UNREPRODUCIBLE, ampdata, mniste, tree
from benchmarks.paper.drawing import grouped_points
from benchmarks.paper.findings import amount
from benchmarks.paper.outcome import Outcome, Pivot, Table
from benchmarks.paper.trained import trained, trained_row

SAMPLERS = {"dmala": "DMALA", "dula": "DULA", "gwg": "Gibbs with gradients"}
MOST_ROWS = 10_000
RUNS = 3


def run(context: Context) -> Outcome:
    """Train with every sampler on three sets."""
    sources = [tree(context, 0), ampdata(context), mniste(context, MOST_ROWS)]
    rows = []
    for source in sources:
        for name, title in SAMPLERS.items():
            units = [trained(context, source, seed, sampler=name) for seed in context.seeds(RUNS)]
            rows.append({"set": source.name, "sampler": title, **trained_row(units)})
    cannot = "Du and Mordatch's sampler"
    notes = [
        *(f"{source.name}: {source.about}; {source.votes.n_rows:,} rows." for source in sources),
        f"Not here: {cannot}, because {UNREPRODUCIBLE[cannot]}.",
        "The paper says that DLP is slightly better than Gibbs with gradients, and faster; it prints no numbers.",
        "Times include the further restarts that are trained where too few survive.",
        "Acceptance and moved are means over all records: the share of proposals accepted, and of votes changed by a "
        "whole chain. DULA accepts everything by definition.",
    ]
    figures = {
        "Accuracy": grouped_points(rows, "sampler", "accuracy", "sd", title="accuracy (%)"),
        "Acceptance": grouped_points(rows, "sampler", "acceptance", title="share accepted"),
        "Processor time": grouped_points(rows, "sampler", "cpu seconds", title="processor seconds"),
    }
    pivot = Pivot("Accuracy in per cent", "sampler", "set", "accuracy", "sd")
    return Outcome([Table("samplers", "All numbers", rows, (pivot,))], figures, notes, _findings(rows))


def _findings(rows: list[dict[str, Any]]) -> list[str]:
    """Return a sentence for every sampler over all sets."""
    said = []
    for title in SAMPLERS.values():
        own = [row for row in rows if row["sampler"] == title and row["accuracy"] is not None]
        parts = ", ".join(
            f"{row['set']} {amount(row, 'accuracy')} with acceptance {row['acceptance']:.2f} in "
            f"{row['cpu seconds']:.0f} processor seconds"
            for row in own
        )
        said.append(f"{title}: {parts}.")
    return said
