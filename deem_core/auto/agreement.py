"""Agreement of methods against a majority vote that no model explains.

Where no model fits, every method loses points on one ensemble and gains some on the next. What five of them say alike
is right more often than the vote that they overturn (benchmarks/results/misfit.md), and concerns few rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from deem_core.control import NO_CONTROL, Control
from deem_core.errors import InputError
from deem_core.methods import dawid_skene, ebcc, la, lsml, one_coin
from deem_core.methods.contract import Aggregate, Method
from deem_core.methods.safe_vote import ebcc_plan, settle
from deem_core.typing import Codes
from deem_core.votes import NO_VOTE, Votes

MEMBERS = ("EBCC", "Dawid-Skene", "one-coin Dawid-Skene", "LA", "L-SML")
"""Methods that must all agree; none of them trains anything."""
MOST_CELLS = 50_000_000
"""Rows × classes², at most: L-SML looks at each class against the rest."""


def opinions(votes: Votes, rng: np.random.Generator, control: Control = NO_CONTROL) -> list[Codes] | None:
    """Return the labels (n,) of every member, or None where one cannot answer."""
    plan = ebcc_plan(votes)
    if plan is None or votes.n_rows * votes.n_classes**2 > MOST_CELLS:
        return None
    quick: Sequence[Method] = (dawid_skene.aggregate, one_coin.aggregate, la.two_passes, lsml.aggregate)
    try:
        first = ebcc.aggregate(votes, rng, control=control, restarts=plan.restarts, max_iterations=plan.rounds)
        return [first.codes, *(method(votes, rng, control=control).codes for method in quick)]
    except InputError:
        return None


def agreed(labels: Sequence[Codes]) -> Codes:
    """Return the class on which all agree, (n,), or -1."""
    same = np.all([each == labels[0] for each in labels], axis=0)
    return np.where(same, labels[0], NO_VOTE).astype(np.int32)


def corrected(answer: Aggregate, labels: Sequence[Codes]) -> Aggregate:
    """Return the answer with the label on which all agree, where there is one."""
    said = agreed(labels)
    taken = (said != NO_VOTE) & (said != answer.codes) & answer.voted
    if not taken.any():
        return answer
    posterior = answer.posterior.copy()
    settle(posterior, np.where(taken, said, answer.codes), answer.voted)
    note = f"In {int(taken.sum()):,} rows {', '.join(MEMBERS[:-1])} and {MEMBERS[-1]} agree on another class than the majority: it was taken."
    return replace(answer, posterior=posterior, notes=(note, *answer.notes), rule=None)
