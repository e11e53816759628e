"""Attempts on misfits: halves that share nothing, labels that no truth reached, and the rule of choice."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.misfit.__main__ import CAUTION, GOAL, choice
from benchmarks.misfit.answers import METHODS, Case
from benchmarks.misfit.attempts import attempts, hedged
from benchmarks.misfit.ensembles import LEARNERS, drawn_learners
from benchmarks.misfit.tables import SOURCES, half
from tests.core.groups.helpers import table

ATTEMPTS = {name: attempt for own in attempts().values() for name, attempt in own.items()}


def case(n=200, d=8, K=3, seed=0):
    """Votes of 8 learners, and answers that are nobody's."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(K, size=n)
    codes = np.where(rng.random((n, d)) < 0.6, truth[:, None], rng.integers(K, size=(n, d)))
    votes = table(codes, K, truth=truth)
    posteriors = {method: rng.dirichlet(np.ones(K), n) for method in METHODS}
    return Case("made up", votes, "dense", 0.02, votes.majority_vote.codes, posteriors)


def test_halves_share_no_table():
    origins = {which: {source.origin for source in SOURCES if half(source) == which} for which in ("choose", "judge")}
    assert not origins["choose"] & origins["judge"]
    assert min(len({s.name for s in SOURCES if half(s) == which}) for which in origins) >= 12


def test_the_split_is_the_one_that_the_results_rest_on():
    judged = {source.name for source in SOURCES if half(source) == "judge"}
    assert {"digits", "china_6", "classes_3", "hastie", "quantiles"} <= judged
    assert not {"flower_8", "classes_4", "classes_10-2", "s_curve"} & judged


@pytest.mark.parametrize("name", ATTEMPTS)
def test_no_attempt_looks_at_the_truth(name):
    whole = case()
    hidden = replace(whole, votes=replace(whole.votes, truth=np.zeros(200, np.int32)))
    labels = ATTEMPTS[name](whole)
    np.testing.assert_array_equal(labels, ATTEMPTS[name](hidden))
    assert set(np.unique(labels)) <= {0, 1, 2}


def test_the_vote_is_overturned_only_where_all_agree():
    made = case()
    clear = ~made.votes.majority_vote.tied
    methods = ("ds", "ebcc")
    said = [made.posteriors[method].argmax(axis=1) for method in methods]
    labels = hedged(made, ties=("la2",), methods=methods)
    agree = said[0] == said[1]
    np.testing.assert_array_equal(labels[agree], said[0][agree])
    np.testing.assert_array_equal(labels[clear & ~agree], made.votes.majority_vote.codes[clear & ~agree])
    assert (labels != made.votes.majority_vote.codes)[clear].any()


def test_the_choice_refuses_attempts_that_lose_and_takes_the_highest_mean():
    found = {
        "bold": np.array([3.0, CAUTION - 0.01]),
        "good": np.array([1.0, 0.2]),
        "cautious": np.array([1.2, CAUTION]),
        "idle": np.array([GOAL, GOAL]),
    }
    assert choice(found) == "good"
    assert not choice({"bold": found["bold"], "idle": found["idle"]})


def test_ensembles_have_as_many_learners_as_promised_and_none_twice():
    for seed in range(30):
        learners = drawn_learners(np.random.default_rng(seed))
        assert LEARNERS[0] <= len(learners) <= LEARNERS[1]
        assert len(set(learners)) == len(learners)
