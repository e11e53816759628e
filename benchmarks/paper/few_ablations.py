"""Ablations on three sets: activation, start, batch and steps of the sampler."""

from __future__ import annotations

from typing import Any

from benchmarks.paper.ablations import outcome, setting_rows
from benchmarks.paper.context import Context
from benchmarks.paper.data import DRAWN_ROWS, ampdata, mniste, tree
from benchmarks.paper.outcome import Outcome

CHANGES: dict[str, tuple[Any, ...]] = {
    "activation": ("sparsemax", "softmax"),
    "init_scale": (2.0, 0.5, 1.0, 4.0),
    "batch_size": (1024, 128, 256, 4096),
    "sampler_steps": (5, 1, 2, 10),
}
"""Setting → values, the default with a layer first."""


def run(context: Context) -> Outcome:
    """Train with every setting changed by itself."""
    sources = [tree(context, 0)]
    if not context.quick:
        sources += [ampdata(context), mniste(context, DRAWN_ROWS)]
    found = {setting: setting_rows(context, sources, setting, values) for setting, values in CHANGES.items()}
    notes = [f"{source.name}: {source.about}; {source.votes.n_rows:,} rows." for source in sources]
    return outcome(found, CHANGES, [*notes, "Three sets are few: no default is changed by them alone."])
