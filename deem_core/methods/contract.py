"""Contract of all methods.

Votes and an rng go in, an `Aggregate` comes out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from deem_core.alarm import Alarm, Kind
from deem_core.answers.alarms import silence
from deem_core.answers.answer import Answer
from deem_core.control import NO_CONTROL, Control
from deem_core.errors import InputError
from deem_core.typing import Codes, Floats, Integers, Mask
from deem_core.votes import NO_VOTE, Votes

Rule = Callable[[Integers], Floats]
"""Posterior (b, K) of (b, d) class codes."""


class Method(Protocol):
    """A method: a function of votes and an rng."""

    def __call__(self, votes: Votes, rng: np.random.Generator, *, control: Control = NO_CONTROL) -> Aggregate:
        """Fuse the votes.

        Methods without randomness do not use ``rng``; those that do not iterate do not ask ``control``.

        Raises
        ------
        InputError
            If the method cannot take such votes; the sentence says why.
        Stopped
            If ``control`` stops a method of which half is no answer; the others return what they have, marked as cut.
        """


@dataclass(frozen=True, eq=False, kw_only=True)
class Aggregate:
    """Answer of a method to n rows of votes in K classes.

    Attributes
    ----------
    posterior : (n, K) float64
        Probability of each class in each row; rows sum to 1. A row without votes holds the prior, or 1/K
        for a method that has none.
    voted : (n,) bool
        Rows with at least one vote.
    iterations : int
        Iterations done; 0 for a method that does not iterate.
    converged : bool
        Whether the method's stop rule was met before its last allowed iteration.
    cut : bool
        Whether ``control`` stopped it before its own stop rule did.
    log_likelihood : float, optional
        Mean over the rows with votes of log Pr(votes of the row).
    psi : (d, K, K) float64, optional
        ``psi[i, l, m]`` = Pr(X_i = l | Y = m).
    pi : (K,) float64, optional
        Pr(Y = m).
    skills : (d,) float64, optional
        The method's own measure of each learner, higher is better; NaN for a learner without votes.
    notes : tuple of str
        Sentences for the user.
    alarms : tuple of Alarm
        Doubts of the method about its own answer, such as one that the votes left unsettled.
    handles : tuple of str
        Kinds of alarms about labels and files that the method takes care of: they are not raised against it.
    answered_by : str
        Name of the method that answered, of one that asks others.
    rule : function, optional
        (b, d) class codes → (b, K) posterior: labels any rows as these were. None for a method that labels only the
        rows it was fitted on.
    """

    posterior: Floats
    voted: Mask
    iterations: int = 0
    converged: bool = True
    cut: bool = False
    log_likelihood: float | None = None
    psi: Floats | None = None
    pi: Floats | None = None
    skills: Floats | None = None
    notes: tuple[str, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    handles: tuple[Kind, ...] = ()
    answered_by: str = ""
    rule: Rule | None = None

    @cached_property
    def codes(self) -> Codes:
        """Most probable class of every row, (n,); -1 without votes.

        Among equals the lowest index.
        """
        return np.where(self.voted, self.posterior.argmax(axis=1), NO_VOTE).astype(np.int32)

    def answer(self, votes: Votes, method: str) -> Answer:
        """Return the answer for the votes that were fused."""
        return Answer(
            votes,
            self.posterior,
            notes=self.notes,
            method=method,
            answered_by=self.answered_by,
            method_alarms=self.alarms,
            handles=self.handles,
        )


def fill_silent_rows(posterior: Floats, voted: Mask, prior: Floats | None = None) -> None:
    """Write the prior (K,), or 1/K, into rows without votes, in place."""
    posterior[~voted] = 1 / posterior.shape[1] if prior is None else prior


def silence_notes(voted: Mask) -> tuple[str, ...]:
    """Return the sentence about rows without votes, if there are any."""
    silent = int((~voted).sum())
    return (silence(silent),) if silent else ()


def cut_notes(cut: bool, reached: str) -> tuple[str, ...]:
    """Return the sentence about a method that was cut after ``reached``.

    Empty if it was not.
    """
    return (f"Cut by the time limit after {reached}: these are the labels it stood at.",) if cut else ()


def check_stop_rule(tolerance: float, max_iterations: int) -> None:
    """Refuse a stop rule that could never stop or never start."""
    if not tolerance >= 0:
        raise InputError(f"The tolerance is {tolerance}; it must be 0 or more.")
    if max_iterations < 1:
        raise InputError(f"max_iterations is {max_iterations}; it must be at least 1.")
