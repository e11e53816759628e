"""Speed of computing each distinct row once, against computing every row.

Usage: python -m benchmarks.bench_distinct [--rows N]

CPU time on one thread, both ways in one process, 15 learners and 10 classes. The votes are three families of five noisy
copies, like MnistE: the less noise, the more rows repeat; in the last set learners vote at random and no row repeats.
The pass that finds the distinct rows is counted on our side each time, though methods on the same votes share it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray

from deem_core import simulation
from deem_core.groups import em as grouped
from deem_core.groups.reduction import Reduction
from deem_core.methods import dawid_skene, ebcc
from deem_core.model.energy import initialise
from deem_core.training.parts import Part, ask
from deem_core.typing import Codes, Floats
from deem_core.votes import Votes
from deem_core.votes.arrays import chunks, distinct_rows
from deem_core.votes.information import counted_information, pair_information
from deem_core.votes.patterns import Table

ROWS, EBCC_ROWS = 1_000_000, 500_000
"""EBCC on every row holds gigabytes: it is timed on fewer."""

K, COPIES, FAMILIES = 10, 5, 3
GROUPS = tuple(tuple(range(COPIES * family, COPIES * (family + 1))) for family in range(FAMILIES))
LIMIT = 5.0
"""How many times faster than plain chunks the posteriors of votes with many repeats must be."""

LARGE_CHUNK, SMALL_CHUNK = 1 << 23, 1 << 20
"""(row, unit) cells of a chunk: as many as memory held at first, and as many as caches hold."""


@dataclass(frozen=True)
class Rival:
    """A computation done both ways; both return comparable arrays."""

    name: str
    every_row: Callable[[], Floats]
    distinct: Callable[[], Floats]
    repeats: int = 2
    must: bool = False


def main() -> None:
    """Print a table for each set of votes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=int, default=ROWS)
    rows = parser.parse_args().rows
    torch.set_num_threads(1)
    for name, codes in votes_of(rows):
        taken = _seconds(partial(distinct_rows, codes), 3)[0]
        u = len(distinct_rows(codes).codes)
        print(f"{name}: {rows:,} rows, {u:,} distinct ({u / rows:.0%}); the pass that finds them {taken:.2f} s")
        print(f"{'':<46}{'every row, s':>13}{'distinct, s':>13}{'ratio':>7}{'difference':>12}")
        for rival in rivals(codes, must=name.startswith("many")):
            every, plain = _seconds(rival.every_row, rival.repeats)
            ours, found = _seconds(rival.distinct, rival.repeats)
            apart = np.nanmax(np.abs(plain - found))
            mark = f"  below the limit of {LIMIT:g}" if rival.must and every / ours < LIMIT else ""
            print(f"{rival.name:<46}{every:>13.2f}{ours:>13.2f}{every / ours:>7.1f}{apart:>12.0e}{mark}", flush=True)
        print()


def votes_of(rows: int) -> Iterator[tuple[str, Codes]]:
    """Yield votes with many, some and no repeats, (n, 15)."""
    for name, noise in (("many repeats (2% noise)", 0.02), ("like MnistE (10% noise)", 0.1)):
        rng = np.random.default_rng(0)
        base = simulation.families(rows, rng=rng)
        yield name, simulation.copies_with_noise(base, COPIES, rng=rng, noise=noise).votes.codes.copy()
    yield "no repeats (random votes)", np.random.default_rng(0).integers(0, K, (rows, COPIES * FAMILIES), np.int32)


def rivals(codes: Codes, *, must: bool) -> Iterator[Rival]:
    """Yield what is timed on (n, d) codes."""
    d, rng = codes.shape[1], np.random.default_rng
    names = tuple(f"learner {i + 1}" for i in range(d))
    model = initialise(d, K, 1, [torch.Generator().manual_seed(0)])
    part = Part(Reduction.of(names), model, np.arange(K)[None])

    def every_table(some: NDArray[np.int32]) -> Table:
        return Table(some, np.ones(len(some)), K)

    def votes(some: NDArray[np.int32]) -> Votes:  # anew each time, so that the pass is counted
        return Votes(some, np.arange(K), names)

    for cells, size in ((LARGE_CHUNK, "large"), (SMALL_CHUNK, "small")):
        title = f"posteriors, 1 layer; {size} torch chunks"
        plain = partial(plain_chunks, part, codes, cells)
        yield Rival(title, plain, partial(part.posteriors, codes), must=must and size == "large")

    ten = {"tolerance": 0.0, "max_iterations": 10}
    yield Rival(
        "Dawid-Skene, 10 iterations",
        lambda: dawid_skene.fit(every_table(codes), **ten).posterior,  # type: ignore[arg-type]
        lambda: dawid_skene.aggregate(votes(codes), rng(0), **ten).posterior,  # type: ignore[arg-type]
    )
    yield Rival(
        "grouped Dawid-Skene, 5 rounds",
        lambda: grouped.fit(every_table(codes), GROUPS, rounds=5, tolerance=0.0).model.B,
        lambda: grouped.fit(Table.of_votes(votes(codes)).voted, GROUPS, rounds=5, tolerance=0.0).model.B,
    )
    some = codes[:EBCC_ROWS]
    five = {"restarts": 1, "max_iterations": 5}
    yield Rival(
        f"EBCC, 5 iterations, {len(some):,} rows",
        lambda: ebcc.fit(every_table(some), rng(0), **five)[0].posterior,  # type: ignore[arg-type]
        lambda: ebcc.aggregate(votes(some), rng(0), **five).posterior,  # type: ignore[arg-type]
        repeats=1,
    )
    yield Rival(
        "mutual information of all pairs",
        lambda: counted_information(codes, np.ones(len(codes))).information,
        lambda: pair_information(codes).information,
    )


def plain_chunks(part: Part, codes: Codes, cells: int) -> Floats:
    """Return the posteriors (n, K) of every row, chunk by chunk."""
    answer = np.empty((len(codes), K))
    for rows in chunks(len(codes), cells // (codes.shape[1] * K)):
        answer[rows] = ask(part.model, codes[rows], exact=False)[0]
    return answer


def _seconds(work: Callable[[], Floats], repeats: int) -> tuple[float, Floats]:
    """Return the least CPU time of several runs, and what they return."""
    times = []
    for _ in range(repeats):
        started = time.process_time()
        made = work()
        times.append(time.process_time() - started)
    return min(times), made


if __name__ == "__main__":
    main()
