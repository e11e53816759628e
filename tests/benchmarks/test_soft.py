"""The benchmark of soft votes, and the sentence of pages and commands that rests on it."""

import json

import numpy as np
import pytest

from benchmarks import bench_soft
from deem_core.methods.probabilities import ADVICE


@pytest.fixture(scope="module")
def store():
    return json.loads(bench_soft.STORE.read_text())


def test_the_advice_of_pages_says_what_the_stored_table_says(store):
    gain = bench_soft.gains(store, bench_soft.JUDGE, "cal_pool", "mv")
    pool = bench_soft.gains(store, bench_soft.JUDGE, "cal_pool", "deem")
    soft = bench_soft.gains(store, bench_soft.JUDGE, "deem_soft", "deem")
    assert f"on {len(gain)} test ensembles it was {gain.mean():.1f} points better" in ADVICE
    assert "on none of them worse" in ADVICE
    assert (gain >= 0).all()
    assert len(gain) == len(pool) == len(soft)
    assert f"the pool was better on {(pool > 0).sum()}, soft DEEM on {(soft > 0).sum()}." in ADVICE


def test_where_no_model_fits_the_pool_is_the_better_default(store):
    misfits = {name: one for name, one in store.items() if one["auto_before"]["by"] == "mv"}
    gain = bench_soft.gains(misfits, bench_soft.JUDGE, "cal_pool", "auto_before")
    assert (len(gain), round(gain.mean(), 1)) == (10, 2.0)  # docs/auto.md
    assert gain.min() > 0


def test_the_stored_page_is_the_one_made_from_the_store(store):
    assert bench_soft.PAGE.read_text() == bench_soft.page(store)


def test_an_ensemble_is_out_of_fold_and_has_its_truth():
    votes = bench_soft.make("wine")
    assert votes.dimensions == "178 rows × 7 learners × 3 classes"
    np.testing.assert_allclose(votes.soft.sum(axis=2), 1, atol=1e-5)
    assert (votes.codes == np.asarray(votes.truth)[:, None]).mean() < 0.99
