"""Rules that know one class each: equal precision, rare classes weigh more.

A rule votes for its class c or not at all. Where it speaks it is right with the same probability p = 0.8 as every other
rule, and what it says is judged by how common the class is among all votes, pi:

    score of its class: log(p / pi_c),    of each other class: log((1 − p) / (1 − pi_c)),    plus log pi once

in one pass. Where pi_c is above 2/3, p is raised so that a vote doubles the odds of its class: it must never speak
against it. Ties and near-ties go to the class that rules name rarely, the more so the rarer it is. No
precision is learned: with one class a rule, agreement says how common a class is, not who is right, and EM on such
votes gives every row to one class. Silence is no evidence either. A learner that knows several classes counts as a rule
for each vote it casts.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from deem_core.alarm import Kind
from deem_core.control import NO_CONTROL, Control
from deem_core.errors import InputError
from deem_core.groups.one_class import RULES_SHARE, one_class_learners
from deem_core.methods.contract import Aggregate, fill_silent_rows, silence_notes
from deem_core.text import percent
from deem_core.typing import Floats, Integers
from deem_core.votes import NO_VOTE, Votes
from deem_core.votes.arrays import chunks, normalise_logs
from deem_core.votes.majority import vote_shares

PRECISION = 0.8
"""How often a rule is right where it speaks; from 0.6 to 0.9 it changes accuracy by a point at most."""
LEAST_LIFT = 2.0
"""Factor by which a vote raises the odds of its class, at least."""
_BLOCK = 1 << 20  # (row, class) cells handled at once


def aggregate(votes: Votes, rng: np.random.Generator, *, control: Control = NO_CONTROL) -> Aggregate:
    """Fuse rules that know one class each.

    ``rng`` and ``control`` are not used: there is one pass.

    Raises
    ------
    InputError
        If one-class learners cast less than half of the votes.
    """
    rules = one_class_learners(votes)
    if not rules.made_of_rules:
        raise InputError(
            f"These votes are not from rules: learners that know one class only cast "
            f"{percent(rules.vote_share, 0)} of them, and this method needs {percent(RULES_SHARE, 0)}. "
            "Try the safe vote or Dawid-Skene (safe, ds)."
        )
    return fuse_rules(votes)


def fuse_rules(votes: Votes, *, precision: float = PRECISION) -> Aggregate:
    """Return the answer of the model whatever the votes are.

    Parameters
    ----------
    votes : Votes
        With at least one vote.
    precision : float
        p, strictly between 0 and 1; more where a class has most of the votes.
    """
    voted = votes.votes_per_row > 0
    pi = mean_vote_shares(votes)
    rule = partial(posterior_of, pi=pi, precision=precision)
    handles: tuple[Kind, ...] = ("one-class rules",)
    return Aggregate(
        posterior=rule(votes.codes), voted=voted, pi=pi, notes=silence_notes(voted), handles=handles, rule=rule
    )


def posterior_of(codes: Integers, pi: Floats, precision: float = PRECISION) -> Floats:
    """Return the posterior of (n, d) codes, (n, K), pi in rows without votes."""
    n, K = len(codes), len(pi)
    posterior = np.empty((n, K))
    n_votes = (codes != NO_VOTE).sum(axis=1)
    with np.errstate(divide="ignore"):  # a class without votes scores −inf and gets no row
        log_pi = np.log(pi)
        others = np.maximum(1 - pi, 1e-300)
        odds = np.maximum(precision / (1 - precision), LEAST_LIFT * pi / others)
        # Where one class has all votes nothing speaks for another.
        against = np.where(pi < 1, -np.log1p(odds) - np.log(others), 0.0)
        for_class = np.log(odds / (1 + odds)) - log_pi - against
    for rows in chunks(n, _BLOCK // K):
        counts = vote_shares(codes[rows], K) * n_votes[rows, None]  # (b, K)
        with np.errstate(invalid="ignore"):
            scores = np.where(counts > 0, counts * for_class, 0.0) + (counts @ against)[:, None] + log_pi
        normalise_logs(scores)
        posterior[rows] = scores
    fill_silent_rows(posterior, n_votes > 0, pi)
    return posterior


def mean_vote_shares(votes: Votes) -> Floats:
    """Return the mean over the voted rows of their vote shares, (K,)."""
    total = np.zeros(votes.n_classes)
    for rows in chunks(votes.n_rows, _BLOCK // votes.n_classes):
        total += vote_shares(votes.codes[rows], votes.n_classes).sum(axis=0)
    return total / max(int((votes.votes_per_row > 0).sum()), 1)
