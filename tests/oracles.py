"""Oracles: a small model enumerated in full (K = 3 classes, d = 4 learners, 81 rows)."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor

from deem_core.model.energy import Model, energy, free_energy, initialise, log_partition, to_dawid_skene
from deem_core.model.sampler import Evaluation, Kind, log_acceptance

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


def metropolis(proposal: Tensor, points: Evaluation, kind: Kind) -> Tensor:
    """Return the transition matrix (N, N) of a proposal matrix with its accept-reject step."""
    n = len(proposal)

    def first(tensor: Tensor) -> Tensor:
        return tensor.repeat_interleave(n, dim=1)

    def second(tensor: Tensor) -> Tensor:
        return tensor.repeat(1, n, *[1] * (tensor.dim() - 2))

    fields = (points.codes, points.potential, points.log_q)
    ratio = log_acceptance(Evaluation(*map(first, fields)), Evaluation(*map(second, fields)), kind).view(n, n)
    moves = proposal * torch.where(proposal > 0, ratio.exp().clamp_max(1), 0)
    moves.fill_diagonal_(0)
    return moves + torch.diag(1 - moves.sum(1))


def langevin_matrix(points: Evaluation) -> Tensor:
    """Return Π_i q_i(x'_i | x) over all pairs of rows, (N, N)."""
    codes, log_q = points.codes[0], points.log_q[0]
    moves = [log_q[:, site].index_select(1, codes[:, site]) for site in range(codes.shape[1])]
    return torch.stack(moves).sum(0).exp()


def flip_matrix(points: Evaluation) -> Tensor:
    """Return the probability of the single flip from one row to another over all pairs, (N, N)."""
    codes, log_q = points.codes[0], points.log_q[0]
    n = len(codes)
    differs = codes[:, None] != codes[None]
    site = differs.to(torch.int64).argmax(-1)
    state = codes[None].expand(n, n, -1).gather(-1, site[..., None]).squeeze(-1)
    log_prob = log_q[torch.arange(n)[:, None], site, state]
    return torch.where(differs.sum(-1) == 1, log_prob.exp(), 0)


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
