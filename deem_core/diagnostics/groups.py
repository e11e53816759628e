"""Tree of groups: label, hidden opinions of groups, and learners.

A group has an opinion of its own, which follows the label, and its learners follow that opinion: so they may err
together. A learner outside all groups follows the label itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from deem_core.diagnostics.model_view import FittedModel, class_names
from deem_core.files.results import Result
from deem_core.groups.latent_tree import ROOT
from deem_core.typing import Floats


@dataclass(frozen=True)
class GroupTree(Result):
    """Groups of d learners over K classes, in a fitted tree.

    Attributes
    ----------
    learners : tuple of d str
    classes : tuple of K str
    members : tuple of G tuples of int
        Positions of the learners of each group of two or more.
    label_group : int
        The group whose opinion is the label, -1 for none.
    opinions : (G, K, K) float64
        ``opinions[g, l, m]`` = Pr(opinion of group g is l | label is m).
    votes : (d, K, K) float64
        ``votes[i, l, m]`` = Pr(learner i votes l | what it follows is m): the opinion of its group, or, outside all
        groups, what stands above them.
    followed : (d, K) float64
        How often that is each class.
    votes_given_label : (d, K, K) float64
        The same given the label.
    prior : (K,) float64
        How often the label is each class.
    """

    learners: tuple[str, ...]
    classes: tuple[str, ...]
    members: tuple[tuple[int, ...], ...]
    label_group: int
    opinions: Floats
    votes: Floats
    followed: Floats
    votes_given_label: Floats
    prior: Floats

    @property
    def names(self) -> tuple[str, ...]:
        """What the groups are called, such as "group 1"."""
        return tuple(f"group {g + 1}" for g in range(len(self.members)))

    @property
    def branches(self) -> tuple[str, ...]:
        """The groups, then the learners."""
        return (*self.names, *self.learners)

    @property
    def singles(self) -> tuple[int, ...]:
        """Learners outside all groups."""
        grouped = {i for group in self.members for i in group}
        return tuple(i for i in range(len(self.learners)) if i not in grouped)

    @property
    def group_of(self) -> tuple[int | None, ...]:
        """Group of each learner; None outside all groups."""
        place: dict[int, int] = {i: g for g, group in enumerate(self.members) for i in group}
        return tuple(place.get(i) for i in range(len(self.learners)))

    @property
    def group_agreement(self) -> Floats:
        """How often the opinion of each group is the label, (G,)."""
        right = np.diagonal(self.opinions, axis1=1, axis2=2)
        return np.asarray(right @ self.prior)

    @property
    def follows(self) -> Floats:
        """How often each learner says what it follows, (d,)."""
        return np.asarray((np.diagonal(self.votes, axis1=1, axis2=2) * self.followed).sum(axis=1))

    @property
    def agreement(self) -> Floats:
        """How often each learner says the label, (d,), by the model's parameters."""
        return np.asarray(np.diagonal(self.votes_given_label, axis1=1, axis2=2) @ self.prior)

    def to_frame(self) -> pd.DataFrame:
        """Return a row per learner."""
        groups = self.group_of
        own = [None if g is None else float(self.group_agreement[g]) for g in groups]
        return pd.DataFrame(
            {
                "learner": list(self.learners),
                "group": ["" if g is None else self.names[g] for g in groups],
                "follows": self.follows,
                "group_agreement": np.asarray(own, np.float64),
                "agreement": self.agreement,
            }
        )


def group_tree(model: FittedModel) -> GroupTree | None:
    """Return the tree of a fitted model, if it has one."""
    tree = model.parts_[0].tree if model.parts_ else None
    if tree is None:
        return None
    given_label, prior = tree.confusion_given_label(), tree.prior
    votes, followed = tree.B.copy(), np.tile(tree.pi, (len(tree.B), 1))
    if tree.label == ROOT:  # those outside all groups follow the label
        alone = list(tree.singles)
        votes[alone], followed[alone] = given_label[alone], prior
    for group, between in zip(tree.groups, tree.A, strict=True):
        followed[list(group)] = between @ tree.pi
    return GroupTree(
        learners=model.learners_,
        classes=class_names(model.classes_),
        members=tree.groups,
        label_group=tree.label,
        opinions=tree.opinions_given_label(),
        votes=votes,
        followed=followed,
        votes_given_label=given_label,
        prior=prior,
    )
