"""The command ``python -m benchmarks.paper NAME [--quick] [--again]``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.paper.context import RESULTS, Context
from benchmarks.paper.running import EXPERIMENTS, attempt, run_all
from benchmarks.paper.writing import overview, write_text
from deem_core.engine import cores


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paper", description="Re-make the paper's experiments.")
    parser.add_argument("name", choices=[*EXPERIMENTS, "all", "overview"], help="experiment; overview only lists them")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, in seconds, written apart")
    parser.add_argument("--again", action="store_true", help="do finished work again")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FOLDER", help="where results go")
    parser.add_argument(
        "--jobs", type=int, default=cores(), help="experiments side by side (as many as there are cores)"
    )
    options = parser.parse_args(arguments)
    context = Context(quick=options.quick, results=options.results, again=options.again)
    options.results.mkdir(parents=True, exist_ok=True)
    if options.name == "all":
        failures = run_all(context, options.jobs)
    else:
        failures = [] if options.name == "overview" else [attempt(options.name, context)]
    for failure in filter(None, failures):
        print(failure, file=sys.stderr)
    write_text(overview(options.results, EXPERIMENTS), options.results / "README.md")
    return 2 if any(failures) else 0


if __name__ == "__main__":
    sys.exit(main())
