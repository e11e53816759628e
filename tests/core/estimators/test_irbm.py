"""The exact fit of the iRBM: the same optimum in both coordinates, and the truth recovered."""

import numpy as np
import pytest
import torch

from deem_core import simulation
from deem_core.estimators.irbm import fit_exact
from deem_core.methods import dawid_skene
from deem_core.model.energy import log_likelihood, marginal_posterior, to_dawid_skene


def make(missing=0.0, n=4000, seed=0):
    rng = np.random.default_rng(seed)
    ensemble = simulation.condind(n, rng=rng, n_learners=7)
    return simulation.drop_votes(ensemble, missing, rng=rng) if missing else ensemble


def states(votes):
    return torch.as_tensor(np.array(votes.codes)).to(torch.int64)[None]


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_likelihood_and_posterior_equal_those_of_dawid_skene(missing):
    votes = make(missing).votes
    found = fit_exact(votes)
    rival = dawid_skene.aggregate(votes, np.random.default_rng(0), tolerance=1e-9, max_iterations=500)
    assert log_likelihood(found.model, states(votes)).mean().item() == pytest.approx(rival.log_likelihood, rel=1e-6)
    assert np.abs(marginal_posterior(found.model, states(votes))[0].numpy() - rival.posterior).max() < 1e-4


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_exact_gradient_vanishes_at_the_fit(missing):
    votes = make(missing).votes
    model = fit_exact(votes, tolerance=1e-13, max_iterations=3000).model
    parameters = [tensor.requires_grad_() for tensor in model.parameters()]
    loss = log_likelihood(model.with_parameters(parameters), states(votes)).mean()
    gradients = torch.autograd.grad(loss, parameters)
    for gradient, free in zip(gradients, model.free_masks(), strict=True):
        assert (gradient * free).abs().max() < 1e-4


@pytest.mark.parametrize(("n", "error"), [(1_000, 0.12), (10_000, 0.045), (100_000, 0.015)])
def test_condind_parameters_are_recovered(n, error):
    ensemble = simulation.condind(n, rng=np.random.default_rng(1))
    psi, pi = (tensor[0].numpy() for tensor in to_dawid_skene(fit_exact(ensemble.votes).model))
    assert np.abs(psi - ensemble.psi).max() < error
    assert np.abs(pi - ensemble.pi).max() < error
