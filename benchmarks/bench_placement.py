"""Where the label of a tree is placed: groups by BIC alone, and with the group that the test of fit puts back.

Usage: [DEEM_DATA=folder] python -m benchmarks.bench_placement

Draws of three families of five learners with ten classes (those of bench_large, and seven more) in two sizes, and with
DEEM_DATA two real ensembles whose families err together, where no group may come back. The truth is used for the
accuracies alone. The page is written to benchmarks/results/placement.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.bench_accuracy import load
from deem_core import Votes, simulation
from deem_core.groups.em import HARD_ROUNDS, ROUNDS, fit
from deem_core.groups.grouping import Grouping, explain
from deem_core.groups.latent_tree import Groups
from deem_core.groups.search import find_groups
from deem_core.methods import dawid_skene
from deem_core.simulation.ensemble import draw_votes
from deem_core.votes.describe import accuracy, majority_accuracy
from deem_core.votes.patterns import Table

LEARNERS, CLASSES, SEEDS, SIZES = 15, 10, range(8), (5_000, 20_000)
REAL, REAL_SIZES = ("mniste", "mniste47"), (3_000, 10_000, 60_000)
RESULT = Path(__file__).parent / "results" / "placement.md"


def main() -> None:
    """Print the page and write it."""
    lines = []
    for line in page():
        print(line, flush=True)
        lines.append(line)
    RESULT.write_text("\n".join([*lines, ""]), encoding="utf-8")


def page() -> Iterator[str]:
    """Yield the page."""
    yield "# Where the label is placed"
    yield ""
    yield "Made by `python -m benchmarks.bench_placement`, which explains what runs. Accuracy in per cent."
    yield ""
    yield "| set | rows | majority vote | Dawid-Skene | by BIC alone | groups | grouped model | groups | excess |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for name, votes in cases():
        yield row(name, votes)


def cases() -> Iterator[tuple[str, Votes]]:
    """Yield names and votes."""
    for seed in SEEDS:
        for rows in SIZES:
            yield f"tree-{seed}", draw(seed, rows)
    folder = os.environ.get("DEEM_DATA")
    for name in REAL if folder else ():
        votes = load(Path(str(folder)), name)
        for rows in REAL_SIZES:
            chosen = np.random.default_rng(rows).choice(votes.n_rows, rows, replace=False)
            yield name, votes.select_rows(np.sort(chosen))


def draw(seed: int, rows: int) -> Votes:
    """Return rows of the tree that bench_large draws from with seed 0."""
    ensemble = simulation.simulate("tree", 1_000, seed, LEARNERS, CLASSES)
    assert ensemble.parent_psi is not None and ensemble.leaf_psi is not None and ensemble.groups is not None  # noqa: PT018, S101
    rng = np.random.default_rng(1)
    truth = rng.choice(len(ensemble.pi), rows, p=ensemble.pi).astype(np.int32)
    heads = draw_votes(rng, ensemble.parent_psi, truth[:, None])
    codes = draw_votes(rng, ensemble.leaf_psi, heads[:, ensemble.groups])
    return Votes(codes, ensemble.votes.classes, ensemble.votes.learners, truth=truth)


def row(name: str, votes: Votes) -> str:
    """Return the accuracies of one set."""
    assert votes.truth is not None  # noqa: S101
    bare, rng = votes.without_truth(), np.random.default_rng
    by_bic = find_groups(bare, rng(0)).best.groups
    before = fit(Table.of_votes(bare).voted, by_bic, rounds=ROUNDS, hard_rounds=HARD_ROUNDS).model
    found: Grouping = explain(bare, rng(0))
    assert found.model is not None  # noqa: S101  # such votes are never refused
    scores = [
        100 * majority_accuracy(votes),
        100 * accuracy(dawid_skene.aggregate(bare, rng(0)).codes, votes.truth),
        100 * accuracy(before.posterior(votes.codes).argmax(axis=1), votes.truth),
        100 * accuracy(found.model.posterior(votes.codes).argmax(axis=1), votes.truth),
    ]
    majority, model, first, last = (f"{score:.1f}" for score in scores)
    cells = [name, f"{votes.n_rows:,}", majority, model, first, _sizes(by_bic), last, _sizes(found.groups)]
    return f"| {' | '.join(cells)} | {found.excess:.4f} |"


def _sizes(groups: Groups) -> str:
    return "·".join(str(len(group)) for group in groups) or "none"


if __name__ == "__main__":
    main()
