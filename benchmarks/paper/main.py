"""Main table: every method on every set, accuracy and running time (paper, main results and running times)."""

from __future__ import annotations

from typing import Any

from benchmarks.paper import published
from benchmarks.paper.context import Context
from benchmarks.paper.data import TABULAR, UNREPRODUCIBLE, Source, main_sets
from benchmarks.paper.drawing import gains, grouped_points
from benchmarks.paper.findings import by_set, over_sets, places
from benchmarks.paper.methods import DS_RULE, table_rows, title
from benchmarks.paper.outcome import Outcome, Pivot, Table


def run(context: Context) -> Outcome:
    """Run all methods on all sets."""
    sources = main_sets(context)
    rows = [_beside_paper(row, source) for source in sources for row in table_rows(context, source)]
    pivots = (
        Pivot("Accuracy in per cent (the paper's in brackets)", "method", "set", "accuracy", "sd"),
        Pivot("Processor time in seconds, over all threads", "method", "set", "cpu seconds"),
        Pivot("Running time in seconds (the paper's, on one L40S, in brackets)", "method", "set", "seconds"),
    )
    table = Table("main", "All numbers", rows, pivots)
    notes = [f"{source.name}: {source.about}; {source.votes.n_rows:,} rows." for source in sources]
    absent = sorted(set(TABULAR) - {source.name for source in sources})
    notes += [f"Not run: {', '.join(absent)}, because DEEM_DATA does not hold them."] if absent else []
    notes += [
        f"The paper's accuracies are from its table {published.MAIN_TABLE}, its times from {published.TIMES_TABLE}.",
        "Tree3K differs from draw to draw by more than methods differ: compare methods within a draw.",
        "The paper says that DEEM has the highest mean over its eight sets, 0.6 points above the second. Four of these "
        "sets are not here, and this mean is over other ones.",
        DS_RULE,
        "Processor time counts the work of all threads and hardly depends on what else the machine does; running time "
        "does.",
        "A run of DEEM here is the consensus of its five restarts; seconds are those of all five.",
        *(f"Not here: {what}, because {why}." for what, why in UNREPRODUCIBLE.items() if "sampler" not in what),
    ]
    figures = {
        "What every method gains over the majority vote": gains(rows),
        "Accuracy of every method": grouped_points(rows, "method", "accuracy", "sd", title="accuracy (%)"),
        "Processor time": grouped_points(rows, "method", "cpu seconds", title="processor seconds", log=True),
    }
    return Outcome([table], figures, notes, [*over_sets(rows), *_speed(rows), *places(rows)])


def _speed(rows: list[dict[str, Any]]) -> list[str]:
    """Return DEEM's processor time in multiples of that of two rivals, smallest and largest over the sets."""
    said = []
    for rival in ("ds", "ebcc"):
        found = by_set(rows, "cpu seconds").values()
        times = [
            one["deem"]["cpu seconds"] / one[rival]["cpu seconds"] for one in found if {"deem", rival} <= one.keys()
        ]
        if times:
            said.append(
                f"DEEM takes {min(times):,.1f} to {max(times):,.0f} times the processor time of {title(rival)}."
            )
    return said


def _beside_paper(row: dict[str, Any], source: Source) -> dict[str, Any]:
    accuracy = published.MAIN.get(row["key"], {}).get(source.paper, (None, None))
    seconds = published.TIMES.get(row["key"], {}).get(source.paper, (None, None))
    own = {name: value for name, value in row.items() if name not in ("note", "memory GB")}
    return {
        **own,
        "paper accuracy": accuracy[0],
        "paper sd": accuracy[1],
        "paper seconds": seconds[0],
        "note": row["note"],
    }
