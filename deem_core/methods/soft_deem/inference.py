"""Inference of labels from soft votes; importance weights add the layers.

With s = −E and s0 the same without layers, over draws z ~ q(· | h = m) of the proposal

    p(h = m | P) ∝ Σ_z Π_i Q_i(z_i) exp(s(z, m)) = π_m · E_q[ exp( s(z, m) − s0(z, m) ) ]

The mean over draws takes the place of the expectation: unbiased, and exact without layers or for votes as good as hard.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor

import torch
from torch import Generator, Tensor

from deem_core.control import Control
from deem_core.methods.soft_deem.proposal import draw_votes, evidence_logits, seeded_generator
from deem_core.methods.soft_deem.weighing import Evidence, SoftRows
from deem_core.model.energy import Model, label_logits, layer_outputs, posterior
from deem_core.typing import Floats
from deem_core.votes.arrays import chunks

DRAWS = 12
"""Draws of hidden votes for each row and label in question."""

NEGLIGIBLE = 1e-6
"""A label less likely than this times the row's best, before the layers speak, is not drawn for."""

_CHUNK_CELLS = 1 << 19  # (row, learner, class) cells of evidence held at once by each thread
_DRAWN_CELLS = 1 << 20  # (draw, learner, class) cells of a layer held at once by each thread


def answers(
    models: Sequence[Model],
    rows: SoftRows,
    seed: int,
    *,
    pool: Executor,
    control: Control,
) -> Iterator[tuple[slice, Floats]]:
    """Yield chunks of rows with each model's posteriors (R, b, K).

    They are computed in the pool's threads.

    Each chunk has a generator of its own from ``seed``, so that the number of threads does not matter; ``control`` is
    asked before each whether to stop.
    """
    _, d, K = rows.soft.shape
    parts = list(chunks(len(rows.where), _CHUNK_CELLS // (d * K)))

    def ask(chunk: slice) -> Floats:
        control.check()
        evidence = rows.evidence(torch.arange(chunk.start, chunk.stop))
        generators = [seeded_generator(evidence.log_q.device, seed, chunk.start, r) for r in range(len(models))]
        each = [soft_posterior(model, evidence, own) for model, own in zip(models, generators, strict=True)]
        return torch.stack(each).cpu().double().numpy()  # not there: Apple's GPU has no float64

    yield from zip(parts, pool.map(ask, parts), strict=True)


@torch.no_grad()
def soft_posterior(model: Model, evidence: Evidence, generator: Generator, n_draws: int = DRAWS) -> Tensor:
    """Return p(h | soft votes) (B, K) of one model (R = 1) for evidence (B, d, K)."""
    answer = log_joint(model, evidence, generator, n_draws).softmax(-1)
    certain = evidence.certain
    if model.n_layers and certain.any():
        answer[certain] = posterior(model, evidence.codes[certain].unsqueeze(0))[0]
    return answer


@torch.no_grad()
def log_joint(model: Model, evidence: Evidence, generator: Generator, n_draws: int = DRAWS) -> Tensor:
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
    for part in chunks(len(row), _DRAWN_CELLS // (n_draws * model.n_learners * model.n_classes)):
        rows, labels = row[part], label[part]
        gain[rows, labels] = _mean_gain(model, evidence.select(rows), labels, n_draws, generator)
    inside = prior.masked_fill(~questioned, -math.inf)
    mean = (inside + gain).logsumexp(-1, keepdim=True) - inside.logsumexp(-1, keepdim=True)
    return prior + torch.where(questioned, gain, mean)


def _mean_gain(model: Model, evidence: Evidence, labels: Tensor, n_draws: int, generator: Generator) -> Tensor:
    """Return log mean exp(s(z, h) − s0(z, h)) (P,) over draws z ~ q(· | h), for evidence (P, d, K) and labels (P,)."""
    each = Evidence(evidence.log_q.unsqueeze(0), evidence.cast.unsqueeze(0))
    votes = draw_votes(model, each, labels.unsqueeze(0), n_draws, generator).flatten(1, 2)  # (1, P·S, d)
    own = labels.repeat_interleave(n_draws).view(1, -1, 1)
    scores = []
    for outputs in (layer_outputs(model, votes), []):
        visible, logits = label_logits(model, votes, outputs)
        scores.append(visible + logits.gather(-1, own).squeeze(-1))
    return (scores[0] - scores[1]).view(-1, n_draws).logsumexp(-1) - math.log(n_draws)
