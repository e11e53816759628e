"""Expected times of methods and runs, before anybody waits.

Power laws a · n^b · d^c · K^e, fitted to the CPU seconds in `benchmarks/results/registry.md`: those of the slow
methods are within a factor of 2 in 106 of 114 cases, and within 3 in all. They are good for "about a minute" and for
sharing out a bar of progress.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from deem_core.engine import cores
from deem_core.methods.registry import BUDGET, METHODS, entry
from deem_core.model.config import AUTO, Shape, TrainConfig, resolve
from deem_core.votes import Votes

START_SECONDS = 4.0
"""Time until a worker has imported what it needs and read a file."""


class Law(NamedTuple):
    """CPU seconds of one run: a · n^rows · d^learners · K^classes."""

    a: float
    rows: float
    learners: float
    classes: float


LAWS: Mapping[str, Law] = {
    "auto": Law(2.9e-3, 0.30, 1.00, 1.00),
    "gds": Law(2.9e-3, 0.30, 1.00, 1.00),
    "ebcc": Law(2.5e-5, 1.24, 0.03, 0.39),
    "safe": Law(2.5e-5, 1.24, 0.03, 0.39),
    "dnn_det": Law(8.6e-3, 0.56, 0.43, 0.49),
    "dnn_sto": Law(5.9e-3, 0.58, 0.51, 0.48),
    "lsml": Law(6.2e-6, 0.50, 1.52, 0.91),
    "irbm": Law(5.7e-4, 0.43, 0.05, 0.78),
    "irbm_cd": Law(0.142, 0.04, 0.70, 0.81),
    "deem": Law(0.037, 0.30, 0.70, 0.74),
    "deem_soft": Law(0.074, 0.30, 0.70, 0.74),
}
"""Methods that are not done in a blink; those with restarts for one of them."""

OTHERS = Law(4.2e-4, 0.54, 0.14, 0.14)
"""All other methods."""


ASKED = ("auto", "ds", "onecoin", "la2", "ebcc")
"""Candidates between which known labels choose, so that all of them run before rows are asked for."""


@dataclass(frozen=True)
class Size:
    """Size of a table of votes: rows, learners, classes."""

    rows: int
    learners: int
    classes: int

    @classmethod
    def of(cls, votes: Votes) -> Size:
        """Return the size of some votes."""
        return cls(votes.n_rows, votes.n_learners, votes.n_classes)


def expected_seconds(
    name: str, size: Size, *, seeds: int = 1, budget: float | None = BUDGET, restarts: int = TrainConfig.restarts
) -> float:
    """Return how long a method takes in a comparison, about.

    Parameters
    ----------
    name : str
        Of the registry.
    size : Size
    seeds : int
        Runs of it; one for a method without chance.
    budget : float, optional
        Seconds that all its runs may take; the first run of some methods is finished in any case.
    restarts : int
        Of a training.
    """
    item, law = METHODS[name], LAWS.get(name, OTHERS)
    once = float(law.a * max(size.rows, 1) ** law.rows * size.learners**law.learners * size.classes**law.classes)
    if item.tunable:
        once *= max(restarts / cores(), 1.0)  # restarts share the cores
    whole = once * (seeds if item.stochastic else 1)
    if budget is None:
        return whole
    return max(once, min(whole, budget)) if item.whole else min(whole, budget)


def expected_comparison(votes: Votes, methods: Sequence[str], *, seeds: int, budget: float | None) -> float:
    """Return how long a comparison takes, about."""
    size = Size.of(votes)
    return START_SECONDS + sum(expected_seconds(name, size, seeds=seeds, budget=budget) for name in methods)


def expected_time(kind: str, votes: Votes, config: Mapping[str, Any]) -> float:
    """Return how long a run takes, about; a sweep times itself instead.

    Parameters
    ----------
    kind : "fuse", "train", "compare" or "ask"
    votes : Votes
    config : mapping
        Of such a run.
    """
    if kind == "compare":
        asked = config.get("methods", "all")
        methods = list(METHODS) if asked == "all" else [entry(str(name)).name for name in asked]
        return expected_comparison(
            votes, methods, seeds=int(config.get("seeds", 5)), budget=config.get("budget", BUDGET)
        )
    if kind == "ask":
        return START_SECONDS + sum(expected_seconds(name, Size.of(votes), budget=None) for name in ASKED)
    return expected_run(votes, config)


def expected_run(votes: Votes, config: Mapping[str, Any]) -> float:
    """Return how long one answer or training takes, about.

    Parameters
    ----------
    votes : Votes
    config : mapping
        Of a fuse or train run: the method and its settings.
    """
    method, size = entry(str(config.get("method", "deem"))).name, Size.of(votes)
    if not METHODS[method].tunable:
        return START_SECONDS + expected_seconds(method, size, budget=None)
    asked = {name: config[name] for name in ("n_layers", "updates", "epochs", "batch_size") if name in config}
    shape, soft = Shape.of(votes), METHODS[method].soft
    usual = resolve(TrainConfig(), shape, soft=soft).config
    given = resolve(TrainConfig.of(asked), shape, soft=soft).config
    longer = _work(given) / _work(usual)
    restarts = int(config.get("restarts", TrainConfig.restarts))
    seconds = longer * expected_seconds(method, size, budget=None, restarts=restarts)
    return START_SECONDS + seconds * (2.0 if config.get("learning_rate") == AUTO else 1.0)


def _work(config: TrainConfig) -> float:
    """Return what updates cost: those without layers are three times as quick."""
    return float((config.updates or 1) * (0.5 + (config.n_layers or 0)) * (config.batch_size or 1) ** 0.5)
