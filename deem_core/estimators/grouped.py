"""Grouped Dawid-Skene as a scikit-learn estimator.

Who errs together is found from the votes, and a latent tree of label, groups and learners is fitted exactly
(`deem_core.groups`); nothing here needs torch.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils import check_random_state

from deem_core.control import Control
from deem_core.engine import Engine
from deem_core.errors import InputError
from deem_core.estimators.base import Fuser, stay
from deem_core.estimators.files import Content
from deem_core.estimators.summary import LearnerGroups, OtherGroups, TrainingSummary
from deem_core.files.plain import from_plain, to_plain
from deem_core.groups.em import HARD_ROUNDS, ROUNDS, SMOOTHING
from deem_core.groups.grouping import Grouping, RunnerUp, explain
from deem_core.groups.latent_tree import ROOT, GroupedModel, Groups
from deem_core.groups.reduction import Reduction, Voices
from deem_core.text import count, listing
from deem_core.typing import Codes, Floats, Integers
from deem_core.votes import Votes
from deem_core.votes.checks import check_seed

if TYPE_CHECKING:  # a watcher is told records of a training, which imports torch
    from deem_core.training.restarts import Watcher

STEP = "Looking for groups of learners"


class GroupedDawidSkene(Fuser):
    """Dawid-Skene with groups of learners that err together.

    A latent tree: the label, a hidden opinion for every group, and the learners. Groups are searched by BIC, the tree
    is fitted by exact EM, and a test without truth says whether it explains the votes (`deem_core.groups.grouping`).

    Parameters
    ----------
    random_state : int, RandomState or None
        Chooses rows where there are more than enough, and draws the tables of the test.
    allow_few_learners : bool
        Whether fewer than three learners get as far as the model's own refusal.

    Attributes
    ----------
    classes_ : (K,) array
    learners_ : tuple of str
    model_ : GroupedModel
        The parameters: pi, A, B, groups, and which latent is the label.
    groups_ : tuple of tuples of str
        Learners of each group of two or more.
    fits_ : bool
        Whether the model explains the votes. Where it does not, there is a warning.
    grouping_ : Grouping
        The model, its fit, and what the votes leave open.
    runners_up_ : tuple of RunnerUp
        Other placements of the groups that explain the votes as well.
    log_likelihood_ : float
        Mean over the rows with votes.
    n_iter_ : int
        Rounds of EM.
    settings_ : dict
        Setting → {"value", "reason"}.
    warnings_ : list of str
    history_, restarts_ : list
        Empty: there is nothing to sample and nothing to start again.
    seconds_ : float
    summary_ : TrainingSummary

    Examples
    --------
    >>> from deem_core import GroupedDawidSkene, simulate
    >>> votes = simulate("tree", 1500, seed=0).votes
    >>> model = GroupedDawidSkene(random_state=0).fit(votes)
    >>> model.predict(votes).shape
    (1500,)
    >>> model.fits_
    True
    """

    def __init__(
        self,
        *,
        random_state: int | np.random.RandomState | None = None,
        allow_few_learners: bool = False,
    ) -> None:
        self.random_state = random_state
        self.allow_few_learners = allow_few_learners

    @property
    def method_name(self) -> str:
        """The method's name in the registry."""
        return "gds"

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        watch: Watcher | None = None,
        control: Control | None = None,
        on: str | Engine | None = None,
    ) -> Self:
        """Find the groups and fit the model, on votes alone.

        Parameters
        ----------
        X : Votes, frame, (n, d) array of labels or (n, d, K) array of probabilities
            Truth in Votes is not read. Of probabilities the most probable classes are used.
        y : ignored
            For scikit-learn's pipelines.
        watch : ignored
            There are no records: EM takes rounds, not updates.
        control : Control, optional
            Says whether to go on.
        on : optional
            Changes nothing: it runs on this machine.

        Raises
        ------
        InputError
            If the votes do not serve; the sentence says why.
        Stopped
            If ``control`` says so.
        """
        start, control = time.perf_counter(), control or Control()
        stay(self.method_name, on, control)
        self.seed_ = self._seed()
        votes = self._take_votes(X)
        control.tell(STEP, 0.0)
        grouping = explain(votes, np.random.default_rng(self.seed_), control=control)
        control.check()
        if grouping.model is None:
            raise InputError(grouping.reason)
        self._keep(grouping)
        self.seconds_ = time.perf_counter() - start
        return self

    @classmethod
    def of_grouping(cls, votes: Votes, grouping: Grouping, *, random_state: int | None = None) -> Self:
        """Return the estimator of a grouping of these votes."""
        model = cls(random_state=random_state)
        model.seed_ = model._seed()
        model._take_votes(votes)
        model._keep(grouping)
        model.seconds_ = 0.0
        return model

    def _seed(self) -> int:
        """Return the seed; a whole number stands for itself."""
        state = self.random_state
        check_seed(state)
        return state if isinstance(state, int) else int(check_random_state(state).randint(2**31 - 1))

    def _keep(self, grouping: Grouping) -> None:
        """Keep what was found, with its warnings and settings."""
        self._attach(grouping)
        self.prior_ = self.model_.prior
        doubts = ("" if grouping.fits else grouping.reason, grouping.doubt, _unfinished(grouping))
        self.warnings_ += [sentence for sentence in doubts if sentence]
        self.settings_ = {
            "groups": {"value": len(self.groups_), "reason": self._group_words()},
            "label": {"value": self._label_words(), "reason": _label_reason(self.model_)},
            "iterations": {
                "value": grouping.iterations,
                "reason": f"until the likelihood settled, {ROUNDS} at most, and {HARD_ROUNDS} with hard labels",
            },
            "smoothing": {"value": SMOOTHING, "reason": "votes added to each cell, so that no probability is 0"},
        }
        self.restarts_: list[dict[str, Any]] = []
        self.device_ = "cpu"

    def _attach(self, grouping: Grouping) -> None:
        """Set what the answer rests on."""
        assert grouping.model is not None  # noqa: S101  # refused before
        self.grouping_, self.model_ = grouping, grouping.model
        self.groups_ = self._named(self.model_.groups)
        self.fits_, self.runners_up_ = grouping.fits, grouping.runners_up
        self.log_likelihood_, self.n_iter_ = grouping.log_likelihood, grouping.iterations
        self.history_: list[Any] = []
        self.reduction_ = Reduction.of(self.learners_)
        self.parts_ = [GroupedPart(self.model_, self.reduction_)]

    # ------------------------------------------------------------------ the answer, and what was found

    def _posterior(self, codes: Codes) -> Floats:
        """Return the exact posterior of the tree, (n, K)."""
        return self.model_.posterior(codes)

    @property
    def findings_(self) -> tuple[str, ...]:
        """What was found about the groups, beside the warnings."""
        return tuple(text for text in self.grouping_.sentences(self.learners_) if text not in self.warnings_)

    @property
    def voices_(self) -> Voices:
        """The groups, whose learners are also looked at together."""
        names = tuple(f"group of {listing(group, rest='others')}" for group in self.groups_)
        return Voices(names, self.model_.groups)

    @property
    def summary_(self) -> TrainingSummary:
        """What fitting did, as a typed summary."""
        return replace(super().summary_, groups=self._group_summary())

    def _group_summary(self) -> LearnerGroups:
        grouping = self.grouping_
        return LearnerGroups(
            groups=self.groups_,
            label_group=None if self.model_.label == ROOT else self.model_.label,
            fits=grouping.fits,
            reason=grouping.reason,
            excess=grouping.excess,
            within_excess=grouping.within_excess,
            log_likelihood=grouping.log_likelihood,
            iterations=grouping.iterations,
            converged=grouping.converged,
            moved=grouping.moved,
            runners_up=tuple(self._other(one) for one in grouping.runners_up),
            sentences=self.findings_,
        )

    def _other(self, one: RunnerUp) -> OtherGroups:
        return OtherGroups(self._named(one.groups), one.behind, one.changed)

    def _named(self, groups: Groups) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(self.learners_[i] for i in group) for group in groups)

    def _group_words(self) -> str:
        if self.grouping_.search_note:
            return self.grouping_.search_note
        alone = count(len(self.model_.singles), "learner")
        return f"the placement with the best BIC; {alone} outside all groups"

    def _label_words(self) -> str:
        if self.model_.label == ROOT:
            return "root"
        return f"group {self.model_.label + 1}"

    # ------------------------------------------------------------------ files

    def content(self) -> Content:
        """Return what a model file holds of this model."""
        content, model = super().content(), self.model_
        header = {
            **content.header,
            "groups": [list(group) for group in model.groups],
            "label": model.label,
            "class_map": None if model.class_map is None else model.class_map.tolist(),
            "grouping": to_plain(replace(self.grouping_, model=None)),
        }
        return Content(header, {**content.arrays, "pi": model.pi, "A": model.A, "B": model.B})

    @classmethod
    def of_content(cls, content: Content) -> Self:
        """Return the model that a file holds; see `Fuser.of_content`."""
        model = super().of_content(content)
        d, K = len(model.learners_), len(model.classes_)
        tree = _tree(content, d, K)
        model._attach(replace(from_plain(Grouping, content.header["grouping"]), model=tree))
        return model


@dataclass(frozen=True, eq=False)
class GroupedPart:
    """The tree as the only part of an answer.

    Attributes
    ----------
    model : GroupedModel
    reduction : Reduction
        Everybody speaks for himself.
    """

    model: GroupedModel
    reduction: Reduction
    n_restarts: int = 1
    n_layers: int = 0

    @property
    def states_per_row(self) -> int:
        """States that asking about a row takes."""
        return (self.model.n_learners + len(self.model.groups)) * self.model.n_classes

    @property
    def tree(self) -> GroupedModel:
        """The tree itself."""
        return self.model

    def posteriors(self, codes: Integers) -> Floats:
        """Return Pr(label | votes), (n, K)."""
        return self.model.posterior(codes)

    def logits(self, codes: Integers) -> Floats:
        """Return log Pr(label, votes), (1, n, K)."""
        return self.model.log_scores(codes)[None]

    def unit_codes(self, codes: Integers, restart: int) -> list[Codes]:
        """Return nothing: there are no layers."""
        return []

    def parameters(self) -> tuple[Floats, Floats]:
        """Return Pr(vote | label), (d, K, K), and the prior (K,)."""
        return self.model.confusion_given_label(), self.model.prior


def _tree(content: Content, n_learners: int, n_classes: int) -> GroupedModel:
    """Return the tree of a file.

    Raises
    ------
    KeyError, TypeError, ValueError
        If something is missing or does not fit.
    """
    header, d, K = content.header, n_learners, n_classes
    groups = tuple(tuple(int(i) for i in group) for group in header["groups"])
    grouped = [i for group in groups for i in group]
    if len(set(grouped)) != len(grouped) or not all(0 <= i < d for i in grouped) or any(len(g) < 2 for g in groups):
        raise ValueError("the groups do not fit")
    label, map_ = int(header["label"]), header["class_map"]
    if not ROOT <= label < len(groups) or (map_ is not None and sorted(map_) != list(range(K))):
        raise ValueError("the label does not fit")
    pi, A, B = content.array("pi", K), content.array("A", len(groups), K, K), content.array("B", d, K, K)
    for shares in (pi, *A, *B):
        if (shares < 0).any() or not np.allclose(shares.sum(axis=0), 1):
            raise ValueError("these are not probabilities")
    return GroupedModel(pi, groups, A, B, label, None if map_ is None else np.asarray(map_, np.intp))


def _label_reason(model: GroupedModel) -> str:
    if model.label == ROOT:
        return "the latent above all groups"
    return "its hidden opinion agrees far better with the majority than the one above all groups"


def _unfinished(grouping: Grouping) -> str:
    if grouping.converged:
        return ""
    return f"The likelihood was still rising after {count(grouping.iterations, 'round')} of EM."
