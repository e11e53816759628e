"""Learning rates: energy curves over rates on two sets, with verdicts and what the truth says of them."""

from __future__ import annotations

import math
from typing import Any

from benchmarks.paper.context import Context
from benchmarks.paper.data import Source, ampdata, gesture, tree
from benchmarks.paper.outcome import Outcome, Table
from benchmarks.paper.trained import trained, trained_row
from deem_core import sweep
from deem_core.figures import curves_of_sweep, energy_panels
from deem_core.model.config import Shape
from deem_core.training.sweep import Sweep, default_rates

SMOOTHING = 0.7


def run(context: Context) -> Outcome:
    """Sweep both sets and train at every rate."""
    second = gesture(context)
    sources = [tree(context, 0), second if second.paper else ampdata(context)]
    rows, figures, said = [], {}, []
    for source in sources:
        made = _swept(context, source)
        chosen = made.recommendation
        said.append(f"{source.name}: {chosen.why}")
        figures[f"{source.name}: energies at every learning rate"] = energy_panels(
            curves_of_sweep(made), selected=chosen.learning_rate, smoothing=SMOOTHING, log=True
        )
        rows += _rows(context, source, made)
    notes = [
        *(f"{source.name}: {source.about}; {source.votes.n_rows:,} rows." for source in sources),
        "Recovery is how far the energy difference came back from its dip, 1 being all the way. Accuracy is of one "
        "restart at that rate, for this evaluation only: the verdicts never see the truth.",
        "The paper shows these curves for GesturePhsm and Tree3K as pictures. Its rates are of a summed loss, ours of "
        "the mean, so they are not the same numbers.",
    ]
    return Outcome([Table("learning_rates", "Verdicts", rows)], figures, notes, [*said, *_findings(rows)])


def _findings(rows: list[dict[str, Any]]) -> list[str]:
    """Return, for each set, how right the rates of each verdict are."""
    found: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        if row["accuracy"] is not None:
            found.setdefault((row["set"], row["verdict"]), []).append(row["accuracy"])
    return [
        f"{name}, verdict {verdict}: accuracy {' · '.join(f'{value:.1f}' for value in values)} at "
        f"{len(values)} {'rate' if len(values) == 1 else 'rates'}."
        for (name, verdict), values in found.items()
    ]


def _swept(context: Context, source: Source) -> Sweep:
    rates = default_rates(Shape.of(source.votes))
    rates = rates[::4] if context.quick else rates
    settings: dict[str, Any] = {"start": "majority", **({"updates": 20} if context.quick else {})}
    asked = {"sweep": rates, "random_state": 0, **settings}

    def make() -> dict[str, Any]:
        return sweep(source.votes.without_truth(), rates, random_state=0, **settings).to_dict()

    return Sweep.from_dict(context.unit(f"{source.name}-sweep", source.votes, asked, make))


def _rows(context: Context, source: Source, made: Sweep) -> list[dict[str, Any]]:
    rows = []
    for at, verdict in enumerate(made.verdicts):
        rate = float(made.rates[at])
        units = [trained(context, source, seed, learning_rate=rate, restarts=1) for seed in context.seeds(3)]
        told = trained_row(units)
        recovery = verdict.numbers.recovery
        row: dict[str, Any] = {"set": source.name, "learning rate": rate, "verdict": verdict.kind}
        row["recovery"] = recovery if math.isfinite(recovery) else None
        row |= {"accuracy": told["accuracy"], "sd": told["sd"], "runs": told["runs"]}
        rows.append({**row, "note": " ".join(filter(None, [verdict.reason, told["note"]]))})
    return rows
