"""What an update asks of a GPU: few operations, one copy to it and none from it.

The bounds are those that docs/architecture.md states; they do not depend on rows, learners, classes or restarts.
"""

from dataclasses import replace

import numpy as np
import pytest
import torch

from deem_core import simulation
from deem_core.methods.soft_deem import training as soft_training
from deem_core.methods.soft_deem.training import EvidenceTrainer, settings_for
from deem_core.methods.soft_deem.weighing import SoftRows
from deem_core.model.config import Shape, TrainConfig, resolve
from deem_core.model.trainer import Trainer
from deem_core.training.sweep.candidates import Candidate
from deem_core.training.sweep.trainer import Stack
from tests.core.operations import META, Watch, to_meta

CPU = torch.device("cpu")

BUDGET = {"dmala": (170, 132), "dula": (112, 112), "gwg": (246, 131)}
"""Operations of an update of five sampler steps: without layers, and for each layer more."""

SOFT = (85, 10)
"""The same of drawing positives from soft votes, on top."""


PENALTIES, SWEPT = 30, 8
"""And of momentum and penalties; of a sweep, which must know when a candidate is no longer finite."""


def votes(K=3, n=300):
    return simulation.tree(n, rng=np.random.default_rng(0), n_classes=K).votes


def settings(data, **wished):
    return resolve(TrainConfig(**{"updates": 50, "batch_size": 64, **wished}), Shape.of(data)).config


def budget(kind, n_layers):
    bare, layer = BUDGET[kind]
    return bare + n_layers * layer


@pytest.mark.parametrize("kind", BUDGET)
@pytest.mark.parametrize("n_layers", [0, 1, 3])
@pytest.mark.parametrize("K", [3, 40])
def test_an_update_keeps_to_its_operations_with_one_copy_and_no_wait(K, n_layers, kind):
    data = votes(K)
    trainer = to_meta(
        Trainer(data.codes, K, settings(data, n_layers=n_layers, sampler=kind), [1, 2, 3, 4, 5], device=CPU)
    )
    with Watch() as watch:
        trainer.step()
    assert watch.operations <= budget(kind, n_layers), watch.counts
    assert watch.operations > budget(kind, n_layers) / 2  # the bound means something
    assert watch.uploads == 1


@pytest.mark.parametrize(
    "wished", [{"chain_start": "persistent"}, {"momentum": 0.5, "l1": 0.1, "l2": 0.1}, {"activation": "softmax"}]
)
def test_other_settings_wait_for_nothing_either(wished):
    data = simulation.drop_votes(
        simulation.tree(300, rng=np.random.default_rng(0)), 0.3, rng=np.random.default_rng(0)
    ).votes
    trainer = to_meta(Trainer(data.codes, 3, settings(data, n_layers=1, **wished), [1, 2], device=CPU))
    with Watch() as watch:
        trainer.step()
    assert watch.uploads == 1
    assert watch.operations <= budget("dmala", 1) + PENALTIES


@pytest.mark.parametrize("n_layers", [0, 1])
def test_a_sweep_waits_for_nothing_between_records(n_layers):
    data = votes()
    config = settings(data, n_layers=n_layers)
    stack = Stack(
        range(3), [Candidate(rate, n_layers, replace(config, learning_rate=rate)) for rate in (0.1, 0.2, 0.5)], [0, 50]
    )
    stack.begin(data, torch.tensor(np.array(data.codes)), 0)
    stack.next = 1
    to_meta(stack.trainer)
    with Watch() as watch:
        assert stack.advance(None, lambda: stack.trainer.update == 4) is None
    assert stack.trainer.update == 4
    assert watch.uploads == 4
    assert watch.operations <= 4 * (budget("dmala", n_layers) + SWEPT)


@pytest.mark.parametrize("n_layers", [0, 1, 2])
def test_soft_votes_are_at_hand_on_the_device(n_layers, monkeypatch):
    data = simulation.soften(simulation.tree(300, rng=np.random.default_rng(0)), rng=np.random.default_rng(1)).votes
    rows = SoftRows(data.soft, np.arange(data.n_rows), torch.ones(data.n_learners, device=META)).resident()
    config = replace(settings_for(data).config, n_layers=n_layers, batch_size=64, backend="torch")
    trainer = to_meta(EvidenceTrainer(rows, data.codes, config, [1, 2, 3], device=CPU))
    monkeypatch.setattr(soft_training, "seeded_generator", lambda *_: torch.Generator())
    with Watch() as watch:
        trainer.step()
    assert watch.uploads == 1
    assert watch.operations <= budget("dmala", n_layers) + SOFT[0] + n_layers * SOFT[1]
