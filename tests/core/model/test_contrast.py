"""The update in few operations against the readable one."""

import warnings

import numpy as np
import pytest
import torch

from deem_core import simulation
from deem_core.model import contrast as module
from deem_core.model import trainer as trainer_module
from deem_core.model.config import Shape, TrainConfig, resolve
from deem_core.model.contrast import contrast_of
from deem_core.model.energy import free_energy, initialise
from deem_core.model.sampler import sample
from deem_core.model.trainer import Trainer

KINDS = ["dmala", "dula", "gwg"]


def generator(seed):
    return torch.Generator().manual_seed(seed)


def random_model(n_layers, K=3, activation="sparsemax", R=2):
    model = initialise(4, K, n_layers, [generator(r) for r in range(R)], activation=activation).to(torch.float64)
    rng = generator(9)
    tensors = [
        (tensor + 0.3 * torch.randn(tensor.shape, generator=rng, dtype=torch.float64)).requires_grad_()
        for tensor in model.parameters()
    ]
    return model.with_parameters(tensors)


def votes(K, missing, R=2, B=40):
    codes = torch.randint(K, (R, B, 4), generator=generator(1))
    return codes.masked_fill(torch.rand(codes.shape, generator=generator(2)) < missing, -1)


def same_numbers(shape, kind, n_steps):
    """Return the random numbers in the order in which `sample` draws them."""
    rng, moves, tests = generator(3), [], []
    sites = shape[2] if kind != "gwg" else 1
    for _ in range(n_steps):
        moves.append(torch.rand(*shape[:2], sites, 1, generator=rng, dtype=torch.float64))
        tests.append(torch.zeros(shape[:2]))
        if kind != "dula":
            tests[-1] = torch.rand(*shape[:2], generator=rng, dtype=torch.float64).log()
    return torch.stack(moves), torch.stack(tests)


@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_layers", [0, 1, 2])
@pytest.mark.parametrize(("K", "activation"), [(3, "sparsemax"), (3, "softmax"), (70, "sparsemax")])
def test_chains_energies_and_gradients_equal_the_sampler_and_autograd(K, activation, n_layers, kind, missing):
    model, data = random_model(n_layers, K, activation), votes(K, missing)
    start = (K - 1 - data).masked_fill(data < 0, -1) if n_layers == 1 else data  # as persistent chains are elsewhere
    chain = sample(model, start, 4, generator(3), kind=kind, alpha=0.3)
    energies = [free_energy(model, codes).mean(1) for codes in (data, chain.codes)]
    gradients = torch.autograd.grad((energies[0] - energies[1]).sum(), model.parameters())
    with torch.no_grad():
        quick = contrast_of(model, data, start, *same_numbers(data.shape, kind, 4), kind=kind, alpha=0.3)
    assert torch.equal(quick.chain.codes, chain.codes)
    assert (quick.chain.codes != start).any()
    torch.testing.assert_close(quick.chain.acceptance, chain.acceptance.to(torch.float64))
    torch.testing.assert_close(quick.chain.moved, chain.moved, check_dtype=False)
    torch.testing.assert_close(quick.energies, torch.stack(energies).detach())
    for ours, autograd in zip(quick.gradients, gradients, strict=True):
        torch.testing.assert_close(ours, autograd)
        assert autograd.abs().max() > 0


def trained(monkeypatch, quick, **settings):
    data = simulation.tree(600, rng=np.random.default_rng(0)).votes
    monkeypatch.setattr(trainer_module, "few_operations", lambda device: quick)
    wished = TrainConfig(**{"updates": 30, "batch_size": 128, "learning_rate": 0.5, **settings})
    trainer = Trainer(data.codes, 3, resolve(wished, Shape.of(data)).config, [1, 2, 3], device=torch.device("cpu"))
    return list(trainer)[-1], trainer.finished()


@pytest.mark.parametrize("settings", [{}, {"n_layers": 0}, {"chain_start": "persistent"}])
def test_both_forms_train_to_the_same_energies(monkeypatch, settings):
    """Other random numbers, so the same up to chance: restarts of one form differ by as much."""
    (slow, _), (quick, _) = (trained(monkeypatch, form, **settings) for form in (False, True))
    for name in ("positive", "negative", "acceptance", "moved"):
        ours, theirs = (np.array([getattr(record, name) for record in records]) for records in (quick, slow))
        assert abs(ours.mean() - theirs.mean()) < 0.05 + 3 * np.hypot(ours.std(), theirs.std())


def test_where_compiling_fails_training_goes_on_without_it_and_says_so(monkeypatch):
    def refuse(*_, **__):
        raise RuntimeError("no compiler here\nand much more")

    module._compiled.cache_clear()
    monkeypatch.setenv(module.COMPILE, "1")
    monkeypatch.setattr(module.torch, "compile", lambda function, **_: refuse)
    with pytest.warns(UserWarning, match=r"does not work here \(no compiler here\): training goes on"):
        _, compiled = trained(monkeypatch, True, updates=3)
    monkeypatch.delenv(module.COMPILE)
    _, plain = trained(monkeypatch, True, updates=3)
    assert torch.equal(compiled.weights, plain.weights)
    module._compiled.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_compiled_the_training_is_the_same(monkeypatch, kind):
    module._compiled.cache_clear()
    _, plain = trained(monkeypatch, True, updates=5, sampler=kind)
    monkeypatch.setenv(module.COMPILE, "1")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "torch.compile does not work")
        _, compiled = trained(monkeypatch, True, updates=5, sampler=kind)
    for ours, theirs in zip(compiled.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-3)
    module._compiled.cache_clear()
