"""Cliques: groups of learners with a high conditional kappa."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from deem_core.errors import InputError
from deem_core.typing import Floats

CUT = 0.55
"""Mean κ at which two clusters of learners are still joined."""
TIGHT = 0.7
"""Mean κ from which a clique gets one voice without a hedge."""

SAME = 0.9
"""Conditional κ from which two learners are taken as the same one."""

Pair = tuple[str, str]


@dataclass(frozen=True)
class Clique:
    """Learners taken as near-copies of one another.

    Attributes
    ----------
    learners : tuple of str
    kappa : float
        Mean conditional κ of its pairs.
    kind : "tight" or "loose"
        Tight from `TIGHT` on. A loose clique may as well be learners that are right together: where the others
        know little, independent good learners agree beyond them too.
    """

    learners: tuple[str, ...]
    kappa: float
    kind: Literal["tight", "loose"]


def find_cliques(kappa: Floats, learners: Sequence[str], cut: float = CUT, tight: float = TIGHT) -> tuple[Clique, ...]:
    """Return the cliques among d learners, in the order of their first members.

    Average linkage on 1 − κ, cut where the mean κ between two clusters falls below ``cut``; a clique has at
    least max(3, d/6) learners and is tight if the mean κ inside is ``tight`` or more.

    Parameters
    ----------
    kappa : (d, d) array
        From `conditional_kappa`.
    learners : sequence of d str
    """
    d = len(learners)
    if kappa.shape != (d, d):
        raise InputError(f"{d} learners need κ of shape {(d, d)}; this has shape {kappa.shape}.")
    if d < 3:
        return ()
    distance = np.maximum(1 - kappa, 0)
    np.fill_diagonal(distance, 0)
    cluster = fcluster(linkage(squareform(distance, checks=False), "average"), 1 - cut, "distance")
    cliques = []
    for label in dict.fromkeys(cluster.tolist()):  # in the order of first members
        members = np.flatnonzero(cluster == label)
        if len(members) >= max(3, d / 6):
            inside = kappa[np.ix_(members, members)][np.triu_indices(len(members), 1)]
            mean = float(inside.mean())
            cliques.append(
                Clique(tuple(learners[i] for i in members.tolist()), mean, "tight" if mean >= tight else "loose")
            )
    return tuple(cliques)


def same_pairs(kappa: Floats, learners: Sequence[str], groups: Sequence[Sequence[str]] = ()) -> tuple[Pair, ...]:
    """Return pairs of learners that are nearly the same.

    Pairs inside of known groups are left out.

    Parameters
    ----------
    kappa : (d, d) array
        From `conditional_kappa`.
    learners : sequence of d str
    groups : sequence of groups of names
    """
    first, second = np.nonzero(np.triu(kappa >= SAME, 1))
    pairs = ((learners[i], learners[j]) for i, j in zip(first.tolist(), second.tolist(), strict=True))
    return tuple(pair for pair in pairs if not any(set(pair) <= set(group) for group in groups))
