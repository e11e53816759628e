"""Scores of finished labels: agreement, disputed rows and, with truth, accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from deem_core.comparison.evaluation import scale_scores
from deem_core.comparison.result import Agreement, Comparison, Difference, DisputedRow, MethodResult
from deem_core.methods.registry import SUBJECTS
from deem_core.typing import Codes, Floats, Mask
from deem_core.votes import NO_VOTE, Votes, statistics
from deem_core.votes.describe import accuracy, describe
from deem_core.votes.majority import majority_vote

MOST_DISPUTED = 200

MIN_JUDGED = 30
"""Votes with known truth that a single learner needs to be called the best."""

MAJORITY = "mv"
"""Scored with ties as a fair draw; its labels, which need one class, take the first of the tied ones."""

REFERENCES = (MAJORITY, *SUBJECTS)
"""Methods that all others are held against."""


def summarise(result: MethodResult, labels: Codes, votes: Votes) -> MethodResult:
    """Add label shares and stability of the (S, n) runs.

    Neither needs the truth.
    """
    voted = votes.votes_per_row > 0
    first = labels[0, voted]
    pairs = [float((a[voted] == b[voted]).mean()) for a, b in combinations(labels, 2)] if len(first) else []
    return replace(
        result,
        shares=(np.bincount(first, minlength=votes.n_classes) / max(len(first), 1)).tolist(),
        stability=float(np.mean(pairs)) if pairs else None,
    )


def evaluate(
    votes: Votes,
    results: Sequence[MethodResult],
    labels: dict[str, Codes],
    experts: Sequence[int],
    *,
    budget: float | None,
    random_state: int,
) -> Comparison:
    """Return the comparison of the (S, n) labels of every method that ran."""
    n_truth = 0 if votes.truth is None else int((votes.truth != NO_VOTE).sum())
    names = [str(label) for label in [*votes.classes.tolist(), *votes.truth_only.tolist()]]
    first = {name: runs[0] for name, runs in labels.items()}
    learners = _learner_accuracies(votes) if n_truth else None
    known = learners is not None and not np.isnan(learners).all()
    n_disputed, disputed = _disputed(votes, first, names)
    return Comparison(
        n_rows=votes.n_rows,
        n_learners=votes.n_learners,
        n_classes=votes.n_classes,
        n_truth=n_truth,
        classes=names,
        methods=tuple(_scored(votes, results, labels, experts, random_state) if n_truth else results),
        best_learner=votes.learners[int(np.nanargmax(learners))] if known and learners is not None else None,
        best_learner_accuracy=float(np.nanmax(learners)) if known and learners is not None else None,
        average_learner_accuracy=float(np.nanmean(learners)) if known and learners is not None else None,
        expert_classes=[names[code] for code in experts],
        agreement=_agreement(first, votes.votes_per_row > 0),
        n_disputed=n_disputed,
        disputed=disputed,
        budget=budget,
        labels=first,
        ordered=votes.ordered,
    )


def _learner_accuracies(votes: Votes) -> Floats | None:
    """Return the accuracy of each learner, (d,).

    NaN for those with too few votes to tell, unless all have so few.
    """
    accuracies, truth = describe(votes).learner_accuracy, votes.truth
    if accuracies is None or truth is None:
        return None
    n_judged = ((votes.codes != NO_VOTE) & (truth != NO_VOTE)[:, None]).sum(axis=0)
    enough = n_judged >= MIN_JUDGED
    return np.where(enough, accuracies, np.nan) if enough.any() else accuracies


def _scored(
    votes: Votes,
    results: Sequence[MethodResult],
    labels: dict[str, Codes],
    experts: Sequence[int],
    random_state: int,
) -> list[MethodResult]:
    truth = votes.truth
    assert truth is not None  # noqa: S101  # asked by the caller
    fair = statistics.FairVote.of(votes)  # always there, whether asked for or not
    scorable: dict[str, Codes | statistics.FairVote] = {**labels, MAJORITY: fair}
    references = {name: scorable[name] for name in REFERENCES if name in scorable}
    is_expert = np.isin(truth, list(experts))
    scored = []
    for result in results:
        if not result.ran:
            scored.append(result)
            continue
        runs, rng = scorable[result.name], np.random.default_rng(random_state)
        scores = statistics.scores(runs, truth, votes.n_classes + len(votes.truth_only), rng)
        error, kappa = scale_scores(votes, runs)
        expert, rest = (statistics.right_share(runs, truth, rows) for rows in (is_expert, ~is_expert))
        scored.append(
            replace(
                result,
                accuracy=scores.means["accuracy"],
                balanced_accuracy=scores.means["balanced_accuracy"],
                macro_f1=scores.means["macro_f1"],
                intervals={name: list(bounds) for name, bounds in scores.intervals.items()},
                std=scores.stds if len(labels[result.name]) > 1 else {},
                expert_accuracy=_number(expert) if experts else None,
                rest_accuracy=_number(rest) if experts else None,
                mean_absolute_error=error,
                quadratic_kappa=kappa,
                recalls=[_number(recall) for recall in scores.recalls.tolist()],
                first_class_accuracy=accuracy(votes.majority_vote.codes, truth) if result.name == MAJORITY else None,
                versus={
                    name: Difference(*statistics.paired_difference(runs, others, truth))
                    for name, others in references.items()
                    if name != result.name
                },
            )
        )
    return scored


def _agreement(labels: dict[str, Codes], voted: Mask) -> Agreement:
    names = list(labels)
    table = np.stack([labels[name][voted] for name in names]) if names else np.zeros((0, 0), np.int32)
    matrix = [[float((a == b).mean()) if len(a) else 1.0 for b in table] for a in table]
    return Agreement(names=names, matrix=matrix)


def _disputed(votes: Votes, labels: dict[str, Codes], names: Sequence[str]) -> tuple[int, tuple[DisputedRow, ...]]:
    """Return the number of disputed rows, and the most disputed ones."""
    if len(labels) < 2:
        return 0, ()
    table = np.stack(list(labels.values()), axis=1)  # (n, m)
    support = majority_vote(table).support
    rows = np.flatnonzero((support < len(labels)) & (votes.votes_per_row > 0))
    worst = rows[np.argsort(support[rows], kind="stable")][:MOST_DISPUTED]
    return len(rows), tuple(
        DisputedRow(
            row=int(row) + 1,
            id=str(votes.ids[row]),
            agreeing=float(support[row] / len(labels)),
            labels={name: names[code] for name, code in zip(labels, table[row], strict=True)},
        )
        for row in worst
    )


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
