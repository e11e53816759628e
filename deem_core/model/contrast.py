"""Contrast of data and chains in few, large operations, for GPUs.

A GPU waits for whoever hands it work, so an update costs as many operations as it has. Here votes are one-hot units
(R, B, d·K), a layer is one product, the random numbers of all steps are drawn at once, and gradients are written out.
`deem_core.model.energy` and `deem_core.model.sampler` say the same in readable form, and tests hold both equal.

With s_ilm = a_il + U_ilm, the score of vote l of learner i for label m, the formulas at the top shorten to
−F(v) = log Σ_m exp(b_m + (v·s)_m) and ∂(−F)/∂v = s·p(h|v), since Σ_m p(h = m|v) = 1.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Generator, Tensor

from deem_core.model.activations import ACTIVATIONS
from deem_core.model.energy import Model, one_hot
from deem_core.model.sampler import Chain, Kind, invert

IMPOSSIBLE = -1e30
"""Logit of a move that cannot be: its probability is 0, and unlike −inf it can be multiplied by 0."""

COMPILE = "DEEM_COMPILE"
"""Environment variable; 1 lets `torch.compile` fuse the operations (CUDA graphs on CUDA)."""


class Contrast(NamedTuple):
    """What one update needs to know.

    Attributes
    ----------
    chain : Chain
    energies : (2, R)
        Mean F of the data, and of the chains' ends.
    gradients : list of Tensor
        Of their difference, in the order of `Model.parameters`.
    """

    chain: Chain
    energies: Tensor
    gradients: list[Tensor]


@torch.no_grad()
def contrast(
    model: Model,
    data: Tensor,
    start: Tensor,
    n_steps: int,
    generator: Generator,
    *,
    kind: Kind,
    alpha: float,
) -> Contrast:
    """Run chains from ``start (R, B, d)`` and set their ends against ``data (R, B, d)``.

    Parameters
    ----------
    model : Model
    data, start : (R, B, d) int64
        The same tensor unless chains are persistent.
    n_steps : int
    generator : torch.Generator on the model's device
    kind : "dmala", "dula" or "gwg"
    alpha : float
        Step size of the Langevin proposals.
    """
    R, B, d = start.shape
    options: dict[str, Any] = {"generator": generator, "device": start.device, "dtype": model.weights.dtype}
    sites = 1 if kind == "gwg" else d
    moves = torch.rand(n_steps, R, B, sites, 1, **options)
    tests = torch.rand(n_steps, R, B, **options).log_()
    return _contrast_form()(model, data, start, moves, tests, kind=kind, alpha=alpha)


def contrast_of(
    model: Model, data: Tensor, start: Tensor, moves: Tensor, tests: Tensor, *, kind: Kind, alpha: float
) -> Contrast:
    """Return the contrast for given random numbers: a pure function of tensors.

    Parameters
    ----------
    model, data, start, kind, alpha
        See `contrast`.
    moves : (S, R, B, d, 1), for Gibbs-with-gradients (S, R, B, 1, 1)
        Uniform numbers that choose the proposals of each step.
    tests : (S, R, B)
        Logs of uniform numbers that acceptance is tested against.
    """
    scores = model.weights + model.visible_bias.unsqueeze(-1)  # (R, d·K, K)
    present = (start >= 0).to(scores.dtype).unsqueeze(-1)  # (R, B, d, 1)
    votes = one_hot(start, model.n_classes, scores.dtype)
    end, accepted = _run(_Law(model, scores, present, kind, alpha), votes, moves, tests)
    positives = votes if start is data else one_hot(data, model.n_classes, scores.dtype)
    both = torch.cat([positives, end], dim=1)
    energies, gradients = _gradients(model, scores, both, torch.cat([present, present], dim=1))
    codes = end.view(*start.shape, -1).argmax(-1).masked_fill(start < 0, -1)
    kept = (end * votes).sum((1, 2)) / present.sum((1, 2, 3)).clamp_min(1)
    return Contrast(Chain(codes, accepted, 1 - kept), energies, gradients)


# ---------------------------------------------------------------------- the model


def _outputs(model: Model, votes: Tensor, present: Tensor) -> list[Tensor]:
    """Return the votes and the units after each layer, all (R, B, d·K)."""
    units = [votes]
    for weight, bias in zip(model.layer_weights, model.layer_biases, strict=True):
        logits = torch.baddbmm(bias.unsqueeze(1), units[-1], weight)
        active = ACTIVATIONS[model.activation].forward(logits.view(*present.shape[:3], model.n_classes))
        units.append((active * present).flatten(2))
    return units


def _top(model: Model, scores: Tensor, units: Tensor) -> tuple[Tensor, Tensor]:
    """Return −F (R, B) and p(h|v) (R, B, K)."""
    logits = torch.baddbmm(model.hidden_bias.unsqueeze(1), units, scores)
    log_p = logits.log_softmax(-1)
    return logits[..., 0] - log_p[..., 0], log_p.exp()


def _pulled(model: Model, output: Tensor, gradient: Tensor) -> Tensor:
    """Return a gradient (R, B, d·K) in front of the activation."""
    shape = (*output.shape[:2], model.n_learners, model.n_classes)
    return ACTIVATIONS[model.activation].pullback(output.view(shape), gradient.view(shape)).flatten(2)


def _gradients(model: Model, scores: Tensor, both: Tensor, present: Tensor) -> tuple[Tensor, list[Tensor]]:
    """Return mean F of both halves (2, R), and the gradients of their difference."""
    R, size = both.shape[0], both.shape[1] // 2
    units = _outputs(model, both, present)
    potential, p = _top(model, scores, units[-1])
    sign = both.new_full((2 * size, 1), 1 / size)
    sign[:size].fill_(-1 / size)
    p = p * sign
    weights = torch.bmm(units[-1].mT, p)
    gradient = torch.bmm(p, scores.mT)
    layers: list[Tensor] = []
    biases: list[Tensor] = []
    for at in reversed(range(model.n_layers)):
        pulled = _pulled(model, units[at + 1], gradient)
        layers.insert(0, torch.bmm(units[at].mT, pulled))
        biases.insert(0, pulled.sum(1))
        if at:
            gradient = torch.bmm(pulled, model.layer_weights[at].mT)
    energies = potential.view(R, 2, size).mean(-1).neg().mT
    return energies, [weights, weights.sum(-1), p.sum(1), *layers, *biases]


# ---------------------------------------------------------------------- the chains


class _Law(NamedTuple):
    """Law that chains follow."""

    model: Model
    scores: Tensor  # (R, d·K, K)
    present: Tensor  # (R, B, d, 1)
    kind: Kind
    alpha: float


class _Place(NamedTuple):
    """Place of the chains, as `deem_core.model.sampler.Evaluation`."""

    votes: Tensor  # (R, B, d·K)
    potential: Tensor  # (R, B)
    log_q: Tensor  # (R, B, d, K)


def _run(law: _Law, votes: Tensor, moves: Tensor, tests: Tensor) -> tuple[Tensor, Tensor]:
    """Return where chains from ``votes`` end (R, B, d·K), and the share of proposals accepted (R,)."""
    if law.kind == "dula":  # whatever is proposed is accepted
        for move in moves.unbind():
            votes = _propose(law, _evaluate(law, votes), move)
        return votes, torch.ones_like(law.model.hidden_bias[:, 0])
    here = _evaluate(law, votes)
    accepted = torch.zeros_like(here.potential)
    for move, test in zip(moves.unbind(), tests.unbind(), strict=True):
        there = _evaluate(law, _propose(law, here, move))
        accept = test < _log_acceptance(law, here, there)
        wide = accept.unsqueeze(-1)
        here = _Place(
            torch.where(wide, there.votes, here.votes),
            torch.where(accept, there.potential, here.potential),
            torch.where(wide.unsqueeze(-1), there.log_q, here.log_q),
        )
        accepted += accept
    return here.votes, accepted.mean(1) / len(moves)


def _evaluate(law: _Law, votes: Tensor) -> _Place:
    """Return potential and proposal at votes."""
    model, shape = law.model, (*law.present.shape[:3], law.model.n_classes)
    units = _outputs(model, votes, law.present)
    potential, gradient = _top(model, law.scores, units[-1])
    tables = [*model.layer_weights, law.scores]
    for table, output in zip(reversed(tables[1:]), reversed(units[1:]), strict=True):
        gradient = _pulled(model, output, torch.bmm(gradient, table.mT))
    flips = law.kind == "gwg"
    stay = 0.0 if flips else 1 / law.alpha
    logits = torch.baddbmm(votes, gradient, tables[0].mT, beta=stay, alpha=0.5).view(shape)  # ½ g + [k = x_i] / α
    if not flips:
        return _Place(votes, potential, logits.log_softmax(-1))
    states = votes.view(shape)
    gain = logits - (logits * states).sum(-1, keepdim=True)
    gain = gain.add_(states + (1 - law.present), alpha=IMPOSSIBLE)  # staying, and sites without a vote
    return _Place(votes, potential, gain.flatten(2).log_softmax(-1).view(shape))


def _propose(law: _Law, here: _Place, move: Tensor) -> Tensor:
    """Return the next votes: every site anew, or one flip per row."""
    if law.kind != "gwg":
        drawn = invert(here.log_q.exp(), move)
        return torch.zeros_like(here.log_q).scatter_(-1, drawn, law.present).flatten(2)
    flip = invert(here.log_q.flatten(2).exp(), move.squeeze(-1))
    arrival = torch.zeros_like(here.votes).scatter_(-1, flip, 1).view_as(here.log_q) * law.present
    states = here.votes.view_as(arrival)
    return torch.addcmul(arrival + states, states, arrival.sum(-1, keepdim=True), value=-1).flatten(2)


def _log_acceptance(law: _Law, here: _Place, there: _Place) -> Tensor:
    """Return log of the Metropolis-Hastings ratio (R, B)."""
    back, forth = here.votes, there.votes
    if law.kind == "gwg":  # only the site that changes was drawn
        change = forth - back
        forth, back = change.clamp_min(0), change.clamp_max(0).neg_()
    drawn = there.log_q.flatten(2) * back
    return torch.addcmul(drawn, here.log_q.flatten(2), forth, value=-1).sum(-1) + (there.potential - here.potential)


# ---------------------------------------------------------------------- compilation


def _contrast_form() -> Callable[..., Contrast]:
    """Return `contrast_of`, compiled if that was asked for."""
    return _compiled() if os.environ.get(COMPILE) == "1" else contrast_of


@cache
def _compiled() -> Callable[..., Contrast]:
    """Return `contrast_of` compiled, or plain where compiling fails."""
    mode = "reduce-overhead" if torch.cuda.is_available() else None
    quick: list[Callable[..., Contrast]] = [torch.compile(contrast_of, dynamic=False, mode=mode)]

    def call(*arguments: Any, **law: Any) -> Contrast:
        try:
            return quick[0](*arguments, **law)
        except Exception as error:  # of many kinds: no compiler, no Triton, an operation it does not know
            if quick[0] is contrast_of:
                raise
            quick[0] = contrast_of
            reason = str(error).strip().partition("\n")[0][:200]
            warnings.warn(f"torch.compile does not work here ({reason}): training goes on without it.", stacklevel=2)
            return contrast_of(*arguments, **law)

    return call
