"""Methods compute equal rows once: counts stand for repeated rows, missing votes and rows without any included."""

from functools import partial

import numpy as np
import pytest

from deem_core.methods import dawid_skene, ebcc, fast_dawid_skene, majority, one_coin
from deem_core.votes import table as votes_table
from deem_core.votes.arrays import Distinct, distinct_rows
from deem_core.votes.patterns import Table
from tests.core.methods.helpers import random_votes

FITS = {
    "ds": dawid_skene.fit,
    "ds to the end": partial(dawid_skene.fit, tolerance=1e-9, max_iterations=500),
    "fds": lambda table: fast_dawid_skene.fit(table)[0],
    "hds": lambda table: fast_dawid_skene.fit(table, soft_until=fast_dawid_skene.SWITCH)[0],
    "onecoin": one_coin.fit,
}

METHODS = {
    "ds": dawid_skene.aggregate,
    "fds": fast_dawid_skene.aggregate,
    "hds": fast_dawid_skene.hybrid,
    "onecoin": one_coin.aggregate,
    "weighted_mv": majority.weighted_vote,
    "ebcc": partial(ebcc.aggregate, restarts=2, subtypes=3),
}


@pytest.fixture(params=[1.0, 0.5], ids=["complete", "missing"])
def votes(request):
    """Rows that repeat; with missing votes some have none at all."""
    made = random_votes(np.random.default_rng(0), 400, 4, 3, request.param)
    assert len(made.distinct.codes) < 300
    assert (made.distinct.weights == 0).any() == (request.param < 1)
    return made


def one_by_one(codes):
    """Every row for itself, repeated or not."""
    return Distinct(codes, np.arange(len(codes)), np.ones(len(codes), np.int64))


@pytest.mark.parametrize("name", FITS)
def test_counts_stand_for_repeated_rows(votes, name):
    rows = votes.distinct
    voted = (votes.codes >= 0).any(axis=1).astype(float)
    found, plain = FITS[name](Table.of_votes(votes)), FITS[name](Table(votes.codes, voted, 3))
    assert found.run == plain.run
    assert found.run.done > 2
    np.testing.assert_allclose(found.posterior[rows.of_row], plain.posterior, atol=1e-9)
    np.testing.assert_allclose(found.pi, plain.pi, atol=1e-10)
    assert found.log_likelihood == pytest.approx(plain.log_likelihood, rel=1e-12)


@pytest.mark.parametrize("name", METHODS)
def test_answers_are_those_of_all_rows_one_by_one(votes, name, monkeypatch):
    found = METHODS[name](votes, np.random.default_rng(1))
    monkeypatch.setattr(votes_table, "distinct_rows", one_by_one)
    again = votes.select_rows(slice(None))
    assert len(again.distinct.codes) == 400
    plain = METHODS[name](again, np.random.default_rng(1))
    np.testing.assert_allclose(found.posterior, plain.posterior, atol=1e-9)
    np.testing.assert_allclose(found.skills, plain.skills, atol=1e-10)
    assert (found.iterations, found.converged, found.notes) == (plain.iterations, plain.converged, plain.notes)


def test_counts_weigh_what_they_say():
    codes = np.array([[0, 0, 1], [1, 1, 1], [0, 1, -1]], np.int32)
    repeated = np.repeat(codes, [5, 3, 2], axis=0)
    found = dawid_skene.fit(Table(codes, np.array([5.0, 3.0, 2.0]), 2))
    plain = dawid_skene.fit(Table(repeated, np.ones(10), 2))
    np.testing.assert_allclose(np.repeat(found.posterior, [5, 3, 2], axis=0), plain.posterior, atol=1e-12)
    assert not np.allclose(found.posterior, dawid_skene.fit(Table(codes, np.ones(3), 2)).posterior)


def test_ebcc_on_counts_alone_draws_a_start_for_every_row():
    rows = np.repeat(np.array([[0, 0, 1], [1, 1, 1], [0, 1, 1]], np.int32), [5, 3, 2], axis=0)
    table = Table.of(rows, 2)
    of_row = distinct_rows(rows).of_row
    alone, elbos = ebcc.fit(table, np.random.default_rng(3))
    told, same = ebcc.fit(table, np.random.default_rng(3), of_row=of_row)
    np.testing.assert_array_equal(alone.posterior, told.posterior)
    assert elbos == same


def test_methods_on_the_same_votes_share_one_pass(votes, monkeypatch):
    passes = []
    monkeypatch.setattr(votes_table, "distinct_rows", lambda codes: passes.append(1) or distinct_rows(codes))
    again = votes.select_rows(slice(None))
    for method in METHODS.values():
        method(again, np.random.default_rng(0))
    assert passes == [1]
