"""Samplers of votes: discrete Langevin (DMALA, DULA) and Gibbs-with-gradients.

The target is exp(−F(x))/Z over the votes that a row has. With U = −F, g = ∂U/∂x and x_i the state of site
i, one-hot states are 0 or 2 apart in squared distance and terms without the proposed state k cancel, so the
paper's proposal (DLP appendix) is

    q_i(k | x) = softmax_k( ½ g_ik + [k = x_i] / α )

at a cost of O(B·d·K) instead of the paper's d·K³ (docs/method.md). Votes that were not cast never move.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Generator, Tensor

from deem_core.model.activations import log_softmax
from deem_core.model.config import TrainConfig, step_size
from deem_core.model.energy import Model, potential_and_gradient

Kind = Literal["dmala", "dula", "gwg"]


@dataclass(frozen=True)
class Sampler:
    """How chains walk.

    Attributes
    ----------
    kind : "dmala", "dula" or "gwg"
    steps : int
    alpha : float
        Step size of the Langevin proposals.
    """

    kind: Kind
    steps: int
    alpha: float

    @classmethod
    def of(cls, config: TrainConfig, n_classes: int) -> Sampler:
        """Return the sampler of a training's settings."""
        kind: Kind = config.sampler  # type: ignore[assignment]  # checked by TrainConfig
        return cls(kind, config.sampler_steps, config.step_size or step_size(n_classes))


@dataclass(frozen=True)
class Chain:
    """Where chains ended and how they fared.

    Attributes
    ----------
    codes : (R, B, d)
    acceptance : (R,)
        Share of proposals accepted; 1 for DULA by definition.
    moved : (R,)
        Share of the votes cast that differ from where the chain began.
    """

    codes: Tensor
    acceptance: Tensor
    moved: Tensor


@dataclass(frozen=True)
class Evaluation:
    """The model evaluated at rows of votes, kept between steps.

    Attributes
    ----------
    codes : (R, B, d)
    potential : (R, B)
        −F.
    log_q : (R, B, d, K)
        Langevin: log-probability that site i is proposed to become k. Gibbs-with-gradients: that site i
        is the one to change, and becomes k.
    """

    codes: Tensor
    potential: Tensor
    log_q: Tensor


@torch.no_grad()
def sample(
    model: Model,
    start: Tensor,
    n_steps: int,
    generator: Generator,
    *,
    kind: Kind = "dmala",
    alpha: float | None = None,
) -> Chain:
    """Run chains of ``n_steps`` from ``start (R, B, d)``.

    The start is a batch of data, or where persistent chains stand.

    Parameters
    ----------
    model : Model
    start : (R, B, d) int64
    n_steps : int
    generator : torch.Generator on the model's device
    kind : "dmala", "dula" or "gwg"
    alpha : float, optional
        Step size of the Langevin proposals; from K by default.
    """
    alpha = step_size(model.n_classes) if alpha is None else alpha
    here = evaluate_at(model, start, kind, alpha)
    accepted = torch.zeros_like(here.potential)
    for _ in range(n_steps):
        there = evaluate_at(model, _propose(here, kind, generator), kind, alpha)
        if kind == "dula":
            accept = torch.ones_like(accepted, dtype=torch.bool)
        else:
            uniform = torch.rand(accepted.shape, generator=generator, device=accepted.device, dtype=accepted.dtype)
            accept = uniform.log() < log_acceptance(here, there, kind)
        here = there if kind == "dula" else _choose(accept, there, here)
        accepted += accept
    present = start >= 0
    changed = ((here.codes != start) & present).sum((1, 2)) / present.sum((1, 2)).clamp_min(1)
    return Chain(here.codes, accepted.mean(1) / max(n_steps, 1), changed)


def evaluate_at(model: Model, codes: Tensor, kind: Kind, alpha: float) -> Evaluation:
    """Evaluate the model at rows of votes.

    The proposal needs its gradient, the acceptance test its potential.
    """
    potential, gradient = potential_and_gradient(model, codes)
    log_q = _flip_log_probs(codes, gradient) if kind == "gwg" else _langevin_log_probs(codes, gradient, alpha)
    return Evaluation(codes, potential, log_q)


def _langevin_log_probs(codes: Tensor, gradient: Tensor, alpha: float) -> Tensor:
    """Return log q_i(k | x) = log softmax_k( ½ g_ik + [k = x_i] / α )."""
    stay = codes.clamp_min(0).unsqueeze(-1)
    bonus = torch.full_like(stay, 1 / alpha, dtype=gradient.dtype)
    return log_softmax((0.5 * gradient).scatter_add_(-1, stay, bonus))


def _flip_log_probs(codes: Tensor, gradient: Tensor) -> Tensor:
    """Return log q(i, k | x) = log softmax_ik( ½ (g_ik − g_i,x_i) ) (Grathwohl et al., 2021).

    Staying, and sites without a vote, have probability zero.
    """
    here = codes.clamp_min(0).unsqueeze(-1)
    gain = 0.5 * (gradient - gradient.gather(-1, here))
    impossible = torch.zeros_like(gain, dtype=torch.bool).scatter_(-1, here, True) | (codes < 0).unsqueeze(-1)
    return log_softmax(gain.masked_fill_(impossible, -math.inf).flatten(2)).view_as(gain)


def log_acceptance(here: Evaluation, there: Evaluation, kind: Kind) -> Tensor:
    """Return log of the Metropolis-Hastings ratio (R, B).

    U(x') − U(x) + log q(x|x') − log q(x'|x).
    """
    forward, backward = _log_prob(here, there.codes, kind), _log_prob(there, here.codes, kind)
    return there.potential - here.potential + backward - forward


def _log_prob(here: Evaluation, target: Tensor, kind: Kind) -> Tensor:
    """Return log q(target | here) (R, B).

    All sites' for Langevin, the changed site's for a flip.
    """
    per_site = here.log_q.gather(-1, target.clamp_min(0).unsqueeze(-1)).squeeze(-1)
    idle = here.codes == target if kind == "gwg" else target < 0
    return per_site.masked_fill_(idle, 0).sum(-1)


def _propose(here: Evaluation, kind: Kind, generator: Generator) -> Tensor:
    """Draw the next rows: every site anew, or one flip per row.

    Votes that were not cast stay so.
    """
    if kind == "gwg":
        K = here.log_q.shape[-1]
        flip = draw(here.log_q.flatten(2).exp(), generator)
        codes = here.codes.scatter(-1, flip // K, flip % K)
    else:
        codes = draw(here.log_q.exp(), generator).squeeze(-1)
    return torch.where(here.codes >= 0, codes, here.codes)


def draw(weights: Tensor, generator: Generator, n_draws: int = 1) -> Tensor:
    """Draw (…, n_draws) times from categoricals with ``weights (…, K)`` by inversion.

    Weight 0 never comes.

    Inversion needs one random number for each draw, and no normalised weights.
    """
    shape = (*weights.shape[:-1], n_draws)
    return invert(weights, torch.rand(shape, generator=generator, device=weights.device, dtype=weights.dtype))


def invert(weights: Tensor, uniform: Tensor) -> Tensor:
    """Return the states (…, n) at which uniform numbers (…, n) fall in categoricals with ``weights (…, K)``."""
    levels = weights.cumsum(-1)
    return torch.searchsorted(levels, uniform * levels[..., -1:], right=True).clamp_max_(weights.shape[-1] - 1)


def _choose(accept: Tensor, there: Evaluation, here: Evaluation) -> Evaluation:
    wide = accept[..., None]
    return Evaluation(
        torch.where(wide, there.codes, here.codes),
        torch.where(accept, there.potential, here.potential),
        torch.where(wide[..., None], there.log_q, here.log_q),
    )
