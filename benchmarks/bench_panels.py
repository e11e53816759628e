"""Crowds, panels and rules: the safe vote beside the majority vote, effective votes beside those by the truth.

Usage: DEEM_DATA=folder python -m benchmarks.bench_panels [NAME ...]

One run each, seed 0. Ties of the majority vote count as a fair draw, a row without votes as wrong; standard errors are
of the paired difference over rows. Without names the tables are written to benchmarks/results/panels.md.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import numpy as np

from benchmarks.bench_accuracy import load as load_crowd
from deem_core import Votes
from deem_core.diagnostics import panel_health, true_effective_votes
from deem_core.methods import registry
from deem_core.typing import Floats
from deem_core.votes import NO_VOTE
from deem_core.votes.majority import vote_shares

STORED = {
    "llmjudge_llmbar": "LLMBar, 24 LLM judges",
    "llm_mmlupro": "MMLU-Pro, 29 LLMs",
    "ws_youtube": "YouTube spam, ten rules",
    "cifar10n": "CIFAR-10N, three people",
    "crowd_web": "web, crowd",
    "crowd_cf": "cf, crowd",
    "crowd_facteval": "fact evaluation, crowd",
    "crowd_zencrowd_all": "ZenCrowd, all workers",
}
CROWDS = {
    "crowd_bluebird": "bluebird, crowd",
    "crowd_rte": "RTE, crowd",
    "crowd_ms": "music genres, crowd",
    "crowd_dog": "dog breeds, crowd",
    "crowd_zencrowd_us": "ZenCrowd, US workers",
}
ENSEMBLES = {"condind": "condind", "tree3k": "tree3k", "mniste": "mniste", "uci_gesture": "uci_gesture"}
PAGE = Path(__file__).parent / "results" / "panels.md"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="sets (default: all)")
    options = parser.parse_args()
    folder = os.environ.get("DEEM_DATA")
    if not folder:
        print("DEEM_DATA names no folder of ensembles: nothing to do.")
        return
    safe, effective = [], []
    for name, title in (STORED | CROWDS | ENSEMBLES).items():
        if options.names and name not in options.names:
            continue
        votes = load(Path(folder), name)
        effective.append(_effective_line(title, votes))
        print(effective[-1], flush=True)
        if name not in ENSEMBLES:
            safe.append(_safe_line(title, votes))
            print(safe[-1], flush=True)
    page = "\n".join(
        [
            "# Crowds, panels and rules",
            "",
            f"`{Path(sys.argv[0]).name}`: seed 0; ties of the majority vote as a fair draw, rows without votes wrong.",
            "",
            "| | majority vote | safe vote | difference ± standard error |",
            "|---|---|---|---|",
            *safe,
            "",
            "| | votes per row | effective votes | by the truth |",
            "|---|---|---|---|",
            *effective,
            "",
        ]
    )
    if not options.names:
        PAGE.write_text(page, encoding="utf-8")


def load(folder: Path, name: str) -> Votes:
    """Return the votes of a set, with truth."""
    if name in CROWDS:
        return load_crowd(folder, name)
    with np.load(folder / f"{name}.npz") as stored:
        return Votes(
            stored["X"].astype(np.int32),
            np.arange(int(stored["K"])),
            [str(learner) for learner in stored["learners"]],
            truth=stored["y"].astype(np.int32),
        )


def fair_majority(votes: Votes) -> Floats:
    """Return the expected share of right answers of each row with a fair draw among ties, (n,)."""
    assert votes.truth is not None  # noqa: S101
    shares = vote_shares(votes.codes, votes.n_classes)
    winners = (shares == shares.max(axis=1, keepdims=True)) & (shares > 0)
    inside = (votes.truth >= 0) & (votes.truth < votes.n_classes)
    right = np.zeros(votes.n_rows)
    right[inside] = (winners / np.maximum(winners.sum(axis=1, keepdims=True), 1))[inside, votes.truth[inside]]
    return right


def _safe_line(title: str, votes: Votes) -> str:
    assert votes.truth is not None  # noqa: S101
    known = votes.truth != NO_VOTE
    answer = registry.aggregate("safe", votes, np.random.default_rng(0))
    hits = ((answer.codes == votes.truth) & answer.voted)[known]
    majority = fair_majority(votes)[known]
    gain = hits - majority
    error = gain.std() / np.sqrt(len(gain))
    sign = "−" if gain.mean() < 0 else "+"
    difference = f"{sign}{100 * abs(gain.mean()):.1f} ± {100 * error:.1f}"
    return f"| {title} | {100 * majority.mean():.1f} | {100 * hits.mean():.1f} | {difference} |"


def _effective_line(title: str, votes: Votes) -> str:
    found = panel_health(votes, np.random.default_rng(0)).effective
    figures = (found.per_row, found.n_eff, true_effective_votes(votes, np.random.default_rng(0)))
    return f"| {title} | {' | '.join('–' if figure is None else f'{figure:.1f}' for figure in figures)} |"


if __name__ == "__main__":
    main()
