"""Restarts of soft DEEM are judged and heard in class order, whatever their hidden states mean."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax

from deem_core import Votes
from deem_core.methods.soft_deem.training import SoftTask
from deem_core.model.energy import stack
from tests.core.training.test_parts import in_class_order
from tests.core.training.test_restarts import CYCLES, permuted

MAPS = np.array([(0, 1, 2), *CYCLES])


@pytest.fixture(scope="module")
def task():
    """Six learners that mostly agree and say how sure they are, and classes of very different size."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], [180, 90, 30])
    codes = np.where(rng.random((300, 6)) < 0.9, truth[:, None], rng.integers(3, size=(300, 6)))
    return SoftTask(Votes.from_soft(0.1 + 0.7 * np.eye(3)[codes]), seed=0)


@pytest.fixture(scope="module")
def model():
    return stack([permuted(cycle, seed) for seed, cycle in enumerate(MAPS.tolist())])


def test_restarts_with_permuted_states_are_as_healthy_as_any(task, model):
    health, maps = task.judge(model, [None] * 3)
    assert maps.tolist() == MAPS.tolist()
    for verdict in health:
        assert verdict.kept
        assert verdict.share_ratio > 0.9
        assert verdict.agreement > 0.95


def test_hidden_states_speak_for_the_classes_of_their_map(task, model):
    part = task.part(model, MAPS)
    as_they_are = replace(part, maps=np.tile(np.arange(3), (3, 1))).logits(task.soft)
    aligned = in_class_order(as_they_are, MAPS)
    np.testing.assert_allclose(part.logits(task.soft), aligned)
    np.testing.assert_allclose(part.posteriors(task.soft), softmax(aligned, axis=2).mean(axis=0), atol=1e-6)
