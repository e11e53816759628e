import pytest
import torch
from entmax import sparsemax as reference

from deem_core.model import activations
from deem_core.model.activations import ACTIVATIONS, log_softmax, sparsemax, sparsemax_by_threshold

CASES = [(3, 0), (10, 1), (64, 2), (65, 3), (200, 4)]
FORMS = [sparsemax, sparsemax_by_threshold]


def logits(K: int, seed: int, spread: float = 1.0) -> torch.Tensor:
    return spread * torch.randn(50, 4, K, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize(("K", "seed"), CASES)
@pytest.mark.parametrize("spread", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("form", FORMS)
def test_sparsemax_equals_the_entmax_package(form, K, seed, spread):
    z = logits(K, seed, spread)
    assert torch.allclose(form(z), reference(z, dim=-1), atol=1e-12)


@pytest.mark.parametrize(("K", "seed"), CASES)
@pytest.mark.parametrize("form", FORMS)
def test_sparsemax_gradient_equals_the_entmax_package(form, K, seed):
    z, direction = logits(K, seed).requires_grad_(), logits(K, seed + 100)
    (ours,) = torch.autograd.grad((form(z) * direction).sum(), z)
    (theirs,) = torch.autograd.grad((reference(z, dim=-1) * direction).sum(), z)
    assert torch.allclose(ours, theirs, atol=1e-12)


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize(("K", "seed"), CASES)
def test_pullbacks_equal_autograd(name, K, seed):
    activation = ACTIVATIONS[name]
    z, direction = logits(K, seed).requires_grad_(), logits(K, seed + 100)
    output = activation.forward(z)
    (expected,) = torch.autograd.grad((output * direction).sum(), z)
    assert torch.allclose(activation.pullback(output.detach(), direction), expected, atol=1e-12)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_a_silenced_unit_passes_no_gradient(name):
    pulled = ACTIVATIONS[name].pullback(torch.zeros(2, 5), torch.ones(2, 5))
    assert torch.equal(pulled, torch.zeros(2, 5))


@pytest.mark.parametrize("form", FORMS)
def test_sparsemax_of_one_hot_votes_is_the_identity(form):
    votes = torch.eye(6)
    assert torch.equal(form(votes), votes)


@pytest.mark.parametrize("form", FORMS)
def test_sparsemax_survives_large_logits(form):
    assert torch.equal(form(torch.tensor([[1e30, -1e30, 0.0]])), torch.tensor([[1.0, 0.0, 0.0]]))


@pytest.mark.parametrize("K", [3, 100])
def test_the_log_softmax_of_a_gpu_is_the_same(K, monkeypatch):
    z = logits(K, 0)
    on_cpu = log_softmax(z)
    monkeypatch.setattr(activations, "few_operations", lambda device: True)
    assert torch.allclose(log_softmax(z), on_cpu, atol=1e-12)
