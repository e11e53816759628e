"""Proposal: exact draws of labels and hidden votes without layers, given evidence.

Without layers the hidden votes are independent given the label, so with s_ilm = a_il + U_ilm

    q(h = m) ∝ π_m = exp(b_m) Π_i Σ_l Q_il exp(s_ilm)
    q(z_i = l | h = m) ∝ Q_il exp(s_ilm)

and a draw needs no chain. Sites without a vote are left out of the product and stay -1.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Generator, Tensor

from deem_core.methods.soft_deem.weighing import Evidence
from deem_core.model.energy import Model, free_energy, label_logits, vote_scores
from deem_core.model.sampler import draw, invert

POSITIVE_DRAWS = 4
"""Rows of hidden votes drawn for each positive, of which one is kept by its importance weight."""


def evidence_logits(model: Model, evidence: Evidence) -> Tensor:
    """Return log π_m (R, B, K) of evidence (R, B, d, K).

    Not normalised.
    """
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


def draw_votes(model: Model, evidence: Evidence, labels: Tensor, generator: Generator) -> Tensor:
    """Draw hidden votes z ~ q(· | h) as codes (R, B, d), for evidence (R, B, d, K) and labels (R, B)."""
    drawn = draw(vote_logits(model, evidence, labels).softmax(-1), generator).squeeze(-1)
    return drawn.masked_fill(~evidence.cast, -1)


def invert_votes(model: Model, evidence: Evidence, labels: Tensor, numbers: Tensor) -> Tensor:
    """Return hidden votes z ~ q(· | h) as codes (R, B, S, d), from uniform numbers (d, S) that all rows share."""
    weights = vote_logits(model, evidence, labels).softmax(-1)
    uniform = numbers.to(weights).expand(*weights.shape[:-1], -1).contiguous()
    return invert(weights, uniform).transpose(2, 3).masked_fill(~evidence.cast.unsqueeze(2), -1)


@torch.no_grad()
def draw_positives(model: Model, evidence: Evidence, generator: Generator, n_draws: int = POSITIVE_DRAWS) -> Tensor:
    """Draw hidden votes (R, B, d), one row for each of evidence (R, B, d, K).

    Of ``n_draws`` rows from the proposal one is kept with probability ∝ exp(F0(z) − F(z)), F0 being the free energy
    without layers: sampling and resampling, which nears the law ∝ Π_i Q_i(z_i) exp(−F(z)). Without layers one draw is
    exact; where votes are as good as hard, all draws are those votes.
    """
    n_draws = n_draws if model.n_layers else 1
    R, B, d, K = evidence.log_q.shape
    labels = draw(evidence_logits(model, evidence).softmax(-1), generator, n_draws)  # (R, B, S)
    each = Evidence(
        evidence.log_q.unsqueeze(2).expand(-1, -1, n_draws, -1, -1).reshape(R, B * n_draws, d, K),
        evidence.cast.unsqueeze(2).expand(-1, -1, n_draws, -1).reshape(R, B * n_draws, d),
    )
    votes = draw_votes(model, each, labels.flatten(1), generator)  # (R, B·S, d)
    if n_draws == 1:
        return votes
    log_weights = -label_logits(model, votes, []).potential - free_energy(model, votes)  # F0 − F
    chosen = draw(log_weights.view(R, B, n_draws).softmax(-1), generator)  # (R, B, 1)
    return votes.view(R, B, n_draws, d).gather(2, chosen.unsqueeze(-1).expand(-1, -1, -1, d)).squeeze(2)


def seeded_generator(device: torch.device, *key: int) -> Generator:
    """Return a generator seeded by a key of numbers of any size."""
    return torch.Generator(device).manual_seed(int(np.random.SeedSequence(key).generate_state(1)[0]))
