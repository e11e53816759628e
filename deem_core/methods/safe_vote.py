"""Safe vote: four methods vote row by row, with gates and guards.

For crowds and panels, where no single method is safe: Dawid-Skene falls far below the majority vote on one file and
gains ten points on the next. In this order:

1. Rules gate. If learners that know one class only cast half of the votes, `one_class_rules` answers.
2. Camps gate. If the panel is split in two camps (`groups.camps`), the majority vote answers, with an alarm.
3. Members: Dawid-Skene, one-coin Dawid-Skene, EBCC. One that gives hardly any row to a class with votes leaves. One
   that overturns many clear majorities, in a crowd not known to be independent, is replaced by the majority vote
   (`answers.guards`).
4. Majority vote and members have one vote for each row; where the majority vote is tied, its vote is split. Ties of
   this vote go to the class with the highest mean of the voters' posteriors. That mean is the posterior, too.

EBCC costs most: its rounds and restarts follow from the size of the table, never from the clock, and above its limit
the vote goes on without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from deem_core.answers.guards import overturned_majorities, rarest_class
from deem_core.control import NO_CONTROL, Control
from deem_core.errors import InputError
from deem_core.groups.camps import camps
from deem_core.groups.mistakes import PairSample, shared_mistakes
from deem_core.groups.one_class import one_class_learners
from deem_core.methods import dawid_skene, ebcc, majority, one_class_rules, one_coin
from deem_core.methods.contract import Aggregate, Method, Rule, cut_notes, fill_silent_rows, silence_notes
from deem_core.text import count
from deem_core.typing import Codes, Floats, Integers, Mask
from deem_core.votes import NO_VOTE, Votes
from deem_core.votes.arrays import chunks
from deem_core.votes.majority import vote_shares

EBCC_ROUNDS, EBCC_LEAST_ROUNDS = 100, 20
"""Rounds of each restart of EBCC: at most, and those below which it is left out."""
EBCC_WORK = 250_000_000
"""Cells that all rounds of EBCC may visit, some seconds: a round visits n·K·M + d·K²·M, and one per vote and class."""
SETTLED = 1e-6
"""Lead of the label where the row's vote and the mean of the posteriors differ."""
_BLOCK = 1 << 20  # (row, class) cells handled at once


@dataclass(frozen=True)
class Member:
    """A method that takes part in the vote.

    Attributes
    ----------
    title : str
    made : Aggregate
    """

    title: str
    made: Aggregate


class Panel:
    """Votes with what gates and guards ask, computed when asked.

    Parameters
    ----------
    votes : Votes
    rng : Generator
        Draws rows and pairs where there are too many.
    """

    def __init__(self, votes: Votes, rng: np.random.Generator) -> None:
        self.votes = votes
        self._rng = rng

    @cached_property
    def sample(self) -> PairSample:
        """Rows and pairs of learners on which dependence is measured."""
        return PairSample.of(self.votes, self._rng)

    @cached_property
    def rho_others(self) -> float | None:
        """Mean correlation of mistakes, None if unknown."""
        return shared_mistakes(self.votes, self.sample).mean


def aggregate(votes: Votes, rng: np.random.Generator, *, control: Control = NO_CONTROL) -> Aggregate:
    """Let majority vote, Dawid-Skene, one-coin and EBCC vote row by row.

    ``rng`` serves EBCC's starts, and draws of rows and pairs in large tables. ``iterations`` are the members' together.
    """
    if one_class_learners(votes).made_of_rules:
        answer = one_class_rules.fuse_rules(votes)
        note = "Most learners know one class only, so the method for rules answers: no accuracies are learned."
        return replace(answer, notes=(note, *answer.notes))
    panel = Panel(votes, rng)
    sides = camps(votes, panel.sample)
    if sides.split:
        answer = majority.aggregate(votes, rng)
        return replace(answer, notes=("The majority vote answers. " + sides.sentence, *answer.notes))
    members, notes = _members(votes, rng, control)
    kept, guard_notes = _guarded(panel, members)
    return _fused(votes, kept, members, notes + guard_notes)


def _members(votes: Votes, rng: np.random.Generator, control: Control) -> tuple[list[Member], tuple[str, ...]]:
    """Run the members; sentences tell who could not take part."""
    functions: list[tuple[str, Method]] = [
        ("Dawid-Skene", dawid_skene.aggregate),
        ("One-coin Dawid-Skene", one_coin.aggregate),
    ]
    made = [Member(title, method(votes, rng, control=control)) for title, method in functions]
    plan = ebcc_plan(votes)
    if plan is None:
        return made, ("EBCC takes no part: the table is too large for it.",)
    try:
        answer = planned_ebcc(votes, rng, plan, control=control)
    except InputError as error:
        return made, (f"EBCC takes no part: {error}",)
    return [*made, Member("EBCC", answer)], ()


@dataclass(frozen=True)
class EbccPlan:
    """Restarts of EBCC, and rounds of each at most."""

    restarts: int
    rounds: int


def ebcc_plan(votes: Votes) -> EbccPlan | None:
    """Return restarts and rounds of EBCC for such a table.

    None if it is too large.
    """
    n, d, K = votes.n_rows, votes.n_learners, votes.n_classes
    work = ebcc.SUBTYPES * (n * K + d * K * K) + int(votes.votes_per_row.sum()) * K
    for restarts in (ebcc.RESTARTS, 1):
        rounds = min(EBCC_ROUNDS, EBCC_WORK // max(restarts * work, 1))
        if rounds >= EBCC_LEAST_ROUNDS:
            return EbccPlan(restarts, rounds)
    return None


def planned_ebcc(votes: Votes, rng: np.random.Generator, plan: EbccPlan, *, control: Control = NO_CONTROL) -> Aggregate:
    """Run EBCC with the restarts and rounds of a plan."""
    return ebcc.aggregate(votes, rng, control=control, restarts=plan.restarts, max_iterations=plan.rounds)


def _guarded(panel: Panel, members: Sequence[Member]) -> tuple[list[Member | None], tuple[str, ...]]:
    """Return the voters beside the majority vote; None votes like it."""
    kept: list[Member | None] = []
    notes = []
    for member in members:
        rarest = rarest_class(panel.votes, member.made.codes)
        if rarest is not None and rarest.dead():
            notes.append(f"{rarest.sentence(member.title)} It takes no part.")
            continue
        overturned = overturned_majorities(panel.votes, member.made.codes)
        # Many overturned majorities first: whether the crowd is independent costs a second to find out.
        if overturned.strong(None) and overturned.strong(panel.rho_others):
            notes.append(f"{overturned.sentence(member.title)} The majority vote takes its place.")
            kept.append(None)
            continue
        kept.append(member)
    return kept, tuple(notes)


@dataclass(frozen=True)
class Ballot:
    """How the majority vote and the voters beside it make an answer.

    Attributes
    ----------
    n_classes : int
    as_majority : int
        Votes of the majority vote: its own, and those of voters that were replaced by it.
    prior : (K,), optional
        Of rows without votes; 1/K if None.
    """

    n_classes: int
    as_majority: int
    prior: Floats | None

    def posterior(self, codes: Integers, voters: Sequence[Floats]) -> tuple[Floats, int]:
        """Return the answer for (n, d) codes and the voters' (n, K) posteriors.

        With it comes the number of rows in which the vote differs from the mean of the posteriors.
        """
        n, K = len(codes), self.n_classes
        posterior, labels = np.empty((n, K)), np.empty(n, np.int32)
        for rows in chunks(n, _BLOCK // K):
            shares = vote_shares(codes[rows], K)
            winners = shares == shares.max(axis=1, keepdims=True)
            ballots = self.as_majority * winners / winners.sum(axis=1, keepdims=True)
            mean = self.as_majority * shares
            for voter in voters:
                ballots[np.arange(len(ballots)), voter[rows].argmax(axis=1)] += 1
                mean += voter[rows]
            mean /= self.as_majority + len(voters)
            labels[rows] = _winner(ballots, mean)
            posterior[rows] = mean
        voted = (codes != NO_VOTE).any(axis=1)
        turned = settle(posterior, labels, voted)
        fill_silent_rows(posterior, voted, self.prior)
        return posterior, turned

    def rule(self, voters: Sequence[Rule | None]) -> Rule | None:
        """Return the answer as a function of rows.

        None if a voter has none.
        """
        known = [voter for voter in voters if voter is not None]
        if len(known) < len(voters):
            return None
        return partial(self._ruled, known)

    def _ruled(self, voters: Sequence[Rule], codes: Integers) -> Floats:
        """Return the posterior of any rows, (b, K), by their voters."""
        return self.posterior(codes, [voter(codes) for voter in voters])[0]


def _fused(votes: Votes, kept: Sequence[Member | None], members: Sequence[Member], notes: tuple[str, ...]) -> Aggregate:
    """Return the answer of the majority vote and the voters beside it."""
    voted = votes.votes_per_row > 0
    voters = [voter for voter in kept if voter is not None]
    priors = [voter.made.pi for voter in voters if voter.made.pi is not None]
    ballot = Ballot(
        n_classes=votes.n_classes,
        as_majority=1 + sum(voter is None for voter in kept),
        prior=np.mean(priors, axis=0) if priors else None,
    )
    posterior, turned = ballot.posterior(votes.codes, [voter.made.posterior for voter in voters])
    cut = [member.title for member in members if member.made.cut]
    return Aggregate(
        posterior=posterior,
        voted=voted,
        iterations=sum(member.made.iterations for member in members),
        converged=all(member.made.converged for member in members),
        cut=bool(cut),
        notes=(
            *cut_notes(bool(cut), f"a part of {' and '.join(cut)}"),
            f"{_listed(['Majority vote', *(voter.title for voter in voters)])} voted row by row.",
            *notes,
            *((f"In {count(turned, 'row')} the vote differs from the mean of the posteriors.",) if turned else ()),
            *silence_notes(voted),
        ),
        rule=ballot.rule([voter.made.rule for voter in voters]),
    )


def _winner(ballots: Floats, mean: Floats) -> Codes:
    """Return the class with the most of (b, K) ballots.

    Ties go to the highest mean posterior, then to the lowest class.
    """
    best = ballots >= ballots.max(axis=1, keepdims=True) - 1e-9  # thirds of a vote do not add up exactly
    winner: Codes = np.where(best, mean, -1.0).argmax(axis=1).astype(np.int32)
    return winner


def settle(posterior: Floats, labels: Codes, voted: Mask) -> int:
    """Make every label the most probable class of its row, in place.

    Where others are at least as probable, they and the label get the mean of them all, and the label a hair more.
    Returns the number of such rows.
    """
    rows = np.flatnonzero((posterior.argmax(axis=1) != labels) & voted)
    own = posterior[rows, labels[rows]]
    above = posterior[rows] >= own[:, None]  # the label among them
    size = above.sum(axis=1)
    mean = (posterior[rows] * above).sum(axis=1) / size
    lead = np.minimum(SETTLED, mean / 2)
    posterior[rows] = np.where(above, (mean - lead / (size - 1))[:, None], posterior[rows])
    posterior[rows, labels[rows]] = mean + lead
    return len(rows)


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
