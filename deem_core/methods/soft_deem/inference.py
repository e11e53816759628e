"""Inference of labels from soft votes; importance weights add the layers.

With s = −E and s0 the same without layers, over draws z ~ q(· | h = m) of the proposal

    p(h = m | P) ∝ Σ_z Π_i Q_i(z_i) exp(s(z, m)) = π_m · E_q[ exp( s(z, m) − s0(z, m) ) ]

The mean over draws takes the place of the expectation: unbiased, and exact without layers or for votes as good as hard.
Every row and label is asked with the same random numbers, evenly spread for each learner. So an answer is a function of
the model and the row alone, whatever rows come with it, and taking a vote away changes nothing but what hangs on it.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from deem_core.methods.soft_deem.proposal import evidence_logits, invert_votes
from deem_core.methods.soft_deem.weighing import Evidence
from deem_core.model.energy import Model, label_logits, layer_outputs
from deem_core.votes.arrays import chunks

DRAWS = 12
"""Draws of hidden votes for each row and label in question."""

NEGLIGIBLE = 1e-6
"""A label less likely than this times the row's best, before the layers speak, is not drawn for."""

_DRAWN_CELLS = 1 << 20  # (draw, learner, class) cells of a layer held at once by each thread


def draw_numbers(n_learners: int, *key: int, n_draws: int = DRAWS) -> Tensor:
    """Return uniform numbers (d, S) by which hidden votes are drawn.

    The key seeds them. A learner's numbers fall one into each S-th part of [0, 1), in an order of their own (a Latin
    hypercube): few draws go further so, and each is uniform.
    """
    rng = np.random.default_rng(np.random.SeedSequence(key))
    order = rng.permuted(np.tile(np.arange(n_draws), (n_learners, 1)), axis=1)
    return torch.from_numpy((order + rng.random(order.shape)) / n_draws)


@torch.no_grad()
def soft_logits(model: Model, evidence: Evidence, numbers: Tensor) -> Tensor:
    """Return the label's logits (B, K) for evidence (B, d, K).

    Of one model (R = 1), with numbers (d, S). They are those of `log_joint`; of rows whose votes are as good as hard,
    the model's own.
    """
    logits = log_joint(model, evidence, numbers)
    certain = evidence.certain
    if model.n_layers and certain.any():
        visible, own = label_logits(model, evidence.codes[certain].unsqueeze(0))
        logits[certain] = (visible.unsqueeze(-1) + own)[0]
    return logits


@torch.no_grad()
def log_joint(model: Model, evidence: Evidence, numbers: Tensor) -> Tensor:
    """Return log Σ_z Π_i Q_i(z_i) exp(−E(z, h)) (B, K), estimated from draws where there are layers.

    Labels that are negligible without layers get the mean gain of their row's others; so a row in which one label only
    is in question needs no draws.
    """
    prior = evidence_logits(model, Evidence(evidence.log_q.unsqueeze(0), evidence.cast.unsqueeze(0)))[0]
    if not model.n_layers:
        return prior
    questioned = prior >= prior.amax(-1, keepdim=True) + math.log(NEGLIGIBLE)
    drawn = questioned & (questioned.sum(-1) > 1).unsqueeze(-1) & ~evidence.certain.unsqueeze(-1)
    row, label = drawn.nonzero(as_tuple=True)
    gain = torch.zeros_like(prior)
    for part in chunks(len(row), _DRAWN_CELLS // (numbers.shape[1] * model.n_learners * model.n_classes)):
        rows, labels = row[part], label[part]
        gain[rows, labels] = _mean_gain(model, evidence.select(rows), labels, numbers)
    inside = prior.masked_fill(~questioned, -math.inf)
    mean = (inside + gain).logsumexp(-1, keepdim=True) - inside.logsumexp(-1, keepdim=True)
    return prior + torch.where(questioned, gain, mean)


def _mean_gain(model: Model, evidence: Evidence, labels: Tensor, numbers: Tensor) -> Tensor:
    """Return log mean exp(s(z, h) − s0(z, h)) (P,) over draws z ~ q(· | h), for evidence (P, d, K) and labels (P,)."""
    n_draws = numbers.shape[1]
    each = Evidence(evidence.log_q.unsqueeze(0), evidence.cast.unsqueeze(0))
    votes = invert_votes(model, each, labels.unsqueeze(0), numbers).flatten(1, 2)  # (1, P·S, d)
    own = labels.repeat_interleave(n_draws).view(1, -1, 1)
    scores = []
    for outputs in (layer_outputs(model, votes), []):
        visible, logits = label_logits(model, votes, outputs)
        scores.append(visible + logits.gather(-1, own).squeeze(-1))
    return (scores[0] - scores[1]).view(-1, n_draws).logsumexp(-1) - math.log(n_draws)
