"""Disentanglement: mutual information of all pairs given the class, at the input and after each of two layers."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.paper import published
from benchmarks.paper.context import Context
from benchmarks.paper.data import Source, mniste
from benchmarks.paper.outcome import Outcome, Table, joined, mean, spread
from deem_core import DEEM
from deem_core.diagnostics.disentanglement import dependence
from deem_core.figures import dependence_grid, dependence_summary

LAYERS = ("input", "after layer 1", "after layer 2")
FIGURES = {"max MI": "largest", "Frobenius": "frobenius", "floor of Frobenius": "floor_frobenius"}


def run(context: Context) -> Outcome:
    """Train two layers with every seed and measure what is left of dependence."""
    source = mniste(context)
    units = [_unit(context, source, seed) for seed in context.seeds()]
    rows = [_row(given, at, units, source) for given in ("truth", "fused") for at in range(len(LAYERS))]
    figures: dict[str, Any] = {}
    first = next((unit for unit in units if unit["truth"]), None)
    if first is not None:
        told = first["truth"]
        matrices = [np.array(one, np.float64) for one in told["matrices"]]
        figures["Mutual information given the true class"] = dependence_grid(
            matrices, source.votes.learners, LAYERS, told["classes"], order="file"
        )
        own = {name: [row[name] for row in rows[: len(LAYERS)]] for name in rows[0]}
        figures["Layer by layer"] = dependence_summary(
            LAYERS,
            own["Frobenius"],
            own["Frobenius sd over classes"],
            own["max MI"],
            own["max MI sd over classes"],
            floor=own["floor of Frobenius"],
        )
    notes = [
        f"{source.name}: {source.about}; {source.votes.n_rows:,} rows.",
        f"The paper's numbers are from its table {published.DISENTANGLEMENT_TABLE}.",
        "Near-copies keep their own voices here (near_copies='keep'), as in the paper: the guard would merge them "
        "before training.",
        "The floor is what independent learners would seem to have on as many rows. 'fused' conditions on the fused "
        "label, which users have; it is partly circular.",
    ]
    title = "Mutual information in nats: mean and sd over classes, averaged over seeds"
    return Outcome([Table("disentanglement", title, rows)], figures, notes, _findings(rows))


def _findings(rows: list[dict[str, Any]]) -> list[str]:
    said = []
    for given in ("truth", "fused"):
        own = [row for row in rows if row["given"] == given and row["Frobenius"] is not None]
        for name in ("Frobenius", "max MI"):
            values = [row[name] for row in own]
            falls = "falls" if sorted(values, reverse=True) == values else "does not fall"
            path = " → ".join(f"{value:.2f}" for value in values)
            theirs = [row[f"paper {name}"] for row in own]
            paper = f" (paper {' → '.join(f'{value:.2f}' for value in theirs)})" if None not in theirs else ""
            said.append(f"{name} given {given} {falls} from layer to layer: {path}{paper}.")
    return said


def _unit(context: Context, source: Source, seed: int) -> Any:
    training = {**context.training, "restarts": 1}

    def measure() -> dict[str, Any]:
        bare = source.votes.without_truth()
        model = DEEM(n_layers=2, near_copies="keep", random_state=seed, **training).fit(bare)
        if not model.parts_:
            return {"truth": None, "fused": None, "why_not": joined(model.warnings_)}
        made: dict[str, Any] = {"why_not": ""}
        for given in ("truth", "fused"):
            told = dependence(model, source.votes, given=given)
            made[given] = {
                "summaries": [layer.summary() for layer in told.layers],
                "classes": told.layers[0].classes,
                "matrices": [np.round(layer.information, 4) for layer in told.layers],
            }
        return made

    settings = {"layers": 2, "seed": seed, "training": training}
    return context.unit(f"{source.name}-disentanglement-{seed}", source.votes, settings, measure)


def _row(given: str, at: int, units: list[Any], source: Source) -> dict[str, Any]:
    told = [unit[given]["summaries"][at] for unit in units if unit[given]]
    row: dict[str, Any] = {"given": given, "layer": LAYERS[at], "seeds": len(told)}
    for name, key in FIGURES.items():
        values = [one[key] for one in told if one[key] is not None]
        row[name] = mean(values)
        if key != "floor_frobenius":
            row[f"{name} sd over classes"] = mean([one[f"{key}_std"] for one in told if one[key] is not None])
            row[f"{name} sd over seeds"] = spread(values)
    printed = published.DISENTANGLEMENT[at] if given == "truth" and source.paper else ((None, None), (None, None))
    for name, (value, off) in zip(("max MI", "Frobenius"), printed, strict=True):
        row |= {f"paper {name}": value, f"paper {name} sd": off}
    few = "No class has enough rows." if row["max MI"] is None else ""
    return {**row, "note": joined([few, *(unit["why_not"] for unit in units)])}
