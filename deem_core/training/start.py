"""Start of a training: the majority vote, or groups of learners.

From the majority vote the label may end up on one group of dependent learners (capture). Where a latent tree of label,
groups and learners explains the votes, training starts there instead, and small steps keep it there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import torch

from deem_core.control import NO_CONTROL, Control, Saved
from deem_core.groups.grouping import Grouping, explain, group_words
from deem_core.groups.latent_tree import GroupedModel
from deem_core.model.config import GIVEN, Settings, Shape, TrainConfig, resolve
from deem_core.model.energy import posterior
from deem_core.model.group_start import group_parameters, rooted
from deem_core.training.near_copies import GuardPlan, guard
from deem_core.typing import Integers
from deem_core.votes import Votes
from deem_core.votes.arrays import spread_rows

STEP = "Looking for groups of learners"
"""What is being done, for those who are told."""

AGREEMENT = 0.9
"""Share of the rows on which the started model must say what the tree says; else training starts from the votes."""

CHECKED_ROWS = 5_000
"""Rows, evenly spread, on which that is checked."""

NOTHING_TO_SWEEP = "from there the energies neither dip nor recover, so no sweep could tell rates apart"
"""Why a sweep does not start from groups."""

Kind = Literal["majority", "groups"]

_KEY = "start"


@dataclass(frozen=True, eq=False)
class Start:
    """Where a training starts, and why.

    Attributes
    ----------
    kind : "majority" or "groups"
    reason : str
    tree : GroupedModel, optional
        The latent tree to start from, its label at the root; None for the majority vote.
    warning : str
        What to tell somebody who asked for groups; empty if there is nothing to say.
    """

    kind: Kind
    reason: str
    tree: GroupedModel | None = None
    warning: str = ""

    def settings(self, config: TrainConfig, votes: Votes) -> Settings:
        """Return the settings of a training from here on some votes."""
        shape = replace(Shape.of(votes), n_groups=0 if self.tree is None else len(self.tree.groups))
        settings = resolve(replace(config, start=self.kind), shape)
        return Settings(settings.config, {**settings.reasons, "start": self.reason})

    def to_saved(self) -> Saved:
        """Return the start as a checkpoint."""
        notes: dict[str, Any] = {"kind": self.kind, "reason": self.reason, "warning": self.warning}
        if self.tree is None:
            return Saved({}, notes)
        arrays = {"pi": self.tree.pi, "A": self.tree.A, "B": self.tree.B}
        return Saved(
            {name: torch.as_tensor(array) for name, array in arrays.items()}, {**notes, "groups": self.tree.groups}
        )

    @classmethod
    def from_saved(cls, saved: Saved) -> Start:
        """Inverse of `to_saved`."""
        notes, tree = saved.notes, None
        if saved.tensors:
            pi, A, B = (saved.tensors[name].numpy() for name in ("pi", "A", "B"))
            tree = GroupedModel(pi, tuple(tuple(group) for group in notes["groups"]), A, B)
        return cls(notes["kind"], notes["reason"], tree, notes["warning"])


MAJORITY = Start("majority", GIVEN)
"""The paper's start."""


@dataclass(frozen=True, eq=False)
class Plan:
    """What to train on, and from where.

    Attributes
    ----------
    near_copies : GuardPlan
    start : Start
        Of the learners of ``near_copies.base``.
    training_start : "majority" or "groups"
        Where a training with the same settings starts; a sweep may start elsewhere.
    tree : GroupedModel, optional
        The latent tree that training would start from, where a sweep does not: it judges labels there.
    """

    near_copies: GuardPlan
    start: Start
    training_start: Kind = "majority"
    tree: GroupedModel | None = None


def plan_training(votes: Votes, config: TrainConfig, seed: int, control: Control = NO_CONTROL) -> Plan:
    """Choose the start, then what to do about near-copies.

    A model of groups knows who errs with whom, so where training starts from it the guard only reports; it acts where
    training starts from the majority vote. ``near_copies="collapse"`` comes first: groups are then of what is left.

    Parameters
    ----------
    votes : Votes
    config : TrainConfig
    seed : int
        Chooses the rows on which near-copies and groups are looked for.
    control : Control
        Asked whether to stop, and keeps the start for a later call.
    """

    def look(*, grouped: bool = False) -> GuardPlan:
        mode: Any = config.near_copies  # checked by TrainConfig
        return guard(votes, mode, np.random.default_rng(seed), grouped=grouped)

    if config.near_copies == "collapse":
        plan = look()
        return Plan(plan, _kept_start(plan.base.reduce(votes), config, seed, control))
    start = _kept_start(votes, config, seed, control)
    return Plan(look(grouped=start.kind == "groups"), start)


def plan_sweep(votes: Votes, config: TrainConfig, seed: int, control: Control = NO_CONTROL) -> Plan:
    """Plan a training from the majority vote, to compare rates.

    Where training would start from groups, the reason says so, and their tree is kept if it explains the votes.
    """
    plan = plan_training(votes, config, seed, control)
    if plan.start.kind == "majority":
        return plan
    reason = f"training would start from the grouped model, but {NOTHING_TO_SWEEP}"
    from_votes = plan_training(votes, replace(config, start="majority"), seed)
    tree = plan.start.tree if config.near_copies != "collapse" and not plan.start.warning else None
    return Plan(from_votes.near_copies, Start("majority", reason), training_start="groups", tree=tree)


def _kept_start(votes: Votes, config: TrainConfig, seed: int, control: Control) -> Start:
    """Return the start chosen before, or choose one and keep it."""
    saved = control.load(_KEY)
    if saved is not None:
        return Start.from_saved(saved)
    start = choose_start(votes, config, np.random.default_rng([seed, 1]), control=control)
    control.save(_KEY, start.to_saved())
    return start


def choose_start(
    votes: Votes, config: TrainConfig, rng: np.random.Generator, *, control: Control = NO_CONTROL
) -> Start:
    """Choose where training starts.

    "auto" takes the groups where the latent tree fits the votes and the model can hold it; "groups" takes them where
    there is a tree at all, with a warning if it does not fit.
    """
    if config.start == "majority":
        return Start("majority", GIVEN)
    control.tell(STEP, 0.0)
    grouping = explain(votes.without_truth(), rng, control=control)
    if grouping.model is None:
        obstacle = grouping.reason
    elif config.start == "groups":
        obstacle = ""
    else:
        obstacle = _obstacle(grouping, grouping.model, votes, config)
    if obstacle or grouping.model is None:
        warning = f"Training could not start from the grouped model. {obstacle}" if config.start == "groups" else ""
        return Start("majority", f"The grouped model was tried first. {obstacle}", warning=warning)
    found = f"{group_words(grouping.groups, votes.learners)} {grouping.reason}"
    warning = "" if grouping.fits else f"Training started from the grouped model, as requested. {found}"
    return Start("groups", found, rooted(grouping.model), warning)


def _obstacle(grouping: Grouping, model: GroupedModel, votes: Votes, config: TrainConfig) -> str:
    """Return why training does not start from groups by itself.

    Empty if it does.
    """
    if not grouping.fits or grouping.search_note:
        return grouping.search_note or grouping.reason
    tree = rooted(model)
    settings = Start("groups", "", tree).settings(replace(config, learning_rate=None), votes).config
    if tree.groups and not settings.n_layers:
        return f"{grouping.reason} But without a layer the model cannot hold the groups."
    codes = votes.codes[votes.votes_per_row > 0]
    codes = codes[spread_rows(len(codes), CHECKED_ROWS)]
    same = _agreement(model, tree, codes, settings)
    if same < AGREEMENT:
        return f"{grouping.reason} But when started from it, DEEM gives the same label on only {same:.0%} of the rows."
    return ""


def _agreement(model: GroupedModel, tree: GroupedModel, codes: Integers, config: TrainConfig) -> float:
    """Return the share of rows that both models label alike."""
    started = group_parameters(tree, int(config.n_layers or 0), activation=config.activation)
    with torch.no_grad():
        labels = posterior(started, torch.as_tensor(codes, dtype=torch.int64)[None])[0].argmax(-1).numpy()
    return float((labels == model.posterior(codes).argmax(axis=1)).mean())
