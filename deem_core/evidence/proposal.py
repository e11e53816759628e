"""The proposal: exact draws of labels and hidden votes from the model without its layers, given evidence.

Without layers the hidden votes are independent given the label, so with s_ilm = a_il + U_ilm

    q(h = m) ∝ π_m = exp(b_m) Π_i Σ_l Q_il exp(s_ilm)
    q(z_i = l | h = m) ∝ Q_il exp(s_ilm)

and a draw needs no chain. Sites without a vote are left out of the product and stay -1.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Generator, Tensor

from deem_core.evidence.weighing import Evidence
from deem_core.model import Model, free_energy, top

POSITIVE_DRAWS = 4
"""Rows of hidden votes drawn for each positive, of which one is kept by its importance weight."""


def vote_scores(model: Model) -> Tensor:
    """Return s_ilm = a_il + U_ilm as (R, d, K, K)."""
    scores = model.visible_bias.unsqueeze(-1) + model.weights
    return scores.view(model.n_models, model.n_learners, model.n_classes, model.n_classes)


def label_logits(model: Model, evidence: Evidence) -> Tensor:
    """Return log π_m (R, B, K) of evidence (R, B, d, K); not normalised."""
    scores = vote_scores(model)
    highest = scores.amax(2, keepdim=True)  # (R, d, 1, K)
    likely = evidence.log_q.exp().transpose(1, 2)  # (R, d, B, K)
    mass = torch.matmul(likely, (scores - highest).exp())  # Σ_l, (R, d, B, K)
    logs = mass.clamp_min(torch.finfo(mass.dtype).tiny).log() + highest
    logs = logs.masked_fill(~evidence.cast.transpose(1, 2).unsqueeze(-1), 0.0)
    return model.hidden_bias.unsqueeze(1) + logs.sum(1)


def vote_logits(model: Model, evidence: Evidence, labels: Tensor) -> Tensor:
    """Return log q(z_i = l | h) (R, B, d, K) for labels (R, B); not normalised."""
    by_label = vote_scores(model).permute(0, 3, 1, 2)  # (R, m, d, l)
    own = torch.arange(model.n_models, device=labels.device).unsqueeze(-1)
    return by_label[own, labels] + evidence.log_q


def draw(logits: Tensor, n_draws: int, generator: Generator) -> Tensor:
    """Draw (…, n_draws) times from categoricals with ``logits (…, K)`` by inversion; the impossible never comes."""
    levels = logits.softmax(-1).cumsum(-1)
    shape = (*logits.shape[:-1], n_draws)
    point = torch.rand(shape, generator=generator, device=levels.device, dtype=levels.dtype) * levels[..., -1:]
    return torch.searchsorted(levels, point, right=True).clamp_max_(logits.shape[-1] - 1)


def draw_votes(model: Model, evidence: Evidence, labels: Tensor, n_draws: int, generator: Generator) -> Tensor:
    """Draw hidden votes z ~ q(· | h) as codes (R, B, n_draws, d), for evidence (R, B, d, K) and labels (R, B)."""
    drawn = draw(vote_logits(model, evidence, labels), n_draws, generator).transpose(2, 3)
    return drawn.masked_fill(~evidence.cast.unsqueeze(2), -1)


@torch.no_grad()
def draw_positives(model: Model, evidence: Evidence, generator: Generator, n_draws: int = POSITIVE_DRAWS) -> Tensor:
    """Draw one row of hidden votes (R, B, d) for each row of evidence (R, B, d, K), given model and evidence.

    Of ``n_draws`` rows from the proposal one is kept with probability ∝ exp(F0(z) − F(z)), F0 being the free energy
    without layers: sampling and resampling, which nears the law ∝ Π_i Q_i(z_i) exp(−F(z)). Without layers one draw is
    exact; where votes are as good as hard, all draws are those votes.
    """
    n_draws = n_draws if model.n_layers else 1
    R, B, d, K = evidence.log_q.shape
    labels = draw(label_logits(model, evidence), n_draws, generator)  # (R, B, S)
    each = Evidence(
        evidence.log_q.unsqueeze(2).expand(-1, -1, n_draws, -1, -1).reshape(R, B * n_draws, d, K),
        evidence.cast.unsqueeze(2).expand(-1, -1, n_draws, -1).reshape(R, B * n_draws, d),
    )
    votes = draw_votes(model, each, labels.flatten(1), 1, generator).squeeze(2)  # (R, B·S, d)
    if n_draws == 1:
        return votes
    visible, logits = top(model, votes, [])
    log_weights = -(visible + logits.logsumexp(-1)) - free_energy(model, votes)  # F0 − F
    kept = draw(log_weights.view(R, B, n_draws), 1, generator)  # (R, B, 1)
    return votes.view(R, B, n_draws, d).gather(2, kept.unsqueeze(-1).expand(-1, -1, -1, d)).squeeze(2)


def seeded(device: torch.device, *key: int) -> Generator:
    """Return a generator of which the key, numbers of any size, is the only seed."""
    return torch.Generator(device).manual_seed(int(np.random.SeedSequence(key).generate_state(1)[0]))
