import itertools

import numpy as np
import pytest
from scipy.special import gammaln

from deem_core import InputError
from deem_core.control import NO_CONTROL
from deem_core.methods import ebcc
from deem_core.votes.patterns import Table
from tests.core.methods.helpers import make_votes, random_votes


def log_beta(parameters):
    return gammaln(parameters).sum() - gammaln(parameters.sum())


def log_evidence(codes, K, M):
    """log Pr(votes), every class and subtype of every row summed over, Dirichlets integrated out."""
    n, d = codes.shape
    beta = np.full((K, K), ebcc.WRONG_PRIOR)
    np.fill_diagonal(beta, ebcc.RIGHT_PRIOR)
    terms = []
    for states in itertools.product(itertools.product(range(K), range(M)), repeat=n):
        classes = np.bincount([y for y, _ in states], minlength=K)
        prior = np.full(K, ebcc.CLASS_PRIOR)
        total = log_beta(prior + classes) - log_beta(prior)
        for k in range(K):
            sub = np.full(M, ebcc.SUBTYPE_PRIOR / M)
            total += log_beta(sub + [sum(s == (k, m) for s in states) for m in range(M)]) - log_beta(sub)
            for m, i in itertools.product(range(M), range(d)):
                said = [codes[row, i] for row, s in enumerate(states) if s == (k, m) and codes[row, i] >= 0]
                total += log_beta(beta[k] + np.bincount(said, minlength=K)) - log_beta(beta[k])
        terms.append(total)
    return np.logaddexp.reduce(terms)


def elbos_of(votes, subtypes, seed, most):
    """ELBO after the start and after each iteration of one restart."""
    field = ebcc._Field(Table.of_votes(votes), subtypes, votes.distinct.of_row)
    return [field.climb(np.random.default_rng(seed), NO_CONTROL, steps)[0].elbo for steps in range(most)]


@pytest.mark.parametrize("codes", [[[0, 1], [1, 1], [0, 0]], [[0, -1], [1, 1], [1, 0]]], ids=["complete", "missing"])
def test_the_elbo_is_below_the_evidence_and_near_it(codes):
    votes = make_votes(codes, 2)
    evidence = log_evidence(votes.codes, 2, 2)
    elbos = elbos_of(votes, 2, 0, 30)
    assert max(elbos) <= evidence + 1e-9
    assert max(elbos) > evidence - 2.5


@pytest.mark.parametrize("coverage", [1, 0.5])
def test_the_elbo_never_falls(coverage):
    votes = random_votes(np.random.default_rng(1), 150, 5, 3, coverage)
    votes = votes.select_rows(votes.votes_per_row > 0)
    elbos = elbos_of(votes, 4, 2, 40)
    assert (np.diff(elbos) >= -1e-7).all()
    assert elbos[-1] > elbos[0]


def test_the_restart_of_highest_elbo_answers():
    votes = random_votes(np.random.default_rng(3), 200, 6, 3)
    made = ebcc.aggregate(votes, np.random.default_rng(4), restarts=4)
    told = [float(part) for part in made.notes[0].split(": ")[1].rstrip(".").replace(",", "").split()]
    rng = np.random.default_rng(4)
    field = ebcc._Field(Table.of_votes(votes), ebcc.SUBTYPES, votes.distinct.of_row)
    states = [field.climb(rng, NO_CONTROL, 500)[0] for _ in range(4)]
    np.testing.assert_allclose(told, [state.elbo for state in states], atol=0.06)
    best = max(states, key=lambda state: state.elbo)
    np.testing.assert_array_equal(made.posterior, field.answer(best)[0][votes.distinct.of_row])


def test_equal_rows_have_equal_answers_and_rows_without_votes_none():
    votes = make_votes(np.vstack([np.tile([[0, 1, 1], [1, 1, 0]], (30, 1)), [[-1, -1, -1]]]), 2)
    made = ebcc.aggregate(votes, np.random.default_rng(5))
    np.testing.assert_array_equal(made.posterior[:60:2], np.tile(made.posterior[0], (30, 1)))
    np.testing.assert_allclose(made.posterior[60], made.pi)
    assert made.codes[60] == -1


def test_too_many_cells_are_refused_with_their_number(monkeypatch):
    monkeypatch.setattr(ebcc, "MAX_CELLS", 10**7)
    with pytest.raises(InputError, match=r"30,010,000 cells for 1 different row, about 0\.7 GB"):
        ebcc.aggregate(make_votes(np.zeros((11, 3), int), 1000), np.random.default_rng(0))
