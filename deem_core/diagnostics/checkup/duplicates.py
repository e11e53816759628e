"""Learners that are the same, or nearly: one opinion with several votes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from deem_core.copies.cliques import Clique, find_cliques
from deem_core.copies.guard import MIN_LEARNERS, MIN_REMAINING
from deem_core.copies.kappa import MAX_ROWS, Float, conditional_kappa
from deem_core.copies.reduction import Reduction
from deem_core.diagnostics.checkup.finding import Finding, basis, in_order, may_leave, quoted
from deem_core.votes import Votes

SAME = 0.9
"""Conditional κ from which two learners are taken as the same one."""

MOST_GROUPS = 5
"""Groups that a sentence lists."""

_KAPPA_ROWS = 10_000_000  # rows × pairs of learners for conditional κ: about a second


def copies(votes: Votes) -> Iterator[Finding]:
    """Learners that are the same, or nearly."""
    constants = set(votes.constant_learners)
    groups = [group for group in votes.identical_learners if not constants.issuperset(group)]
    if groups:
        yield Finding(
            "identical_learners",
            "warning",
            "Identical learners",
            f"Same votes on every row: {_some([quoted(group) for group in groups], 'groups')}. One opinion counts "
            "several times and may outvote the others.",
            "Keep one of each group.",
            learners=in_order(votes, [name for group in groups for name in group]),
            leave_out=may_leave(votes, [name for group in groups for name in group[1:]]),
            numbers={"groups": tuple(groups)},
        )
    if votes.n_learners < MIN_REMAINING:
        return
    n_pairs = votes.n_learners * (votes.n_learners - 1) // 2
    rows = int(np.clip(_KAPPA_ROWS // n_pairs, 1000, MAX_ROWS))
    kappa = conditional_kappa(votes, np.random.default_rng(0), rows)  # the guard draws its rows in the same way
    used = min(rows, int((votes.votes_per_row >= 3).sum()))
    cliques = find_cliques(kappa, votes.learners) if votes.n_learners >= MIN_LEARNERS else ()
    yield from _cliques(votes, cliques, groups, used)
    yield from _pairs(votes, kappa, [clique.learners for clique in cliques] + groups, used)


def _cliques(
    votes: Votes, cliques: Sequence[Clique], identical: Sequence[tuple[str, ...]], rows_used: int
) -> Iterator[Finding]:
    """Cliques by kind, but for those that are identical learners and told already."""
    for kind in ("tight", "loose"):
        found = [
            clique
            for clique in cliques
            if clique.kind == kind and not any(set(clique.learners) <= set(group) for group in identical)
        ]
        if not found:
            continue
        groups = _some([f"{quoted(clique.learners)} (κ {clique.kappa:.2f})" for clique in found], "groups")
        collapsed = [clique for clique in cliques if kind == "loose" or clique.kind == "tight"]  # as the guard does
        treated = len(Reduction.of(votes.learners, collapsed).members) >= MIN_REMAINING
        if kind == "tight":
            sentence = (
                f"They agree far beyond what the other learners explain{basis(rows_used, votes.n_rows)}: {groups}. "
                "Such a group can capture the answer."
            )
            remedy = "gives each group one voice, its own majority vote"
        else:
            sentence = (
                f"They agree beyond what the other learners explain{basis(rows_used, votes.n_rows)}: {groups}. They "
                "may be relatives, or simply right together."
            )
            remedy = "trains with all voices and again with one voice per group, and takes the mean"
        if treated:
            advice = f"Nothing to do: the near-copy guard {remedy} (setting near_copies)."
        else:
            advice = (
                "The near-copy guard leaves them alone here, since fewer than three voices would remain: bring "
                "learners of another kind."
            )
        yield Finding(
            "near_copies",
            "note" if kind == "loose" and treated else "warning",
            "Near-copies" if kind == "tight" else "Possible near-copies",
            sentence,
            advice,
            learners=in_order(votes, [name for clique in found for name in clique.learners]),
            numbers={
                "groups": tuple(clique.learners for clique in found),
                "kappa": tuple(clique.kappa for clique in found),
                "treated": treated,
                "rows_used": rows_used,
            },
        )


def _pairs(votes: Votes, kappa: Float, told: Sequence[tuple[str, ...]], rows_used: int) -> Iterator[Finding]:
    """Pairs that are nearly the same: too few for a clique, so the guard does not treat them."""
    first, second = np.nonzero(np.triu(kappa >= SAME, 1))
    pairs = [(votes.learners[i], votes.learners[j]) for i, j in zip(first.tolist(), second.tolist(), strict=True)]
    pairs = [pair for pair in pairs if not any(set(pair) <= set(group) for group in told)]
    if pairs:
        text = _some([" and ".join(pair) for pair in pairs], "pairs")
        yield Finding(
            "near_identical",
            "note",
            "Nearly identical pairs",
            f"{text} agree on almost everything that the other learners do not explain (κ of {SAME:g} or more): "
            "nearly one opinion with two votes.",
            "Leave one of each pair out if they are versions of one model; the near-copy guard treats groups of three "
            "or more only.",
            learners=in_order(votes, [name for pair in pairs for name in pair]),
            leave_out=may_leave(votes, {later for _, later in pairs}),
            numbers={"pairs": tuple(pairs), "rows_used": rows_used},
        )


def _some(groups: Sequence[str], noun: str) -> str:
    """Return the first few groups as text, and how many more there are."""
    more = f"; and {len(groups) - MOST_GROUPS:,} more {noun}" if len(groups) > MOST_GROUPS else ""
    return "; ".join(groups[:MOST_GROUPS]) + more
