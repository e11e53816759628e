"""Oracles: a small model enumerated in full (K = 3 classes, d = 4 learners, 81 rows).

The samplers' laws are written out once more here, as the paper has them and in as few steps as possible: nothing of
`deem_core.model.sampler` is used, so that a mistake there does not agree with itself.
"""

from __future__ import annotations

import itertools

import entmax
import torch
from torch import Tensor

from deem_core.model.energy import Model, energy, free_energy, initialise, log_partition, to_dawid_skene

D, K = 4, 3
ALPHA = 0.8
"""Step size of the samplers."""


def random_model(n_layers: int, seed: int = 0, d: int = D, K: int = K, activation: str = "sparsemax") -> Model:
    """Return a model far from its start, in float64, with the iRBM's constants in place."""
    start = initialise(d, K, n_layers, [torch.Generator().manual_seed(seed)], scale=1.0, activation=activation)
    start = start.to(torch.float64)
    rng = torch.Generator().manual_seed(seed + 1)
    moved = [
        tensor + 0.5 * free * torch.randn(tensor.shape, generator=rng, dtype=torch.float64)
        for tensor, free in zip(start.parameters(), start.free_masks(), strict=True)
    ]
    return start.with_parameters(moved)


def all_rows(d: int = D, K: int = K, lowest: int = 0) -> Tensor:
    """Return every row of votes, (1, K^d, d); with ``lowest`` -1 also those with missing votes."""
    return torch.tensor(list(itertools.product(range(lowest, K), repeat=d)))[None]


def boltzmann(model: Model) -> Tensor:
    """Return exp(−F)/Z over all rows, (N,)."""
    return (-free_energy(model, all_rows())[0]).softmax(0)


def energies(model: Model) -> Tensor:
    """Return E(x, h) for all rows and labels, (N, K)."""
    rows = all_rows()
    labels = torch.eye(K, dtype=torch.float64)
    return torch.stack([energy(model, rows, label.expand(*rows.shape[:2], K))[0] for label in labels], dim=-1)


def expected_energy(model: Model) -> Tensor:
    """Return E(x, h) averaged over p(h|x), (1, N)."""
    table = energies(model)
    return (table * (-table).softmax(-1)).sum(-1)[None]


def prior_errors(model: Model) -> list[float]:
    """Return the largest error of π by our map and by the formula printed in Lemma 1, which leaves out a."""
    law = (-energies(model) - log_partition(model)).exp().sum(0)  # Σ_v p(v, h)
    without_bias = model.with_parameters([model.weights, torch.zeros_like(model.visible_bias), model.hidden_bias])
    found = (to_dawid_skene(model)[1][0], to_dawid_skene(without_bias)[1][0])
    return [(pi - law).abs().max().item() for pi in found]


def units(codes: Tensor) -> Tensor:
    """Return rows of votes (N, d) as one-hot units (N, d·K)."""
    return torch.nn.functional.one_hot(codes, K).flatten(1).to(torch.float64)


def potential(model: Model, x: Tensor) -> Tensor:
    """Return −F (N,) of units (N, d·K): the paper's formulas, differentiable in the units."""
    activate = {"sparsemax": entmax.sparsemax, "softmax": torch.softmax}[model.activation]
    for weight, bias in zip(model.layer_weights, model.layer_biases, strict=True):
        x = activate((x @ weight[0] + bias[0]).view(len(x), -1, K), -1).flatten(1)
    return x @ model.visible_bias[0] + (model.hidden_bias[0] + x @ model.weights[0]).logsumexp(-1)


def gradient(model: Model, x: Tensor) -> Tensor:
    """Return the gradient of −F in the units (N, d·K)."""
    x = x.clone().requires_grad_()
    (found,) = torch.autograd.grad(potential(model, x).sum(), x)
    return found


def langevin_law(model: Model, alpha: float = ALPHA) -> Tensor:
    """Return q(x' | x) ∝ exp( ½ g·(x' − x) − ‖x' − x‖² / (2α) ) over all rows x', (N, N)."""
    x = units(all_rows()[0])
    g = gradient(model, x)
    step = x[None] - x[:, None]  # [from, to]
    return (0.5 * (g[:, None] * step).sum(-1) - (step**2).sum(-1) / (2 * alpha)).softmax(-1)


def flip_law(model: Model) -> Tensor:
    """Return q(x' | x) ∝ exp( ½ g·(x' − x) ) over the rows x' with one other vote, (N, N)."""
    x = units(all_rows()[0])
    g = gradient(model, x)
    step = x[None] - x[:, None]
    logits = 0.5 * (g[:, None] * step).sum(-1)
    return logits.masked_fill((step**2).sum(-1) != 2, -torch.inf).softmax(-1)


def metropolis(proposal: Tensor, potential: Tensor) -> Tensor:
    """Return the transition matrix (N, N) of proposals that are accepted by min(1, exp(U' − U) q(x|x') / q(x'|x)).

    ``potential`` is U (N,), which the law is ∝ exp of.
    """
    ratio = (potential[None] - potential[:, None]).exp() * proposal.T / proposal
    moves = torch.where(proposal > 0, proposal * ratio.clamp_max(1), 0)
    moves.fill_diagonal_(0)
    return moves + torch.diag(1 - moves.sum(1))


def step_law(model: Model, kind: str, alpha: float = ALPHA) -> Tensor:
    """Return the law of one step of a sampler from each row, (N, N)."""
    proposal = flip_law(model) if kind == "gwg" else langevin_law(model, alpha)
    return proposal if kind == "dula" else metropolis(proposal, potential(model, units(all_rows()[0])))


def stationary(transition: Tensor) -> Tensor:
    """Return the law that a transition matrix leaves as it is, by solving for it."""
    n = len(transition)
    system = torch.cat([transition.T - torch.eye(n, dtype=torch.float64), torch.ones(1, n, dtype=torch.float64)])
    target = torch.zeros(n + 1, 1, dtype=torch.float64)
    target[-1] = 1
    return torch.linalg.lstsq(system, target).solution.squeeze(1)


def distance(one: Tensor, other: Tensor) -> float:
    """Return the total variation between two laws."""
    return 0.5 * (one - other).abs().sum().item()
