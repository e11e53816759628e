"""Our numbers against those of crowd-kit and hyperlm, which `python -m tests.rival_fixtures` stored."""

import importlib.util
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from deem_core.methods import dawid_skene, hlm, majority, one_coin
from tests import rival_fixtures
from tests.core.methods.helpers import make_votes
from tests.rival_fixtures import CROWDS, FOLDER, QUESTIONS, STEPS

RNG = np.random.default_rng(0)


def stored(package):
    with np.load(FOLDER / f"{package}.npz", allow_pickle=False) as file:
        return dict(file)


@pytest.fixture(params=CROWDS)
def crowd(request):
    """Votes, and what crowd-kit says of them."""
    own = f"{request.param}."
    kept = {name.removeprefix(own): array for name, array in stored("crowdkit").items() if name.startswith(own)}
    return SimpleNamespace(votes=make_votes(kept["codes"], 4), says=kept)


def test_vote_shares_are_those_of_crowd_kit(crowd):
    np.testing.assert_allclose(majority.aggregate(crowd.votes, RNG).posterior, crowd.says["mv"], atol=1e-12)


@pytest.mark.parametrize("step", STEPS)
def test_every_step_of_dawid_skene_is_that_of_crowd_kit(crowd, step):
    made = dawid_skene.aggregate(crowd.votes, RNG, tolerance=0.0, max_iterations=step)
    np.testing.assert_allclose(made.posterior, crowd.says[f"ds.{step}"], atol=1e-6)


@pytest.mark.parametrize("step", STEPS)
def test_every_step_of_one_coin_is_that_of_crowd_kit_but_for_the_smoothing(crowd, step, monkeypatch):
    monkeypatch.setattr(one_coin, "MAX_ITERATIONS", step)
    monkeypatch.setattr(one_coin, "TOLERANCE", 0.0)
    smoothed = one_coin.aggregate(crowd.votes, RNG).posterior
    monkeypatch.setattr(one_coin, "SMOOTHING", 0.0)
    plain = one_coin.aggregate(crowd.votes, RNG)
    assert plain.iterations == step
    np.testing.assert_allclose(plain.posterior, crowd.says[f"onecoin.{step}"], atol=1e-6)
    np.testing.assert_allclose(smoothed, plain.posterior, atol=0.01)


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_hyper_label_model_asks_and_concludes_as_hyperlm_does(name, monkeypatch):
    """The network itself is theirs: here it knows the replies to the questions that hyperlm asked."""
    kept = stored("hyperlm")
    index, values, replies = (kept[f"{name}.{what}"] for what in ("index", "values", "replies"))
    asked = []

    def network(own_index, own_values):
        at = len(asked)
        asked.append(at)
        np.testing.assert_array_equal(own_index[0], index[at])
        np.testing.assert_array_equal(own_values[0], values[at])
        return torch.as_tensor(replies[at]), None

    monkeypatch.setattr(importlib.util, "find_spec", lambda package: package)
    monkeypatch.setattr(hlm, "_network", lambda: network)
    K, _ = QUESTIONS[name]
    made = hlm.aggregate(make_votes(kept[f"{name}.codes"], K), RNG)
    assert len(asked) == len(replies) == (1 if K == 2 else K)
    np.testing.assert_allclose(made.posterior, kept[f"{name}.posterior"], atol=1e-6)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("package", rival_fixtures.PACKAGES)
def test_what_is_stored_is_what_the_package_says(package):
    pytest.importorskip(package)
    for name, array in rival_fixtures.PACKAGES[package]().items():
        if name != "version":
            np.testing.assert_allclose(stored(package)[name], array, atol=1e-6)
