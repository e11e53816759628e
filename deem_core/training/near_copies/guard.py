"""Guard against near-copies: the cliques, the tables to train on, and sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from deem_core.errors import InputError
from deem_core.groups.cliques import Clique, Pair, find_cliques, same_pairs
from deem_core.groups.kappa import MAX_ROWS, MIN_COMMON_ROWS, kappa_and_rows
from deem_core.groups.reduction import Reduction
from deem_core.text import count, listing
from deem_core.votes import Votes
from deem_core.votes.recode import MIN_LEARNERS

Mode = Literal["guard", "keep", "collapse"]

MOST_PAIRS = 5
"""Nearly identical pairs that a sentence lists."""

MIN_SEARCHED = 4
"""A clique has three learners or more, so that fewer than four hold nothing else to compare it with."""


@dataclass(frozen=True)
class GuardPlan:
    """What the guard found and what to train on.

    Attributes
    ----------
    cliques : tuple of Clique
        Found, whatever was done about them.
    base : Reduction
        The table to train on, and whose majority vote is the reference for alignment, share check and fallback.
    hedge : Reduction, optional
        A second table, with the loose cliques collapsed as well: the answer is then the mean of both
        trainings' posteriors and the vote shares.
    sentences : tuple of str
        Which learners were taken as near-copies, with κ, and what was done.
    """

    cliques: tuple[Clique, ...]
    base: Reduction
    hedge: Reduction | None
    sentences: tuple[str, ...]


def guard(votes: Votes, mode: Mode, rng: np.random.Generator, *, grouped: bool = False) -> GuardPlan:
    """Look for near-copies and plan what to do about them.

    Parameters
    ----------
    votes : Votes
    mode : "guard", "keep" or "collapse"
        Collapse tight cliques and hedge loose ones; report only; collapse all of them.
    rng : np.random.Generator
        Chooses the rows that κ is estimated on where there are more than `MAX_ROWS`.
    grouped : bool
        Whether training starts from groups of learners, so that "guard" only reports.
    """
    if mode not in get_args(Mode):
        raise InputError(f"near_copies is {mode!r}; choose one of {', '.join(get_args(Mode))}.")
    everyone = Reduction.of(votes.learners)
    if votes.n_learners < MIN_SEARCHED:
        text = f"No search for near-copies: it needs at least {MIN_SEARCHED} learners."
        return GuardPlan((), everyone, None, (text,))
    kappa, common = kappa_and_rows(votes, rng, MAX_ROWS)
    cliques = find_cliques(kappa, votes.learners)
    tight = tuple(clique for clique in cliques if clique.kind == "tight")
    acts = mode == "guard" and not grouped
    collapsed = cliques if mode == "collapse" else tight if acts else ()
    hedged = cliques if acts and len(tight) < len(cliques) else ()
    least = min(len(Reduction.of(votes.learners, chosen).members) for chosen in (collapsed, hedged))
    if least < MIN_LEARNERS:  # fewer voices identify nothing; the hedge collapses more, so it is the first to go
        hedged = ()
    if len(Reduction.of(votes.learners, collapsed).members) < MIN_LEARNERS:
        collapsed = ()
    return GuardPlan(
        cliques,
        base=Reduction.of(votes.learners, collapsed),
        hedge=Reduction.of(votes.learners, hedged) if hedged else None,
        sentences=(
            *_findings(cliques, collapsed, hedged, _untouched(mode, grouped, least)),
            *_pair_note(same_pairs(kappa, votes.learners, [clique.learners for clique in cliques]), bool(cliques)),
            *_sparse_note(common),
        ),
    )


def _findings(
    cliques: Sequence[Clique], collapsed: Sequence[Clique], hedged: Sequence[Clique], untouched: str
) -> list[str]:
    """Return sentences on near-copies, with κ, and what was done about them."""
    treatments = [
        ("Near-copies", "Each group counts once, by its own majority vote", collapsed),
        (
            "Possible near-copies",
            "Trained with every vote counted and again with each group counted once; the answer is the mean of both "
            "and the vote shares",
            [clique for clique in hedged if clique not in collapsed],
        ),
        ("Near-copies", untouched, [clique for clique in cliques if clique not in collapsed and clique not in hedged]),
    ]
    return [
        f"{finding}: {'; '.join(_in_words(clique) for clique in group)}. {action}."
        for finding, action, group in treatments
        if group
    ]


def _untouched(mode: Mode, grouped: bool, least: int) -> str:
    """Return why near-copies kept their voices, where they did."""
    if mode == "keep":
        return "Every learner counts in full, as requested"
    if mode == "guard" and grouped:
        return (
            "Every learner counts in full: training starts from the grouped model, which already knows who makes "
            "the same mistakes"
        )
    return (
        f"Every learner counts in full: counting each group once would leave {least} of them, and fewer than "
        f"{MIN_LEARNERS} are not enough"
    )


def _in_words(clique: Clique) -> str:
    return f"{listing(clique.learners, rest='others')} (mean κ {clique.kappa:.2f})"


def _pair_note(pairs: Sequence[Pair], groups: bool) -> list[str]:
    """Say which pairs are nearly the same; such pairs keep both votes."""
    if not pairs:
        return []
    named = "; ".join(f"{first} and {second}" for first, second in pairs[:MOST_PAIRS])
    more = f"; and {len(pairs) - MOST_PAIRS:,} more" if len(pairs) > MOST_PAIRS else ""
    found = f"{count(len(pairs), 'nearly identical pair')}: {named}{more}"
    begin = "Besides these," if groups else "No group of three or more near-copies, but"
    return [f"{begin} {found}. Pairs are not corrected automatically: leave one out if they are versions of one model."]


def _sparse_note(common: NDArray[np.int64]) -> list[str]:
    """Say how many pairs were passed over for want of common rows."""
    pairs = common[np.triu_indices(len(common), 1)]
    rare = int((pairs < MIN_COMMON_ROWS).sum())
    if not rare:
        return []
    return [
        f"{rare:,} of {len(pairs):,} pairs of learners share fewer than {MIN_COMMON_ROWS} rows in which a third one "
        "voted; they count as independent (κ = 0) in the search for near-copies."
    ]
