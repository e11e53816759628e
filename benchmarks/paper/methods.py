"""All methods on one set, each run a unit that is kept: right answers per class, seconds, and why not if not."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import numpy as np

from benchmarks.paper.context import Context
from benchmarks.paper.data import Source
from benchmarks.paper.outcome import joined, mean, spread
from deem_core import DEEM, IRBM, Votes
from deem_core.comparison import aggregate, entry
from deem_core.control import Stopped, StopWhen
from deem_core.errors import DeemError
from deem_core.model.config import Shape, TrainConfig, resolve
from deem_core.readers.notes import peak_bytes
from deem_core.votes import NO_VOTE
from deem_core.votes.describe import describe

REFERENCES = {"best": "BestClf", "average": "AvgClf"}
METHODS = ("mv", "lsml", "ds", "ebcc", "hlm", "la2", "flyingsquid", "dnn_sto", "dnn_det", "irbm", "irbm_cd", "deem")
"""Those of the paper's main table; the iRBM by exact likelihood and by contrastive training, as the paper's is."""


DS_RULE = (
    "Dawid-Skene stops at a relative change of likelihood below 1e-5 or after 100 iterations, and the exact iRBM runs "
    "on to convergence: on AmpData that alone moves the expert classes by tens of points."
)
"""The rule moves the figures, so every table with both says it."""


def title(method: str) -> str:
    """Return what a row is called."""
    return REFERENCES.get(method) or entry(method).title


def bare(source: Source) -> bool:
    """Return whether the default gives DEEM no layer on a set."""
    return resolve(TrainConfig(), Shape.of(source.votes)).config.n_layers == 0


def _title_on(method: str, source: Source) -> str:
    """Return what a row is called on a set: DEEM without a layer says so."""
    return f"{title(method)}, no layer" if method == "deem" and bare(source) else title(method)


def table_rows(
    context: Context,
    source: Source,
    methods: Sequence[str] = METHODS,
    *,
    runs: int = 5,
) -> list[dict[str, Any]]:
    """Return a row per method, the best and the average learner first; accuracies in per cent."""
    return [*reference_rows(source), *(method_row(context, source, method, runs=runs) for method in methods)]


def reference_rows(source: Source) -> list[dict[str, Any]]:
    """Return the best and the average learner, which only truth can name."""
    found = 100 * np.asarray(describe(source.votes).learner_accuracy)
    rest = {"runs": 0, **dict.fromkeys(("seconds", "seconds sd", "cpu seconds", "memory GB"))}
    best = {"accuracy": float(found.max()), "sd": None}
    average = {"accuracy": float(found.mean()), "sd": float(found.std())}
    idle = "Known by the truth: nothing runs."
    notes = {"best": idle, "average": f"{idle} The spread is over learners."}
    return [
        {"set": source.name, "method": title(name), "key": name, **numbers, **rest, "note": notes[name]}
        for name, numbers in (("best", best), ("average", average))
    ]


def method_row(context: Context, source: Source, method: str, *, runs: int = 5, **how: Any) -> dict[str, Any]:
    """Return the row of one method, with accuracy on the expert classes and on the rest where there are experts.

    ``how`` goes to `method_units`.
    """
    units = method_units(context, source, method, runs=runs, **how)
    ran = [unit for unit in units if unit["right"] is not None]
    row: dict[str, Any] = {"set": source.name, "method": _title_on(method, source), "key": method}
    whole = [accuracy_on(unit) for unit in ran]
    row |= {"accuracy": mean(whole), "sd": spread(whole), "runs": len(ran)}
    experts = source.expert_classes
    if experts:
        others = [k for k in range(source.votes.n_classes) if k not in experts]
        for name, classes in (("expert", experts), ("remaining", others)):
            part = [accuracy_on(unit, classes) for unit in ran]
            row |= {name: mean(part), f"{name} sd": spread(part)}
    seconds = [unit["seconds"] for unit in ran]
    memory = [unit["memory"] for unit in ran if unit["memory"] is not None]
    row |= {"seconds": mean(seconds), "seconds sd": spread(seconds), "cpu seconds": mean([one["cpu"] for one in ran])}
    row |= {"memory GB": max(memory) / 1e9 if memory else None}
    cut = f"Cut after {context.budget:g} s." if any(unit["cut"] for unit in ran) else ""
    lost = sum(unit["fallback"] for unit in ran)
    fell = f"{lost} of {len(ran)} runs fell back to the majority vote." if lost else ""
    return {**row, "note": joined([cut, fell, *(unit["why_not"] for unit in units)])}


def layered_row(context: Context, source: Source, *, runs: int, **how: Any) -> dict[str, Any]:
    """Return the row of DEEM with one layer, where its default has none."""
    training = {**how.pop("training", {}), "n_layers": 1}
    row = method_row(context, source, "deem", runs=runs, training=training, **how)
    return {**row, "method": "DEEM, one layer", "key": "deem_layer"}


def method_units(
    context: Context,
    source: Source,
    method: str,
    *,
    runs: int = 5,
    own_process: bool = False,
    training: dict[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Return the runs of one method, one for each seed, or one where seeds do not matter.

    ``training`` are settings of DEEM and the contrastive iRBM beside those of the context.
    """
    seeds = context.seeds(runs) if entry(method).stochastic else [0]
    made = []
    for seed in seeds:
        asked = {"method": method, "seed": seed, "budget": context.budget}
        asked["training"] = {**(training or {}), **context.training}
        alone = own_process and not context.quick  # a process takes seconds to start, which quick runs do not have
        settings = {**asked, "own_process": alone}

        def run(asked: dict[str, Any] = asked, alone: bool = alone) -> dict[str, Any]:
            return _in_own_process(source.votes, asked) if alone else run_method(source.votes, asked)

        made.append(context.unit(f"{source.name}-{method}-{seed}", source.votes, settings, run))
    return made


def run_method(votes: Votes, asked: dict[str, Any]) -> dict[str, Any]:
    """Run one method once and score it; the truth is taken away first."""
    bare, begun, cpu_begun, why_not = votes.without_truth(), time.perf_counter(), time.process_time(), ""
    labels, cut, fallback = None, False, False
    try:
        if asked["method"] in ("deem", "irbm_cd"):
            settings = {**asked["training"], "random_state": asked["seed"]}
            model = DEEM(**settings) if asked["method"] == "deem" else IRBM(method="cd", **settings)
            labels = model.fit(bare).fuse_codes(votes.codes).argmax(axis=1)
            fallback = model.fallback_
        else:
            rng = np.random.default_rng(asked["seed"])
            found = aggregate(
                asked["method"], bare, rng, control=StopWhen(lambda: time.perf_counter() - begun > asked["budget"])
            )
            labels, cut = found.posterior.argmax(axis=1), found.cut
    except Stopped:
        why_not = f"Has no answer before its end, which is more than {asked['budget']:g} s away."
    except DeemError as error:
        why_not = str(error)
    seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu_begun
    right, rows = (None, None) if labels is None else right_by_class(votes, labels)
    told = {"right": right, "rows": rows, "seconds": seconds, "cpu": cpu, "memory": peak_bytes()}
    return {**told, "why_not": why_not, "cut": cut, "fallback": fallback}


def right_by_class(votes: Votes, labels: Any) -> tuple[list[int], list[int]]:
    """Return right answers and rows of every true class; rows of unknown truth do not count."""
    truth = np.asarray(votes.truth)
    known = truth != NO_VOTE
    size = votes.n_classes + len(votes.truth_only)
    right = known & (np.asarray(labels) == truth)
    return np.bincount(truth[right], minlength=size).tolist(), np.bincount(truth[known], minlength=size).tolist()


def accuracy_on(unit: dict[str, Any], classes: Sequence[int] | None = None) -> float:
    """Return the accuracy of a run on all rows, or on those of some true classes, in per cent."""
    chosen = range(len(unit["rows"])) if classes is None else classes
    right, rows = (sum(int(unit[name][k]) for k in chosen) for name in ("right", "rows"))
    return 100 * right / max(rows, 1)


def _in_own_process(votes: Votes, asked: dict[str, Any]) -> dict[str, Any]:
    """Run a method in a fresh process, so that its peak of memory is its own (and that of the libraries)."""
    try:
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            return pool.submit(run_method, votes, asked).result()
    except BrokenProcessPool:
        why_not = "The system ended its process, most likely for want of memory."
    return {"right": None, "why_not": why_not}
