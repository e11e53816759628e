"""Grouping: groups of learners, the fitted tree, and whether it fits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deem_core.control import NO_CONTROL, Control
from deem_core.groups.em import HARD_ROUNDS, fit
from deem_core.groups.goodness import goodness, testable
from deem_core.groups.latent_tree import GroupedModel, Groups, Table
from deem_core.groups.search import MAX_LEARNERS, MIN_LEARNERS, find_groups
from deem_core.votes import Votes


@dataclass(frozen=True, eq=False)
class Grouping:
    """Groups of learners with the model fitted to them."""

    groups: Groups
    model: GroupedModel | None
    fits: bool
    reason: str


def explain(votes: Votes, rng: np.random.Generator, *, control: Control = NO_CONTROL) -> Grouping:
    """Look for groups, fit the tree, and test the fit."""
    if not MIN_LEARNERS <= votes.n_learners <= MAX_LEARNERS or not testable(votes.codes):
        return Grouping((), None, False, "Groups of learners were not looked for.")
    groups = find_groups(votes, rng, control=control).best.groups
    model = fit(Table.of(votes.codes, votes.n_classes), groups, hard_rounds=HARD_ROUNDS, control=control).model
    test = goodness(votes.codes, model, rng, control=control)
    fits = test.excess is not None and test.excess <= 0.008
    words = "explain the votes" if fits else "do not explain the votes"
    return Grouping(groups, model, fits, f"{len(groups)} groups of learners that err together {words}.")
