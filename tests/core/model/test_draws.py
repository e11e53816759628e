"""E(Y|X) by drawn layers, against the sum over everything that can be drawn."""

import itertools

import numpy as np
import pytest
import torch

from deem_core.model.draws import drawn_posterior, uniforms
from deem_core.model.energy import Model, posterior

D, K = 3, 2
ROWS = torch.tensor([[0, 1, 1], [1, 1, 0], [0, -1, 1]])


def model(n_layers, activation="softmax"):
    rng = np.random.default_rng(5)

    def tensor(*shape):
        return torch.as_tensor(rng.normal(0, 1.5, (1, *shape)))

    return Model(
        tensor(D * K, K),
        tensor(D * K),
        tensor(K),
        tuple(tensor(D * K, D * K) for _ in range(n_layers)),
        tuple(tensor(D * K) for _ in range(n_layers)),
        activation=activation,
    )


def sparsemax(z):
    """Project onto the simplex, by trying every size of the support."""
    ordered = np.sort(z)[::-1]
    sizes = [k for k in range(1, len(z) + 1) if 1 + k * ordered[k - 1] > ordered[:k].sum()]
    return np.maximum(z - (ordered[: sizes[-1]].sum() - 1) / sizes[-1], 0)


def softmax(z):
    return np.exp(z - z.max()) / np.exp(z - z.max()).sum()


def expected(net, row, layer=0):
    """Sum p(h | states) over all states of all layers, weighted by their chance."""
    active = [i for i in range(D) if row[i] >= 0]
    hot = np.zeros((D, K))
    for i in active:
        hot[i, row[i]] = 1
    if layer == net.n_layers:
        return softmax(net.hidden_bias[0].numpy() + hot.ravel() @ net.weights[0].numpy())
    activation = {"softmax": softmax, "sparsemax": sparsemax}[net.activation]
    logits = (net.layer_biases[layer][0].numpy() + hot.ravel() @ net.layer_weights[layer][0].numpy()).reshape(D, K)
    shares = np.array([activation(z) for z in logits])
    total = np.zeros(K)
    for states in itertools.product(range(K), repeat=len(active)):
        above = [-1] * D
        for i, state in zip(active, states, strict=True):
            above[i] = state
        chance = np.prod([shares[i, above[i]] for i in active])
        if chance:
            total += chance * expected(net, above, layer + 1)
    return total


@pytest.mark.parametrize("activation", ["softmax", "sparsemax"])
@pytest.mark.parametrize("n_layers", [1, 2])
def test_the_mean_over_draws_is_the_sum_over_all_states(n_layers, activation):
    net = model(n_layers, activation)
    many = net.with_parameters([tensor.repeat(2000, *[1] * (tensor.ndim - 1)) for tensor in net.parameters()])
    rows = ROWS.expand(2000, -1, -1)  # copies of the model draw apart, which is quicker than passes in turn
    found = drawn_posterior(many, rows, uniforms(many, 4, seed=1)).mean(dim=0).numpy()
    exact = np.array([expected(net, row) for row in ROWS.tolist()])
    assert np.abs(found - exact).max() < 0.02
    assert np.abs(posterior(net, ROWS[None])[0].numpy() - exact).max() > 0.02  # one pass is something else


def test_a_state_without_any_share_is_never_drawn():
    net = model(1, "sparsemax")
    net.layer_biases[0].zero_()
    net.layer_weights[0].zero_()
    net.layer_weights[0].diagonal(dim1=1, dim2=2).fill_(5)  # units repeat their votes for sure
    found = drawn_posterior(net, ROWS[None], uniforms(net, 50, seed=0))
    assert torch.allclose(found, posterior(net, ROWS[None]))


def test_the_numbers_follow_from_the_seed_alone():
    net = model(2)
    assert torch.equal(uniforms(net, 4, seed=3), uniforms(net, 4, seed=3))
    assert not torch.equal(uniforms(net, 4, seed=3), uniforms(net, 4, seed=4))
    assert uniforms(net, 4, seed=3).shape == (4, 2, 1, D)
