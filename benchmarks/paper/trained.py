"""One training with settings of one's own, kept as a unit: accuracy, seconds, health of sampler and restarts."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.paper.context import Context
from benchmarks.paper.data import Source
from benchmarks.paper.outcome import joined, mean, spread
from deem_core import DEEM
from deem_core.errors import DeemError
from deem_core.votes.describe import accuracy


def trained(context: Context, source: Source, seed: int, **settings: Any) -> Any:
    """Return what one training of DEEM came to; ``right`` is its share of right labels in per cent."""
    asked = {**settings, **context.training, "random_state": seed}
    return context.unit(f"{source.name}-trained-{seed}", source.votes, asked, lambda: _train(source, asked))


def trained_row(units: list[Any]) -> dict[str, Any]:
    """Return mean and spread over seeds as cells of a table, the note last."""
    ran = [unit for unit in units if unit["right"] is not None]
    right, seconds = ([unit[name] for unit in ran] for name in ("right", "seconds"))
    collapsed = sum(unit["fallback"] for unit in ran)
    said = f"{collapsed} of {len(ran)} collapsed and answer as the majority vote." if collapsed else ""
    return {
        "accuracy": mean(right),
        "sd": spread(right),
        "runs": len(ran),
        "seconds": mean(seconds),
        "cpu seconds": mean([unit["cpu"] for unit in ran]),
        "acceptance": mean([unit["acceptance"] for unit in ran if unit["acceptance"] is not None]),
        "moved": mean([unit["moved"] for unit in ran if unit["moved"] is not None]),
        "note": joined([said, *(unit["why_not"] for unit in units)]),
    }


def _train(source: Source, asked: dict[str, Any]) -> dict[str, Any]:
    bare, begun, cpu_begun = source.votes.without_truth(), time.perf_counter(), time.process_time()
    try:
        model = DEEM(**asked).fit(bare)
    except DeemError as error:
        return {"right": None, "why_not": str(error)}
    labels = model.fuse_codes(bare.codes).argmax(axis=1)
    seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu_begun
    truth = source.votes.truth
    assert truth is not None  # noqa: S101  # every source has it
    hit = (source.votes.codes == truth[:, None]).any(axis=1)
    return {
        "right": 100 * accuracy(labels, truth),
        "seconds": seconds,
        "cpu": cpu,
        "fallback": model.fallback_,
        "acceptance": _mean_of(model, "acceptance"),
        "moved": _mean_of(model, "moved"),
        "any_right": 100 * float(hit.mean()),
        "quality": 100 * float((labels == truth)[hit].mean()),
        "why_not": "",
    }


def _mean_of(model: DEEM, name: str) -> float | None:
    """Return the mean of a figure over all records of all restarts; the record before training has none."""
    values = np.array([getattr(record, name) for record in model.history_], np.float64)
    return float(np.nanmean(values)) if np.isfinite(values).any() else None
