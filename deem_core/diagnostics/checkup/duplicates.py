"""Duplicates: learners that are the same, or nearly.

They are one opinion with several votes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from deem_core.diagnostics.checkup.findings import Finding, as_list, basis, in_order, may_leave
from deem_core.groups.cliques import Clique, find_cliques
from deem_core.groups.kappa import MAX_ROWS, conditional_kappa
from deem_core.groups.reduction import Reduction
from deem_core.training.near_copies.guard import MIN_SEARCHED
from deem_core.typing import Floats
from deem_core.votes import Votes
from deem_core.votes.recode import MIN_LEARNERS

SAME = 0.9
"""Conditional κ from which two learners are taken as the same one."""

MOST_GROUPS = 5
"""Groups that a sentence lists."""

_KAPPA_ROWS = 10_000_000  # rows × pairs of learners for conditional κ: about a second


def copies(votes: Votes) -> Iterator[Finding]:
    """Find learners that are the same, or nearly."""
    constants = set(votes.constant_learners)
    groups = [group for group in votes.identical_learners if not constants.issuperset(group)]
    if groups:
        yield Finding(
            "identical_learners",
            "warning",
            "Identical learners",
            f"Same votes on every row: {_some([as_list(group) for group in groups], 'groups')}. One opinion counts "
            "several times and may outvote the others.",
            "Keep one of each group.",
            learners=in_order(votes, [name for group in groups for name in group]),
            leave_out=may_leave(votes, [name for group in groups for name in group[1:]]),
            numbers={"groups": tuple(groups)},
        )
    if votes.n_learners < MIN_LEARNERS:
        return
    n_pairs = votes.n_learners * (votes.n_learners - 1) // 2
    rows = int(np.clip(_KAPPA_ROWS // n_pairs, 1000, MAX_ROWS))
    kappa = conditional_kappa(votes, np.random.default_rng(0), rows)  # the guard draws its rows in the same way
    used = min(rows, int((votes.votes_per_row >= 3).sum()))
    cliques = find_cliques(kappa, votes.learners) if votes.n_learners >= MIN_SEARCHED else ()
    yield from _cliques(votes, cliques, groups, used)
    yield from _pairs(votes, kappa, [clique.learners for clique in cliques] + groups, used)


def _cliques(
    votes: Votes, cliques: Sequence[Clique], identical: Sequence[tuple[str, ...]], rows_used: int
) -> Iterator[Finding]:
    """Describe cliques by kind, without those of identical learners."""
    for kind in ("tight", "loose"):
        own = [
            clique
            for clique in cliques
            if clique.kind == kind and not any(set(clique.learners) <= set(group) for group in identical)
        ]
        if not own:
            continue
        groups = _some([f"{as_list(clique.learners)} (κ {clique.kappa:.2f})" for clique in own], "groups")
        collapsed = [clique for clique in cliques if kind == "loose" or clique.kind == "tight"]  # as the guard does
        treated = len(Reduction.of(votes.learners, collapsed).members) >= MIN_LEARNERS
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
            learners=in_order(votes, [name for clique in own for name in clique.learners]),
            numbers={
                "groups": tuple(clique.learners for clique in own),
                "kappa": tuple(clique.kappa for clique in own),
                "treated": treated,
                "rows_used": rows_used,
            },
        )


def _pairs(votes: Votes, kappa: Floats, known_groups: Sequence[tuple[str, ...]], rows_used: int) -> Iterator[Finding]:
    """Describe pairs that are nearly the same.

    They are too few for a clique, so the guard does not treat them.
    """
    first, second = np.nonzero(np.triu(kappa >= SAME, 1))
    pairs = [(votes.learners[i], votes.learners[j]) for i, j in zip(first.tolist(), second.tolist(), strict=True)]
    pairs = [pair for pair in pairs if not any(set(pair) <= set(group) for group in known_groups)]
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
    """List the first few groups, and say how many more there are."""
    more = f"; and {len(groups) - MOST_GROUPS:,} more {noun}" if len(groups) > MOST_GROUPS else ""
    return "; ".join(groups[:MOST_GROUPS]) + more
