import importlib.util

import numpy as np
import pytest
import torch

from deem_core import InputError
from deem_core.methods import hlm
from tests.core.methods.helpers import make_votes, random_votes

RNG = np.random.default_rng(0)


def test_without_the_package_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="pip install"):
        hlm.aggregate(make_votes([[0, 1, 1]], 2), RNG)


@pytest.mark.parametrize(("K", "coverage"), [(2, 1), (3, 1), (2, 0.8), (4, 0.8)])
def test_answers_are_those_of_the_package(K, coverage):
    package = pytest.importorskip("hyperlm.hyper_label_model")
    votes = random_votes(np.random.default_rng(1), 200, 6, K, coverage)
    votes = votes.select_rows(votes.votes_per_row > 0)
    theirs = package.UnsupervisedWraper.__new__(package.UnsupervisedWraper)  # its constructor unpickles unsafely
    theirs.device, theirs.net = "cpu", hlm._network()
    np.testing.assert_allclose(hlm.aggregate(votes, RNG).posterior, theirs.predict_prob(votes.codes), atol=1e-6)


def test_the_checkpoint_is_never_unpickled_freely(monkeypatch):
    pytest.importorskip("hyperlm")
    asked, load, before = [], torch.load, torch.serialization.get_safe_globals()
    monkeypatch.setattr(torch, "load", lambda *a, **k: asked.append(k) or load(*a, **k))
    hlm.aggregate(make_votes([[0, 1, 1], [1, 1, 0]], 2), RNG)
    assert [options["weights_only"] for options in asked] == [True]
    assert torch.serialization.get_safe_globals() == before


def test_too_many_votes_are_refused(monkeypatch):
    pytest.importorskip("hyperlm")
    monkeypatch.setattr(hlm, "MAX_VOTES", 5)
    with pytest.raises(InputError, match="there are 6"):
        hlm.aggregate(make_votes([[0, 1, 1], [1, 1, 0]], 2), RNG)
