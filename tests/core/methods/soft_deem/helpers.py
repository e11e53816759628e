"""What the tests of soft DEEM share: small models in double precision, random evidence, and all hidden votes."""

import itertools

import numpy as np
import torch

from deem_core import Votes
from deem_core.methods.soft_deem.weighing import Evidence, weigh
from deem_core.model.energy import Model, initialise


def small_model(d=3, K=3, n_layers=1, seed=0, spread=0.6) -> Model:
    """A model far from its start, so that layers and weights all matter."""
    rng = torch.Generator().manual_seed(seed)
    model = initialise(d, K, n_layers, [rng], scale=1.0).to(torch.float64)
    return model.with_parameters(
        [t + spread * torch.randn(t.shape, generator=rng, dtype=t.dtype) for t in model.parameters()]
    )


def random_evidence(n, d=3, K=3, seed=1, *, missing=()) -> Evidence:
    """Evidence (n, d, K); ``missing`` are (row, learner) without a vote."""
    soft = np.random.default_rng(seed).dirichlet(np.ones(K), (n, d))
    for row, learner in missing:
        soft[row, learner] = 0
    return weigh(torch.tensor(soft), torch.linspace(0.5, 1.5, d, dtype=torch.float64))


def batched(evidence: Evidence) -> Evidence:
    """The same with the axis of one model in front."""
    return Evidence(evidence.log_q.unsqueeze(0), evidence.cast.unsqueeze(0))


def hidden_votes(evidence: Evidence, row: int) -> tuple[torch.Tensor, torch.Tensor]:
    """All hidden votes of a row (Z, d), -1 where no vote was cast, and log Π_i Q_i(z_i) (Z,)."""
    d, K = evidence.log_q.shape[1:]
    states = [range(K) if evidence.cast[row, i] else [-1] for i in range(d)]
    codes = torch.tensor(list(itertools.product(*states)))
    logs = evidence.log_q[row].gather(1, codes.T.clamp_min(0)) * evidence.cast[row].unsqueeze(1)
    return codes, logs.sum(0)


def soft_ensemble(n=600, d=6, K=3, seed=0, coverage=1.0) -> tuple[Votes, np.ndarray]:
    """Soft votes of learners of different skill whose confidence means something, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(K, size=n)
    logits = rng.normal(size=(n, d, K)) + np.linspace(0.8, 2.5, d)[:, None] * np.eye(K)[truth][:, None]
    soft = np.exp(2 * logits) / np.exp(2 * logits).sum(-1, keepdims=True)
    soft[rng.random((n, d)) >= coverage] = 0
    return Votes.from_soft(soft), truth
