"""What only a GPU can show: the same numbers as on the processor, no waits, memory as foretold.

`make gpu-check` runs these on the device that $DEEM_GPU names; without a GPU they are skipped.
"""

import os
from contextlib import contextmanager

import numpy as np
import pytest
import torch

from deem_core import DEEM, simulation, sweep
from deem_core.estimators.as_methods import deem_soft
from deem_core.model import contrast as contrast_module
from deem_core.model.activations import sparsemax, sparsemax_by_threshold
from deem_core.model.config import Shape, TrainConfig, resolve
from deem_core.model.contrast import contrast_of
from deem_core.model.energy import initialise
from deem_core.model.trainer import Trainer

CPU = torch.device("cpu")


def present():
    """Return the GPU to test, None if there is none."""
    name = os.environ.get("DEEM_GPU") or ("cuda" if torch.cuda.is_available() else "")
    name = name or ("mps" if torch.backends.mps.is_available() else "")
    return torch.device(name) if name else None


GPU = present()
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(GPU is None, reason="no GPU")]


def votes(n=600, K=3):
    return simulation.tree(n, rng=np.random.default_rng(0), n_classes=K).votes


def trainer(device, **settings):
    data = votes()
    wished = TrainConfig(**{"updates": 20, "batch_size": 128, "learning_rate": 0.2, **settings})
    return Trainer(data.codes, 3, resolve(wished, Shape.of(data)).config, [1, 2, 3], device=device)


@contextmanager
def no_waits():
    """Let CUDA raise where the processor waits for it; elsewhere nothing can."""
    if GPU.type != "cuda":
        yield
        return
    torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode("default")


@pytest.mark.parametrize("K", [2, 10, 100])
def test_sparsemax_is_the_same(K):
    logits = 2 * torch.randn(64, 5, K, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(sparsemax(logits.to(GPU)).cpu(), sparsemax(logits), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(sparsemax_by_threshold(logits), sparsemax(logits), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", ["dmala", "dula", "gwg"])
@pytest.mark.parametrize("n_layers", [0, 1, 2])
def test_an_update_is_the_same_for_the_same_random_numbers(n_layers, kind):
    rng = torch.Generator().manual_seed(0)
    model = initialise(6, 4, n_layers, [torch.Generator().manual_seed(seed) for seed in (1, 2)])
    data = torch.randint(-1, 4, (2, 200, 6), generator=rng)
    moves = torch.rand(3, 2, 200, 1 if kind == "gwg" else 6, 1, generator=rng)
    tests = torch.rand(3, 2, 200, generator=rng).log()
    with torch.no_grad():
        here = contrast_of(model, data, data, moves, tests, kind=kind, alpha=0.3)
        there = contrast_of(
            model.to(GPU), *(tensor.to(GPU) for tensor in (data, data, moves, tests)), kind=kind, alpha=0.3
        )
    same_rows = (here.chain.codes == there.chain.codes.cpu()).all(-1)
    assert same_rows.float().mean() > 0.98  # a rounding may tip a draw
    torch.testing.assert_close(there.energies[0].cpu(), here.energies[0], atol=1e-4, rtol=1e-4)
    for ours, theirs in zip(there.gradients, here.gradients, strict=True):
        torch.testing.assert_close(ours.cpu(), theirs, atol=0.02, rtol=0.02)


@pytest.mark.parametrize("settings", [{}, {"sampler": "gwg"}, {"chain_start": "persistent", "momentum": 0.5}])
def test_updates_wait_for_nothing(settings):
    made = trainer(GPU, **settings)
    made.step()  # the first may load kernels
    with no_waits():
        for _ in range(3):
            made.step()
    assert all(torch.isfinite(tensor).all() for tensor in made.finished().parameters())


def test_a_run_goes_on_from_its_checkpoint():
    whole, first, second = (trainer(GPU) for _ in range(3))
    list(whole)
    for _ in range(7):
        first.step()
    second.restore(first.state())
    for made in (first, second):
        list(made)
    torch.testing.assert_close(first.finished().weights, second.finished().weights, atol=1e-4, rtol=1e-4)


def test_deem_a_sweep_and_soft_deem_train_and_leave_nothing_behind():
    data = votes()
    model = DEEM(updates=20, restarts=2, start="majority", device=str(GPU), random_state=0).fit(data)
    assert torch.device(model.device_).type == GPU.type
    assert (model.fuse(data).codes == data.majority_vote.codes).mean() > 0.7
    result = sweep(data, [0.1, 0.5], n_layers=1, updates=20, device=str(GPU), random_state=0)
    assert np.isfinite(result.difference).all()
    soft = simulation.soften(simulation.tree(600, rng=np.random.default_rng(0)), rng=np.random.default_rng(1)).votes
    assert deem_soft(soft, np.random.default_rng(0), device=str(GPU)).posterior.shape == (600, 3)
    if GPU.type == "cuda":
        assert torch.cuda.memory_allocated(GPU) < 20_000_000


def test_memory_stays_within_the_bound():
    if GPU.type != "cuda":
        pytest.skip("only CUDA counts the peak")
    codes = np.random.default_rng(0).integers(0, 10, (50_000, 15)).astype(np.int32)
    shape = Shape.of(votes())
    config = resolve(TrainConfig(n_layers=1, batch_size=4096, updates=5, learning_rate=0.1), shape).config
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated(GPU)
    torch.cuda.reset_peak_memory_stats(GPU)
    made = Trainer(codes, 10, config, [1, 2, 3, 4, 5], device=GPU)
    list(made)
    assert torch.cuda.max_memory_allocated(GPU) - before <= made._demand(codes, 10).bytes


def test_compiled_the_update_is_the_same(monkeypatch):
    if GPU.type != "cuda":
        pytest.skip("compiled on CUDA only")
    plain, compiled = trainer(GPU), trainer(GPU)
    plain.step()
    contrast_module._compiled.cache_clear()
    monkeypatch.setenv(contrast_module.COMPILE, "1")
    compiled.step()
    torch.testing.assert_close(plain.finished().weights, compiled.finished().weights, atol=1e-4, rtol=1e-3)
