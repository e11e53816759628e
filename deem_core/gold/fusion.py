"""Answer of the candidate that gold rows chose."""

from __future__ import annotations

import numpy as np

from deem_core.answers.verdict import Verdict
from deem_core.gold.choice import WEIGHTS
from deem_core.gold.field import CAMPS, LEARNER, START, Field, runners
from deem_core.gold.weights import accuracies, aggregate
from deem_core.methods import majority
from deem_core.methods.contract import Aggregate
from deem_core.typing import Floats, Posterior
from deem_core.votes import NO_VOTE, Gold, Votes
from deem_core.votes.majority import vote_shares

_TILT = 1e-6


def answer_of(field: Field, verdict: Verdict, gold: Gold, start: Aggregate, given: dict[str, Posterior]) -> Aggregate:
    """Return the chosen candidate's answer.

    Parameters
    ----------
    field : Field
    verdict : Verdict
    gold : Gold
    start : Aggregate
        The answer without gold.
    given : dict of str to (n, K)
        Posteriors of the further candidates, by title.
    """
    name, voted = verdict.chosen, field.voted
    if name == START:
        made = start
    elif name == WEIGHTS:
        made = aggregate(field.votes.with_gold(gold), np.random.default_rng(0))
    elif name in CAMPS:
        made = Aggregate(posterior=_of_camp(field, field.camps[CAMPS.index(name)], start.posterior), voted=voted)
    elif name.startswith(LEARNER):
        made = Aggregate(posterior=_of_learner(field, name.removeprefix(LEARNER), gold, start.posterior), voted=voted)
    elif name in given:
        made = Aggregate(posterior=np.asarray(given[name], np.float64), voted=voted)
    elif name == "mv":
        made = _majority(field.votes, start.posterior)
    else:
        made = runners(field.votes)[name]()
    return made


def _majority(votes: Votes, posterior: Floats) -> Aggregate:
    """Return the majority vote with ties given to the start."""
    shares = majority.shares_or_uniform(votes.codes, votes.n_classes) + _TILT * posterior
    return Aggregate(posterior=shares / shares.sum(axis=1, keepdims=True), voted=votes.votes_per_row > 0)


def _of_camp(field: Field, side: tuple[str, ...], posterior: Floats) -> Floats:
    """Return vote shares of one side, the start's posterior without its votes, (n, K)."""
    shares = vote_shares(field.votes.select_learners(side).codes, field.votes.n_classes)
    silent = shares.sum(axis=1) == 0
    shares = shares + _TILT * posterior
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
    return np.where(silent[:, None], posterior, shares)


def _of_learner(field: Field, name: str, gold: Gold, posterior: Floats) -> Floats:
    """Return a learner's votes as a posterior, gaps by the start, (n, K)."""
    votes, K = field.votes, field.votes.n_classes
    j = votes.learners.index(name)
    own = votes.codes[:, j]
    judged = own[gold.rows] != NO_VOTE
    right = int((own[gold.rows] == gold.labels).sum())
    accuracy = float(accuracies(np.array([right]), np.array([int(judged.sum())]))[0])
    accuracy = max(accuracy, 1 / K + _TILT)
    made = np.array(posterior, np.float64)
    rows = np.flatnonzero(own != NO_VOTE)
    made[rows] = (1 - accuracy) / max(K - 1, 1)
    made[rows, own[rows]] = accuracy
    return made
