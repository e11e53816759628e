"""The grouped model at every size: fit, and distance of auto's answer to the majority vote.

Usage: [DEEM_DATA=folder] python -m benchmarks.bench_grouping [NAME ...]

Complete ensembles cut to 600, 1,200, 3,000, 10,000 and all rows (one draw of rows each), ten draws of noisy copies of a
guesser, three sets with 0.1, 1 and 5% of their votes blanked, and six draws of 3, 4 and 5 learners of ten sets. The
majority vote is the expected value with ties as a fair draw; ± is the standard error of the paired difference. The
truth is used for that alone. Without names the page is written to benchmarks/results/grouping.md.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.bench_accuracy import load
from benchmarks.bench_trust import with_copies
from deem_core import Votes
from deem_core.auto import Decision, decide
from deem_core.typing import Floats
from deem_core.votes.majority import fair_hits

SETS = (
    *("tree3k", "mniste", "mniste47", "ampdata", "condind", "uci_artchars", "uci_gesture", "ens_letter", "ens_digits"),
)
SIZES = (600, 1_200, 3_000, 10_000, 10**9)
BLANKED = ("tree3k", "ampdata", "mniste")
SHARES = (0.0, 0.001, 0.01, 0.05)
DRAWS = 10
FEW_SETS = (*(name for name in SETS if name != "mniste47"), "llm_mmlupro", "llmjudge_llmbar")
FEW_ROWS, SUBSETS = 3_000, 6
RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Print the page and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="sets (default: all, and draws)")
    options = parser.parse_args()
    folder = os.environ.get("DEEM_DATA")
    if not folder:
        print("Skipped: set DEEM_DATA to the folder of the ensembles.")
        return
    lines = list(page(Path(folder), options.names))
    print("\n".join(lines))
    if not options.names:
        (RESULTS / "grouping.md").write_text("\n".join([*lines, ""]), encoding="utf-8")


def page(folder: Path, names: list[str]) -> Iterator[str]:
    """Yield the page."""
    yield "# The grouped model at every size"
    yield ""
    yield "Made by `python -m benchmarks.bench_grouping`, which explains what runs."
    yield ""
    yield from table("set", cuts(folder, names or list(SETS)))
    if not names:
        yield ""
        yield f"## Noisy copies: condind with three copies of a guesser, {DRAWS} draws"
        yield ""
        yield from table("draw", copies())
        yield ""
        yield "## Votes blanked"
        yield ""
        yield from table("set, share of votes blanked", blanked(folder))
        yield ""
        yield f"## Few learners: {SUBSETS} draws of each number from each of {len(FEW_SETS)} sets, {FEW_ROWS:,} rows"
        yield ""
        yield from few_learners(folder)


def cuts(folder: Path, names: list[str]) -> Iterator[tuple[str, Votes]]:
    """Yield sets cut to every size."""
    for name in names:
        votes = load(folder, name)
        for size in SIZES:
            if size < votes.n_rows:
                rows = np.random.default_rng(size).choice(votes.n_rows, size, replace=False)
                yield name, votes.select_rows(np.sort(rows))
        yield name, votes


def copies() -> Iterator[tuple[str, Votes]]:
    """Yield draws of noisy copies in two sizes."""
    for rows in (1_200, 10_000):
        for seed in range(DRAWS):
            yield f"copies-{seed}", with_copies(rows, np.random.default_rng(seed))


def blanked(folder: Path) -> Iterator[tuple[str, Votes]]:
    """Yield sets with a share of their votes taken away."""
    for name in BLANKED:
        votes = load(folder, name)
        for share in SHARES:
            gone = np.random.default_rng(0).random(votes.codes.shape) < share
            yield f"{name}, {share:.1%}", replace(votes, codes=np.where(gone, -1, votes.codes))


def few_learners(folder: Path) -> Iterator[str]:
    """Yield how auto fares with few learners, by who answers."""
    yield "| learners | answered by | draws | mean difference | worst | set of the worst |"
    yield "|---|---|---|---|---|---|"
    for d in (3, 4, 5):
        gains: dict[str, list[tuple[float, str]]] = {}
        for name in FEW_SETS:
            votes = load(folder, name)
            votes = votes.select_rows(np.arange(min(FEW_ROWS, votes.n_rows)))
            for seed in range(SUBSETS):
                chosen = np.random.default_rng(seed).choice(votes.n_learners, d, replace=False)
                some = votes.select_learners(sorted(chosen.tolist()))
                made = decide(some, np.random.default_rng(0))
                gains.setdefault(made.answered_by, []).append((float(gain(some, made).mean()), name))
        for method, own in sorted(gains.items()):
            worst, where = min(own)
            mean = sum(value for value, _ in own) / len(own)
            yield f"| {d} | {method} | {len(own)} | {100 * mean:+.1f} | {100 * worst:+.1f} | {where} |"


def gain(votes: Votes, made: Decision) -> Floats:
    """Return what the answer gains over the majority vote in each row, (n,)."""
    assert votes.truth is not None  # noqa: S101  # every set here has one
    fair = fair_hits(votes.codes, votes.majority_vote, votes.truth)
    return np.asarray((made.aggregate.codes == votes.truth) - fair)


def table(head: str, cases: Iterator[tuple[str, Votes]]) -> Iterator[str]:
    """Yield the rows of a table of cases."""
    yield f"| {head} | rows | majority vote | auto | difference | answered by | groups | excess | noise |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for name, votes in cases:
        yield row(name, votes, decide(votes, np.random.default_rng(0)))


def row(name: str, votes: Votes, made: Decision) -> str:
    """Return what auto makes of a case."""
    assert votes.truth is not None  # noqa: S101  # every set here has one
    fair = fair_hits(votes.codes, votes.majority_vote, votes.truth)
    gained = gain(votes, made)
    error = gained.std() / np.sqrt(len(gained))
    grouping = made.grouping
    groups = "" if grouping is None else "·".join(str(len(group)) for group in grouping.groups) or "none"
    test = None if grouping is None else grouping.goodness
    excess = "" if test is None or test.excess is None else f"{test.excess:.4f}"
    noise = "" if test is None else f"{test.noise:.4f}"
    accuracy = 100 * (made.aggregate.codes == votes.truth).mean()
    cells = (name, f"{votes.n_rows:,}", f"{100 * fair.mean():.1f}", f"{accuracy:.1f}")
    gains = f"{100 * gained.mean():+.1f} ± {100 * error:.1f}"
    return f"| {' | '.join((*cells, gains, made.answered_by, groups, excess, noise))} |"


if __name__ == "__main__":
    main()
