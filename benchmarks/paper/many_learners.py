"""Many learners: a set extended to a hundred (paper, classifier scalability)."""

from __future__ import annotations

from typing import Any

from benchmarks.paper import published
from benchmarks.paper.context import Context
from benchmarks.paper.data import Source, hundred
from benchmarks.paper.drawing import grouped_points
from benchmarks.paper.findings import places
from benchmarks.paper.methods import layered_row, table_rows
from benchmarks.paper.outcome import Outcome, Table

RUNS = 3
TITLE = "A hundred learners, DEEM without and with a layer"
LIGHT = {"init_scale": 0.12, "restarts": 1}
"""12 / votes per row, the default without layers; single restarts, since each takes a minute."""
METHODS = ("mv", "lsml", "ds", "ebcc", "hlm", "la2", "irbm", "irbm_cd", "deem")


def run(context: Context) -> Outcome:
    """Run all methods of the paper's table on the extended set."""
    source = hundred(context)
    found = [*table_rows(context, source, METHODS, runs=RUNS), layered_row(context, source, runs=RUNS)]
    rows = [_beside_paper(row, source) for row in [*found, light_row(context, source)]]
    notes = [
        f"{source.name}: {source.about}; {source.votes.n_rows:,} rows.",
        "Read from the paper's one sentence: 8 variations of each of 11 learners, in each of which a tenth of the "
        "votes is random (the share is not printed; a tenth is that of MnistE), and 12 learners that guess.",
        "With so many votes a row the default gives DEEM no layer; with one layer, as the paper has it, stands beside. "
        "A vote then weighs 2 at the start, and a hundred of them leave no label in doubt; the last row starts with "
        f"the weight {LIGHT['init_scale']} that the default without layers has, in single restarts.",
        f"The paper's accuracies are from its table {published.HUNDRED_TABLE}; its eleven learners are TabRepo's.",
    ]
    figures = {"Accuracy": grouped_points(rows, "method", "accuracy", "sd", title="accuracy (%)")}
    return Outcome([Table("many_learners", TITLE, rows)], figures, notes, _findings(rows))


def light_row(context: Context, source: Source) -> dict[str, Any]:
    """Return the row of one layer whose start is as light as that without layers."""
    row = layered_row(context, source, runs=RUNS, training=LIGHT)
    return {**row, "method": f"DEEM, one layer, weight {LIGHT['init_scale']}", "key": "deem_light"}


def _findings(rows: list[dict[str, Any]]) -> list[str]:
    """Return the places of DEEM without and with a layer, and what befell the layer."""
    layered = next(row for row in rows if row["key"] == "deem_layer")
    fate = [f"{layered['method']}: {layered['note']}"] if layered["note"] else []
    return [*places(rows), *places(rows, ours="deem_layer"), *fate, *places(rows, ours="deem_light")]


def _beside_paper(row: dict[str, Any], source: Source) -> dict[str, Any]:
    accuracy, sd = (
        published.HUNDRED.get(row["key"].removesuffix("_layer"), (None, None)) if source.paper else (None, None)
    )
    own = {name: value for name, value in row.items() if name not in ("note", "memory GB")}
    return {**own, "paper accuracy": accuracy, "paper sd": sd, "note": row["note"]}
