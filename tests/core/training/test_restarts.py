"""Restarts are judged in the classes of the majority vote, whatever their hidden states mean."""

import numpy as np
import pytest
import torch

from deem_core import Votes
from deem_core.model.config import TrainConfig
from deem_core.model.energy import initialise, stack
from deem_core.training.near_copies import Reduction
from deem_core.training.places import Place
from deem_core.training.restarts import LabelTask, Training, fit_restarts

CYCLES = [(1, 2, 0), (2, 0, 1)]
"""Class of each hidden state: maps that are not their own inverse."""


@pytest.fixture
def votes():
    """Six learners that mostly agree, and classes of very different size."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], [300, 150, 50])
    codes = np.where(rng.random((500, 6)) < 0.9, truth[:, None], rng.integers(3, size=(500, 6)))
    return Votes(codes, np.arange(3), tuple("abcdef"), truth=truth)


def permuted(cycle, seed):
    """The majority vote with another order of hidden states: state k speaks for class cycle[k]."""
    model = initialise(6, 3, 1, [torch.Generator().manual_seed(seed)])
    order = list(cycle)
    tensors = [model.weights[..., order], model.visible_bias, model.hidden_bias[:, order]]
    return model.with_parameters([*tensors, *model.parameters()[3:]])


def test_a_restart_with_permuted_states_is_as_healthy_as_any(votes):
    model = stack([permuted(cycle, seed) for seed, cycle in enumerate([(0, 1, 2), *CYCLES])])
    health, maps = LabelTask(votes, Reduction.of(votes.learners)).judge(model, [None] * 3)
    assert maps.tolist() == [[0, 1, 2], *map(list, CYCLES)]
    for verdict in health:
        assert verdict.kept
        assert verdict.share_ratio > 0.9
        assert verdict.agreement > 0.95


def test_survivors_keep_their_own_maps_and_the_truth_is_not_looked_at(votes, monkeypatch):
    """The first restart is lost, so that the others move up."""
    seen = []

    def judged(task, model, failures):
        seen.append(task.votes.truth)
        lost = ["it was told to", *failures[1:]]
        return real(task, model.with_parameters(stack([permuted((0, 1, 2), 0), *permutations]).parameters()), lost)

    real, permutations = LabelTask.judge, [permuted(cycle, 1 + at) for at, cycle in enumerate(CYCLES)]
    monkeypatch.setattr(LabelTask, "judge", judged)
    config = TrainConfig(updates=1, batch_size=100, n_layers=1, backend="torch", device="cpu")
    task = LabelTask(votes, Reduction.of(votes.learners))
    (fit,) = fit_restarts([Training(task, [1, 2, 3], 3)], config, place=Place.of("cpu"), report=lambda *_: None)
    assert fit.part is not None
    assert fit.part.maps.tolist() == [list(cycle) for cycle in CYCLES]
    assert fit.part.model.n_models == 2
    assert seen == [None]
