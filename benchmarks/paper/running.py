"""Running experiments: one, or all of them, some side by side."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor, as_completed

from benchmarks.paper.context import Clock, Context
from benchmarks.paper.writing import overview, write, write_text
from deem_core.errors import DeemError

EXPERIMENTS = {
    "recovery": "True against recovered parameters of conditionally independent learners",
    "main": "Accuracy and running time of all methods on all sets",
    "experts": "Accuracy where only experts know and elsewhere, and whom DEEM listens to",
    "expert_weights": "How far experts stand out, by several measures of weight",
    "disentanglement": "Dependence of the learners given the class, layer by layer",
    "many_classes": "A thousand classes: accuracy, time and memory",
    "many_learners": "A hundred learners",
    "sensitivity": "Good and guessing learners added to a base of three",
    "soft": "Probabilities instead of votes: hard DEEM, soft DEEM and the pools",
    "learning_rates": "Energy curves over learning rates",
    "samplers": "DMALA, DULA and Gibbs with gradients",
    "ablations": "One setting changed at a time: near-copies, chains, depth, momentum, length",
    "few_ablations": "One setting changed at a time, on three sets: activation, start, batch, sampler's steps",
}
"""Name, which is its module in this package → what it shows."""
LONG = ("main", "experts", "many_classes", "many_learners", "sensitivity", "ablations")
BY_LENGTH = (*LONG, *(name for name in EXPERIMENTS if name not in LONG))
"""The order of running: what takes longest begins first, so that nothing long is left alone at the end."""


def run_all(context: Context, jobs: int) -> list[str]:
    """Run what is not there yet, some side by side, and return what failed; the overview grows meanwhile."""
    if context.again:
        Clock.restart(context)
    wanted = [name for name in BY_LENGTH if context.again or not (context.folder / f"{name}.json").exists()]
    for name in sorted(set(EXPERIMENTS) - set(wanted)):
        print(f"{name}: already there (--again makes it anew)")
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # heard by the processes below: cores go to experiments instead
    clock, failures = Clock(context), []
    try:
        with ProcessPoolExecutor(max(1, jobs), multiprocessing.get_context("spawn"), max_tasks_per_child=1) as pool:
            for ended in as_completed([pool.submit(attempt, name, context) for name in wanted]):
                failures.append(ended.result())
                clock.note()
                write_text(overview(context.results, EXPERIMENTS), context.results / "README.md")
    except KeyboardInterrupt:  # what was done is kept, and so is the time it took
        clock.note()
        raise
    return failures


def attempt(name: str, context: Context) -> str:
    """Run an experiment and return why it failed, or nothing: the others may still serve."""
    begun = time.perf_counter()
    try:
        outcome = importlib.import_module(f"benchmarks.paper.{name}").run(context)
        write(name, EXPERIMENTS[name], outcome, context)
    except DeemError as error:
        return f"{name}: {error}"
    print(f"{name}: {time.perf_counter() - begun:.1f} s, in {context.folder / name}.md", flush=True)
    return ""
