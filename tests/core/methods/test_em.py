"""The loop that iterative methods share."""

import itertools

import numpy as np
import pytest

from deem_core.control import StopWhen
from deem_core.methods import em
from tests.core.methods.helpers import make_votes


def after(n):
    """Return a callable that says yes from its n-th question on, and counts them."""
    questions = itertools.count(1)
    return lambda *_: next(questions) >= n


NEVER = after(10**9)


@pytest.mark.parametrize(
    ("converges", "stops", "expected"),
    [
        (4, NEVER, em.Iterations(4, True, False)),
        (99, NEVER, em.Iterations(10, False, False)),
        (99, after(3), em.Iterations(3, False, True)),
        (1, after(1), em.Iterations(1, True, False)),
    ],
)
def test_it_ends_at_its_rule_its_length_or_when_stopped(converges, stops, expected):
    assert em.iterate(after(converges), max_iterations=10, control=StopWhen(stops)) == expected


def test_nobody_is_asked_after_the_last_iteration():
    """Else a method that has done all its work would be called cut."""
    asked = []
    em.iterate(lambda done: False, max_iterations=3, control=StopWhen(lambda: bool(asked.append(1))))
    assert len(asked) == 2


def test_steps_know_how_many_came_before():
    seen = []
    em.iterate(lambda done: seen.append(done) or False, max_iterations=3, control=StopWhen(NEVER))
    assert seen == [0, 1, 2]


def test_a_cut_takes_the_place_of_the_note_and_silent_rows_come_last():
    votes, posterior = make_votes([[0, 1], [-1, -1]], 2), np.full((2, 2), 0.5)
    silent = "1 row has no vote and gets no label."
    made = em.aggregate(votes, posterior, em.Iterations(2, True, False), lead=("First.",), note="Done.", pi=np.ones(2))
    assert made.notes == ("First.", "Done.", silent)
    assert made.iterations == 2
    assert made.pi is not None
    made = em.aggregate(votes, posterior, em.Iterations(2000, False, True), note="Done.")
    assert made.notes == ("Cut by the time limit after 2,000 iterations: these are the labels it stood at.", silent)


def test_rounding_of_a_likelihood_near_zero_is_no_change():
    """Votes that the model explains without rest: relative changes of what is left never end."""
    assert em.likelihood_settled(-1.51514597e-11, -1.51513989e-11, 1e-9)
    assert not em.likelihood_settled(-2.4e-11, -1.5e-11, 1e-9)
    assert not em.likelihood_settled(-1.0, -1.0 + 1e-8, 1e-9)
