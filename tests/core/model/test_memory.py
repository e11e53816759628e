"""Memory of a training, counted before and while."""

import re

import numpy as np
import pytest
import torch

from deem_core import simulation
from deem_core.errors import InputError
from deem_core.methods.soft_deem import training as soft_training
from deem_core.methods.soft_deem.training import EvidenceTrainer, settings_for
from deem_core.methods.soft_deem.weighing import SoftRows
from deem_core.model import memory
from deem_core.model.config import Shape, TrainConfig, resolve
from deem_core.model.energy import posterior
from deem_core.model.memory import Demand, check_memory
from deem_core.model.trainer import Trainer
from tests.core.operations import META, Watch, to_meta

CPU, GPU = torch.device("cpu"), torch.device("cuda:0")
FACTOR = 1.5


def trainer(K, d, n=600, **settings):
    codes = np.random.default_rng(0).integers(0, K, (n, d)).astype(np.int32)
    shape = Shape.of(simulation.tree(300, rng=np.random.default_rng(0)).votes)
    wished = TrainConfig(**{"updates": 50, "batch_size": 512, "learning_rate": 0.05, **settings})
    return Trainer(codes, K, resolve(wished, shape).config, [0, 1, 2], device=CPU), codes


def held(made):
    """Return the bytes of all tensors that a trainer keeps."""
    kept = list(made.model.parameters())
    for value in vars(made).values():
        kept += [value] if isinstance(value, torch.Tensor) else value if isinstance(value, list) else []
    return sum(tensor.untyped_storage().nbytes() for tensor in kept if isinstance(tensor, torch.Tensor))


@pytest.mark.parametrize("sampler", ["dmala", "gwg"])
@pytest.mark.parametrize("more", [{}, {"chain_start": "persistent", "momentum": 0.5}])
@pytest.mark.parametrize(
    "shape", [(3, 12, 0, 600), (10, 15, 1, 600), (10, 15, 3, 600), (40, 5, 1, 600), (2, 30, 2, 9000)]
)
def test_the_bound_holds_and_is_near(shape, more, sampler):
    K, d, n_layers, n = shape
    made, codes = trainer(K, d, n, n_layers=n_layers, sampler=sampler, **more)
    bound = made._demand(codes, K).bytes
    to_meta(made)
    with Watch() as watch, torch.no_grad():
        made.step()
        posterior(made.model, made.watched.expand(3, -1, -1))
    assert 1 <= bound / (held(made) + watch.peak) <= FACTOR


@pytest.mark.parametrize("n_layers", [0, 1])
def test_the_bound_holds_for_soft_votes(n_layers, monkeypatch):
    data = simulation.soften(simulation.tree(600, rng=np.random.default_rng(0)), rng=np.random.default_rng(1)).votes
    rows = SoftRows(data.soft, np.arange(data.n_rows), torch.ones(data.n_learners, device=META)).resident()
    config = TrainConfig(
        **{**vars(settings_for(data).config), "n_layers": n_layers, "batch_size": 512, "backend": "torch"}
    )
    made = EvidenceTrainer(rows, data.codes, config, [1, 2, 3], device=CPU)
    bound = made._demand(data.codes, data.n_classes).bytes
    monkeypatch.setattr(soft_training, "seeded_generator", lambda *_: torch.Generator())
    to_meta(made)
    with Watch() as watch:
        made.step()
    assert 1 <= bound / (held(made) + watch.peak) <= 4  # without layers positives take a quarter


def test_what_does_not_fit_is_refused_with_the_batch_that_does(monkeypatch):
    demand = Demand(1_000_000, 15, 10, 1, 5, 16_384)
    monkeypatch.setattr(memory, "free_bytes", lambda device: 400_000_000)
    with pytest.raises(InputError) as refused:
        check_memory(demand, GPU)
    said = re.fullmatch(
        r"Training needs 1\.\d GB, and 400 MB are free on cuda:0: batch (\d+) fits, or fewer restarts or rates\.",
        str(refused.value),
    )
    batch = int(said[1])
    assert batch.bit_count() == 1
    assert (
        Demand(1_000_000, 15, 10, 1, 5, batch).bytes <= 400_000_000 < Demand(1_000_000, 15, 10, 1, 5, 2 * batch).bytes
    )
    check_memory(Demand(1_000_000, 15, 10, 1, 5, batch), GPU)


def test_where_no_batch_fits_the_processor_is_advised(monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda device: 1_000)
    with pytest.raises(InputError, match=r"free on cuda:0: no batch fits: train on cpu\.$"):
        check_memory(Demand(1_000, 15, 10, 1, 1, 64), GPU)


def test_a_training_asks_before_it_allocates(monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda device: 1_000)
    with pytest.raises(InputError, match="Training needs"):
        trainer(3, 12)
