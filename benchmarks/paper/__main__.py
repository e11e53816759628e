"""The command ``python -m benchmarks.paper NAME [--quick] [--again]``."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.paper.context import RESULTS, Context
from benchmarks.paper.writing import overview, write, write_text
from deem_core.errors import DeemError

EXPERIMENTS = {
    "recovery": "True against recovered parameters of conditionally independent learners",
    "main": "Accuracy and running time of all methods on all sets",
    "experts": "Accuracy where only experts know and elsewhere, and whom DEEM listens to",
    "disentanglement": "Dependence of the learners given the class, layer by layer",
    "many_classes": "A thousand classes: accuracy, time and memory",
    "many_learners": "A hundred learners",
    "sensitivity": "Good and guessing learners added to a base of three",
    "soft": "Probabilities instead of votes: hard DEEM, soft DEEM and the pools",
    "learning_rates": "Energy curves over learning rates",
    "samplers": "DMALA, DULA and Gibbs with gradients",
    "ablations": "One setting changed at a time",
}
"""Name, which is its module in this package → what it shows."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paper", description="Re-make the paper's experiments.")
    parser.add_argument("name", choices=[*EXPERIMENTS, "all", "overview"], help="experiment; overview only lists them")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, in seconds, written apart")
    parser.add_argument("--again", action="store_true", help="do finished work again")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FOLDER", help="where results go")
    options = parser.parse_args(arguments)
    chosen = list(EXPERIMENTS) if options.name == "all" else [] if options.name == "overview" else [options.name]
    failed = False
    for name in chosen:
        context = Context(quick=options.quick, results=options.results, again=options.again)
        if options.name == "all" and not options.again and (context.folder / f"{name}.json").exists():
            print(f"{name}: already there (--again makes it anew)")
            continue
        try:
            _run(name, context)
        except DeemError as error:  # the others may still serve
            print(f"{name}: {error}", file=sys.stderr)
            failed = True
    options.results.mkdir(parents=True, exist_ok=True)
    write_text(overview(options.results, EXPERIMENTS), options.results / "README.md")
    return 2 if failed else 0


def _run(name: str, context: Context) -> None:
    begun = time.perf_counter()
    outcome = importlib.import_module(f"benchmarks.paper.{name}").run(context)
    write(name, EXPERIMENTS[name], outcome, context)
    print(f"{name}: {time.perf_counter() - begun:.1f} s, in {context.folder / name}.md", flush=True)


if __name__ == "__main__":
    sys.exit(main())
