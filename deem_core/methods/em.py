"""EM loop: one step repeated until it converges or is cut."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from deem_core.control import Control
from deem_core.methods.contract import Aggregate, cut_notes, silence_notes
from deem_core.typing import Floats
from deem_core.votes import Votes


@dataclass(frozen=True)
class Iterations:
    """How an iterative method ended.

    Attributes
    ----------
    done : int
        Iterations made.
    converged : bool
        Whether its own stop rule was met.
    cut : bool
        Whether it was stopped before that and before its last allowed iteration.
    """

    done: int
    converged: bool
    cut: bool


@dataclass(frozen=True)
class Fit:
    """Dawid-Skene parameters found on distinct rows, and how.

    Attributes
    ----------
    posterior : (u, K)
        Of each row of the table; pi for a row without votes.
    psi : (d, K, K)
    pi : (K,)
    run : Iterations
    log_likelihood : float, optional
        Mean over the rows with votes; None where there are none or the method has none.
    """

    posterior: Floats
    psi: Floats
    pi: Floats
    run: Iterations
    log_likelihood: float | None = None


@dataclass(frozen=True, eq=False)
class Expected:
    """What an E-step finds out of rows, as sums.

    Those of many parts add up to those of all.

    Attributes
    ----------
    counts : tuple of arrays
        What the next M-step needs.
    log_likelihood : float
        Of the rows together; 0 before the first M-step.
    n_rows : float
    """

    counts: tuple[Floats, ...]
    log_likelihood: float
    n_rows: float

    def __add__(self, other: Expected) -> Expected:
        """Return the sums over both."""
        counts = tuple(own + more for own, more in zip(self.counts, other.counts, strict=True))
        return Expected(counts, self.log_likelihood + other.log_likelihood, self.n_rows + other.n_rows)


class Rows(Protocol):
    """Rows that a model is fitted on, in memory or beyond it."""

    @property
    def n_rows(self) -> float:
        """Rows with votes."""

    def count(self) -> tuple[Floats, ...]:
        """Return what the M-step needs, given the posterior of all rows."""

    def expect(self, *parameters: Floats, harden: bool = False) -> float:
        """Take the posterior of all rows under parameters.

        Returns the mean log-likelihood of the rows with votes. With ``harden`` the next count is of the most probable
        classes alone.
        """


def iterate(step: Callable[[int], bool], *, max_iterations: int, control: Control) -> Iterations:
    """Repeat ``step`` until it returns True; one iteration is always made.

    Parameters
    ----------
    step : callable
        Makes one iteration, given how many were made before it, and returns whether the stop rule is met.
    max_iterations : int
    control : Control
        Asked whether to stop after each iteration that another one would follow.
    """
    done, converged, cut = 0, False, False
    while not converged and not cut and done < max_iterations:
        converged = step(done)
        done += 1
        cut = not converged and done < max_iterations and control.stopped()
    return Iterations(done, converged, cut)


ROUNDING = 1e-15
"""Changes of a mean log-likelihood that are no more than rounding: a model that explains every vote has one near 0."""


def likelihood_settled(before: float, now: float, tolerance: float) -> bool:
    """Return whether a mean log-likelihood changed by at most this share."""
    return abs(now - before) <= max(tolerance * abs(before), ROUNDING)


def aggregate(
    votes: Votes,
    posterior: Floats,
    run: Iterations,
    *,
    lead: tuple[str, ...] = (),
    note: str = "",
    reached: str = "",
    **fields: Any,
) -> Aggregate:
    """Return the answer of an iterative method, with notes on its end.

    Parameters
    ----------
    votes : Votes
    posterior : (n, K)
    run : Iterations
    lead : tuple of str
        Sentences that come first in any case.
    note : str
        How it ended, if nobody cut it.
    reached : str
        Where it was cut; by default after so many iterations.
    **fields
        Further fields of `Aggregate`.
    """
    voted = votes.votes_per_row > 0
    end = cut_notes(run.cut, reached or f"{run.done:,} iterations") or ((note,) if note else ())
    return Aggregate(
        posterior=posterior,
        voted=voted,
        iterations=run.done,
        converged=run.converged,
        cut=run.cut,
        notes=(*lead, *end, *silence_notes(voted)),
        **fields,
    )
