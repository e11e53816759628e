"""Duplicates: learners that are the same, or nearly.

They are one opinion with several votes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from deem_core.diagnostics.checkup.findings import Finding, as_list, basis, in_order, may_leave
from deem_core.groups.cliques import SAME, Clique, Pair, find_cliques, same_pairs
from deem_core.groups.kappa import MAX_ROWS, conditional_kappa
from deem_core.groups.reduction import Reduction
from deem_core.training.near_copies.guard import MIN_SEARCHED
from deem_core.typing import Floats
from deem_core.votes import Votes
from deem_core.votes.recode import MIN_LEARNERS

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
            f"Same votes on every row: {_some([as_list(group) for group in groups], 'groups')}. The same opinion "
            "counts several times and may outvote the others.",
            "Keep one of each group.",
            learners=in_order(votes, [name for group in groups for name in group]),
            leave_out=may_leave(votes, [name for group in groups for name in group[1:]]),
            numbers={"groups": tuple(groups)},
        )
    if votes.n_learners < MIN_LEARNERS:
        return
    kappa, used = _kappa(votes)
    cliques = find_cliques(kappa, votes.learners) if votes.n_learners >= MIN_SEARCHED else ()
    yield from _cliques(votes, cliques, groups, used)
    yield from _pairs(votes, same_pairs(kappa, votes.learners, [each.learners for each in cliques] + groups), used)


def near_pairs(votes: Votes) -> tuple[Pair, ...]:
    """Return pairs of learners that are nearly the same.

    Those in a larger group are left out.
    """
    if votes.n_learners < MIN_LEARNERS:
        return ()
    kappa, _ = _kappa(votes)
    return same_pairs(kappa, votes.learners, [clique.learners for clique in find_cliques(kappa, votes.learners)])


def _kappa(votes: Votes) -> tuple[Floats, int]:
    """Return conditional κ of all pairs, (d, d), and the rows it rests on."""
    n_pairs = votes.n_learners * (votes.n_learners - 1) // 2
    rows = int(np.clip(_KAPPA_ROWS // n_pairs, 1000, MAX_ROWS))
    kappa = conditional_kappa(votes, np.random.default_rng(0), rows)  # the guard draws its rows in the same way
    return kappa, min(rows, int((votes.votes_per_row >= 3).sum()))


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
                "Such a group can dominate the answer."
            )
            remedy = "gives each group one vote, its own majority"
        else:
            sentence = (
                f"They agree beyond what the other learners explain{basis(rows_used, votes.n_rows)}: {groups}. They "
                "may be related models, or simply right together."
            )
            remedy = "trains with all votes and again with one vote per group, and averages the two"
        if treated:
            advice = f"Nothing to do: the near-copy guard {remedy} (setting near_copies)."
        else:
            advice = (
                "The near-copy guard does not merge them here, since fewer than three votes would remain: add "
                "different learners."
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


def _pairs(votes: Votes, pairs: Sequence[Pair], rows_used: int) -> Iterator[Finding]:
    """Describe pairs that are nearly the same.

    They are too few for a clique, so the guard does not treat them.
    """
    if pairs:
        text = _some([" and ".join(pair) for pair in pairs], "pairs")
        yield Finding(
            "near_identical",
            "warning",
            "Nearly identical pair" if len(pairs) == 1 else "Nearly identical pairs",
            f"{text} agree far more than the other learners explain (κ of {SAME:g} or more): "
            "nearly one opinion with two votes.",
            "Leave one of each pair out if they are versions of one model: pairs are not corrected automatically, "
            "groups of three or more are.",
            learners=in_order(votes, [name for pair in pairs for name in pair]),
            leave_out=may_leave(votes, {later for _, later in pairs}),
            numbers={"pairs": tuple(pairs), "rows_used": rows_used},
        )


def _some(groups: Sequence[str], noun: str) -> str:
    """List the first few groups, and say how many more there are."""
    more = f"; and {len(groups) - MOST_GROUPS:,} more {noun}" if len(groups) > MOST_GROUPS else ""
    return "; ".join(groups[:MOST_GROUPS]) + more
