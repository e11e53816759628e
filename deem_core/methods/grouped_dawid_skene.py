"""Grouped Dawid-Skene under the contract of methods.

Y → a latent for each group of learners → the learners, fitted exactly (`deem_core.groups`).
"""

from __future__ import annotations

import numpy as np

from deem_core.alarm import Alarm, Kind
from deem_core.control import NO_CONTROL, Control
from deem_core.errors import InputError
from deem_core.groups.grouping import Grouping, explain
from deem_core.methods.contract import Aggregate, cut_notes, silence_notes
from deem_core.methods.dawid_skene import expected_accuracies
from deem_core.votes import Votes

EXPLAINED: tuple[Kind, ...] = ("capture", "overturned", "overruled", "little to gain")
"""Alarms that a model which explains the votes answers for: it says why some learners count for more."""


def aggregate(votes: Votes, rng: np.random.Generator, *, control: Control = NO_CONTROL) -> Aggregate:
    """Fit the grouped model, and answer by it in any case.

    Parameters
    ----------
    votes : Votes
    rng : Generator
        Chooses rows where there are more than enough, and draws the tables of the test of fit.
    control : Control
        Stops the search by `Stopped`, since half a search is no answer, and cuts EM.

    Raises
    ------
    InputError
        If there are fewer than three learners or too many classes.
    """
    grouping = explain(votes, rng, control=control)
    if grouping.model is None:
        raise InputError(grouping.reason)
    return answer(votes, grouping)


def answer(votes: Votes, grouping: Grouping) -> Aggregate:
    """Return the answer of a grouped model that is fitted already."""
    model = grouping.model
    assert model is not None  # noqa: S101  # callers look at refusals first
    voted = votes.votes_per_row > 0
    psi, pi = model.confusion_given_label(), model.prior
    return Aggregate(
        posterior=votes.distinct.spread(model.posterior(votes.distinct.codes)),
        voted=voted,
        iterations=grouping.iterations,
        converged=grouping.converged,
        cut=grouping.cut,
        log_likelihood=grouping.log_likelihood,
        psi=psi,
        pi=pi,
        skills=expected_accuracies(votes, psi, pi),
        alarms=alarms_of(grouping),
        handles=EXPLAINED if grouping.fits else (),
        notes=(
            *grouping.sentences(votes.learners),
            *cut_notes(grouping.cut, f"{grouping.iterations:,} iterations"),
            *silence_notes(voted),
        ),
        rule=model.posterior,
    )


def alarms_of(grouping: Grouping) -> tuple[Alarm, ...]:
    """Return the doubts about a grouped model.

    It does not fit, or the votes leave the answer open.
    """
    raised = []
    if not grouping.fits:
        advice = "Compare with other methods, and label some rows to see which is right."
        raised.append(Alarm("misfit", "The grouped model was not shown to fit", grouping.reason, advice))
    if not grouping.settled:
        advice = "Label some of the rows marked for review: a few known labels decide."
        raised.append(Alarm("unsettled", "The answer is not settled", grouping.doubt, advice))
    return tuple(raised)
