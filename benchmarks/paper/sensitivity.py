"""Sensitivity: good and guessing learners added to a base of three (paper, sensitivity appendix)."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.paper.context import Context
from benchmarks.paper.data import COPIES, FAMILY_HEADS, Source, mniste
from benchmarks.paper.drawing import cells
from benchmarks.paper.outcome import Outcome, Table, mean
from benchmarks.paper.trained import trained, trained_row
from deem_core import Votes
from deem_core.simulation.ensemble import draw_votes

STEPS, QUICK_STEPS = (0, 3, 6, 9, 12), (0, 3)
MOST_ROWS = 10_000
HINT = 0.001  # share of true labels that a guesser is told (paper)
RUNS = 3


def run(context: Context) -> Outcome:
    """Train on every mixture of good and guessing learners."""
    base = mniste(context, MOST_ROWS)
    steps = QUICK_STEPS if context.quick else STEPS
    rows = [_row(context, base, good, noise) for good in steps for noise in steps]
    figures = {
        title: cells(rows, "guessing learners added", "good learners added", name, title="%")
        for name, title in (
            ("accuracy", "Accuracy"),
            ("accuracy quality", "Accuracy quality: right among the rows on which some learner is right"),
            ("any learner right", "Ceiling: rows on which some learner is right"),
        )
    }
    notes = [
        f"{base.name}: {base.about}; {base.votes.n_rows:,} evenly spread rows.",
        "Each run is one restart, as in the paper, where the default answers with the consensus of five.",
        "Good learners are added family by family in turn; guessers are right by chance, but for a thousandth of rows.",
        "Accuracy quality (the paper's measure) is the accuracy on rows where some learner is right. It falls faster "
        "than accuracy when guessers are added, because guessers are right by chance on some rows; so the ceiling "
        "stands beside it. The paper shows a picture, says that quality keeps when guessers are added, and tells of "
        "gains of 4, 7 and 10% from its seventh row on.",
    ]
    return Outcome([Table("sensitivity", "Learners added to a base of three", rows)], figures, notes, _findings(rows))


def _findings(rows: list[dict[str, Any]]) -> list[str]:
    """Return the base and what the most good and the most guessing learners make of it."""
    cells = {(row["good learners added"], row["guessing learners added"]): row for row in rows}
    many = max(good for good, _ in cells)

    def told(good: int, noise: int) -> str:
        row = cells[good, noise]
        if row["accuracy"] is None:
            return f"{good} good and {noise} guessing learners added: no answer"
        return (
            f"{good} good and {noise} guessing learners added: accuracy {row['accuracy']:.1f} of a ceiling of "
            f"{row['any learner right']:.1f}, so quality {row['accuracy quality']:.1f}"
        )

    return [f"{told(good, noise)}." for good, noise in ((0, 0), (many, 0), (0, many), (many, many))]


def mixture(base: Votes, good: int, noise: int) -> Votes:
    """Return one learner of each family, some more in turn over the families, and some that guess.

    The same guessers come back in every mixture, and so does their order.
    """
    turns = [head + turn for turn in range(COPIES) for head in FAMILY_HEADS]
    chosen = base.select_learners(turns[: len(FAMILY_HEADS) + good])
    K = base.n_classes
    psi = np.repeat((HINT * np.eye(K) + (1 - HINT) / K)[None], noise, axis=0)
    guesses = draw_votes(np.random.default_rng(0), psi, np.asarray(base.truth)[:, None])
    names = (*chosen.learners, *(f"guess_{at + 1}" for at in range(noise)))
    return Votes(np.hstack([chosen.codes, guesses]), base.classes, names, truth=base.truth)


def _row(context: Context, base: Source, good: int, noise: int) -> dict[str, Any]:
    source = Source(f"{base.name}-plus{good}good{noise}guess", mixture(base.votes, good, noise), base.about)
    units = [trained(context, source, seed, restarts=1) for seed in context.seeds(RUNS)]
    told = trained_row(units)
    ran = [unit for unit in units if unit["right"] is not None]
    return {
        "good learners added": good,
        "guessing learners added": noise,
        "accuracy": told["accuracy"],
        "sd": told["sd"],
        "runs": told["runs"],
        "accuracy quality": mean([unit["quality"] for unit in ran]),
        "any learner right": mean([unit["any_right"] for unit in ran]),
        "note": told["note"],
    }
