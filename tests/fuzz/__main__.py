"""Fuzz: generated files one after another, and a table of what came of them."""

from __future__ import annotations

import argparse
import resource
import sys
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from deem_core import InputError
from tests.fuzz.cases import KINDS, LONGEST, case, outcome

MOST_SECONDS = 5.0
MOST_BYTES = 500_000_000


@dataclass
class Tally:
    """What came of some files."""

    files: Counter[tuple[str, bool]] = field(default_factory=Counter)
    depths: Counter[tuple[str, str]] = field(default_factory=Counter)
    depths_nearly: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    slowest: tuple[float, int] = (0.0, -1)
    longest: int = 0
    grown: int = 0


def run(seed: int, numbers: range, tally: Tally) -> None:
    """Make the files of some numbers and note what comes of them."""
    for number in numbers:
        one = case(seed, number)
        before, began = _peak(), time.perf_counter()
        tally.files[one.kind, one.nearly] += 1
        try:
            depth, error = outcome(one)
        except Exception as problem:  # the very thing that is looked for
            where = traceback.extract_tb(problem.__traceback__)[-1]
            what = f"{type(problem).__name__}: {str(problem)[:120]!r}"
            text = f"{one.kind} {number}: {what} at {where.filename}:{where.lineno}"
            tally.problems.append(text)
            print(text, flush=True)
            tally.depths[one.kind, "problem"] += 1
            continue
        seconds, grown = time.perf_counter() - began, _peak() - before
        tally.depths[one.kind, depth] += 1
        tally.depths_nearly[depth] += one.nearly
        tally.slowest = max(tally.slowest, (seconds, number))
        tally.grown = max(tally.grown, grown)
        length = len(str(error)) if error is not None else 0
        tally.longest = max(tally.longest, length)
        if seconds > MOST_SECONDS or grown > MOST_BYTES or length > LONGEST:
            cost = f"{seconds:.1f} s, {grown / 1e6:.0f} MB, a sentence of {length} letters"
            text = f"{one.kind} {number}: {cost}: {str(error)[:150]!r}"
            tally.problems.append(text)
            print(text, flush=True)


def _peak() -> int:
    """Return the most memory this process has held, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def report(seed: int, tally: Tally, seconds: float) -> str:
    """Return the figures as Markdown."""
    total = sum(tally.files.values())
    nearly = sum(count for (_, near), count in tally.files.items() if near)
    reached = tally.depths_nearly["accepted"] + tally.depths_nearly["late"]
    lines = [
        "# Generated files",
        "",
        f"`python -m tests.fuzz --files {total} --seed {seed}`: {total:,} files, {nearly:,} of them nearly right "
        "(a whole",
        "file with one to three mutations); the rest are mangled or random bytes.",
        "",
        f"- Something else than a read file or an `InputError`: {len(tally.problems)}.",
        f"- Of the nearly right, {reached:,} ({reached / max(nearly, 1):.0%}) got past decoding and parsing; "
        f"{tally.depths_nearly['accepted']:,} ({tally.depths_nearly['accepted'] / max(nearly, 1):.0%}) were read.",
        f"- Slowest file: {tally.slowest[0]:.2f} s (number {tally.slowest[1]}); most memory added by one file: "
        f"{tally.grown / 1e6:.0f} MB; longest sentence: {tally.longest} letters.",
        f"- The run took {seconds / 60:.0f} minutes of one core.",
        "",
        "| kind | files | nearly right | read | refused behind the first checks | refused by them |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for kind in KINDS:
        files = tally.files[kind, True] + tally.files[kind, False]
        depths = (tally.depths[kind, depth] for depth in ("accepted", "late", "first"))
        lines.append(f"| {kind} | {files:,} | {tally.files[kind, True]:,} | {' | '.join(f'{d:,}' for d in depths)} |")
    lines += ["", *(f"- {problem}" for problem in tally.problems[:50])]
    return "\n".join(lines).rstrip() + "\n"


def main() -> int:
    """Run the fuzzer from the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--files", type=int, default=50_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first file")
    parser.add_argument("--seed", type=int, default=23)
    parser.add_argument("--results", type=Path, help="where the figures are written as Markdown")
    given = parser.parse_args()
    tally, began = Tally(), time.process_time()
    for start in range(given.first, given.first + given.files, 1000):
        run(given.seed, range(start, min(start + 1000, given.first + given.files)), tally)
        print(f"{start + 1000 - given.first:,} files, {len(tally.problems)} problems", flush=True)
        text = report(given.seed, tally, time.process_time() - began)
        if given.results:
            given.results.write_text(text, encoding="utf-8")
    print(text)
    return 1 if tally.problems else 0


if __name__ == "__main__":
    raise SystemExit(main())


__all__ = ["InputError", "Tally", "report", "run"]
