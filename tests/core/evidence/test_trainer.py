from dataclasses import replace

import numpy as np
import pytest
import torch

from deem_core import Votes
from deem_core.evidence.method import settings_for
from deem_core.evidence.trainer import EvidenceTrainer
from deem_core.evidence.weighing import SoftRows
from deem_core.one_hot import one_hot
from deem_core.training import Trainer
from tests.core.evidence.helpers import soft_ensemble

CPU = torch.device("cpu")


def trained(trainer):
    for _ in trainer:
        pass
    return trainer.finished().parameters()


def soft_trainer(votes, config, seeds=(1, 2)):
    rows = SoftRows(votes.soft, np.arange(votes.n_rows), torch.ones(votes.n_learners))
    return EvidenceTrainer(rows, votes.codes, config, seeds, device=CPU)


@pytest.fixture(scope="module")
def votes():
    return soft_ensemble(n=400, coverage=0.9)[0]


@pytest.fixture(scope="module")
def config(votes):
    return replace(settings_for(votes), updates=12, batch_size=64)


def test_with_one_hot_probabilities_the_training_is_that_of_deem(votes, config):
    hard = Votes.from_soft(one_hot(votes.codes, votes.n_classes).astype(np.float32))
    plain = Trainer(hard.codes, hard.n_classes, config, [1, 2], device=CPU)
    for one, other in zip(trained(soft_trainer(hard, config)), trained(plain), strict=True):
        assert torch.equal(one, other)


def test_soft_votes_train_otherwise_than_their_most_probable_classes(votes, config):
    plain = Trainer(votes.codes, votes.n_classes, config, [1, 2], device=CPU)
    assert not torch.equal(trained(soft_trainer(votes, config))[0], trained(plain)[0])


def test_the_same_seeds_give_the_same_models_and_a_training_can_go_on_later(votes, config):
    whole = trained(soft_trainer(votes, config))
    first = soft_trainer(votes, config)
    for _ in range(5):
        first.step()
    second = soft_trainer(votes, config)
    second.restore(first.state())
    for one, other in zip(trained(second), whole, strict=True):
        assert torch.equal(one, other)
