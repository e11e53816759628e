"""Activations of the multinomial layers and their transposed Jacobians.

On a CPU an operation costs by the numbers it touches, on a GPU by being one: where that asks for two forms,
`few_operations` says which, and tests hold both equal.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

FEW_STATES = 64
"""On a CPU: up to this many states, reductions run over a first axis of states, and the support of sparsemax is found
by comparing all pairs; beyond, over the last axis and by sorting (measured: several times faster on either side)."""


def few_operations(device: torch.device) -> bool:
    """Return whether few large operations are quickest: everywhere but on a CPU."""
    return device.type != "cpu"


def sparsemax(logits: Tensor) -> Tensor:
    """Return the Euclidean projection of ``logits (..., K)`` onto the simplex (Martins & Astudillo, 2016).

    State k is in the support iff Σ_j max(z_j − z_k, 0) < 1, and the threshold makes the support sum to 1.
    The support is locally constant, so autograd through the last two lines gives the right gradient.
    """
    if few_operations(logits.device):
        return sparsemax_by_threshold(logits)
    few = logits.shape[-1] <= FEW_STATES
    states = _states_first(logits) if few else logits
    axis = 0 if few else -1
    states = states - states.detach().amax(axis, keepdim=True)
    with torch.no_grad():
        inside = _support_by_pairs(states) if few else _support_by_sorting(states)
        support = inside.to(states.dtype)  # products and sums of floats are much quicker than of booleans
    threshold = ((states * support).sum(axis, keepdim=True) - 1) / support.sum(axis, keepdim=True)
    output = (states - threshold) * support
    return _states_last(output, logits) if few else output


def sparsemax_by_threshold(logits: Tensor) -> Tensor:
    """Return the same in eight operations, whatever K is.

    With z sorted downwards the threshold is max_k (z_1 + … + z_k − 1) / k: the mean grows while states of the support
    come in, and falls with those beyond.
    """
    states = logits - logits.detach().amax(-1, keepdim=True)
    sums = states.sort(-1, descending=True).values.cumsum(-1)
    shares, minus = _reciprocals(logits.shape[-1], logits.device, logits.dtype)
    threshold = torch.addcmul(minus, sums, shares).amax(-1, keepdim=True)
    return (states - threshold).clamp_min(0)


@cache
def _reciprocals(count: int, device: torch.device, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Return 1, 1/2, … 1/count, and the same below zero."""
    shares = torch.arange(1, count + 1, device=device, dtype=dtype).reciprocal_()
    return shares, -shares


def _states_first(tensor: Tensor) -> Tensor:
    """Return (..., K) as (K, N).

    Each operation then runs over N numbers in a row instead of K.
    """
    return tensor.reshape(-1, tensor.shape[-1]).t().contiguous()


def _states_last(states: Tensor, like: Tensor) -> Tensor:
    """Undo `_states_first`."""
    return states.t().reshape(like.shape)


def _support_by_pairs(states: Tensor) -> Tensor:
    """Return the support of (K, N) logits."""
    excess = torch.zeros_like(states)
    for state in states:  # one state at a time stays in the cache, unlike all pairs at once
        excess += (state - states).clamp_min_(0)
    return excess < 1


def _support_by_sorting(logits: Tensor) -> Tensor:
    """Return the support of (..., K) logits."""
    ordered = logits.sort(-1, descending=True).values
    rank = torch.arange(1, logits.shape[-1] + 1, device=logits.device, dtype=logits.dtype)
    size = (1 + rank * ordered > ordered.cumsum(-1)).sum(-1, keepdim=True)
    return logits >= ordered.gather(-1, size - 1)


def sparsemax_pullback(output: Tensor, gradient: Tensor) -> Tensor:
    """Return Jᵀ·gradient at ``sparsemax(z) = output``.

    Centred on the support, zero off it.

    A silenced unit (a zero vector) has no support and passes nothing on.
    """
    support = output.sign()  # outputs are never negative
    inside = gradient * support
    mean = inside.sum(-1, keepdim=True) / support.sum(-1, keepdim=True).clamp_min_(1)
    return torch.addcmul(inside, support, mean, value=-1)


def log_softmax(logits: Tensor) -> Tensor:
    """Return the log-softmax over the last axis.

    For a dozen states on a CPU this is several times PyTorch's own speed.
    """
    if few_operations(logits.device):
        return logits.log_softmax(-1)
    few = logits.shape[-1] <= FEW_STATES
    states = _states_first(logits) if few else logits
    axis = 0 if few else -1
    states = states - states.amax(axis, keepdim=True)
    states = states - states.exp().sum(axis, keepdim=True).log()
    return _states_last(states, logits) if few else states


def softmax(logits: Tensor) -> Tensor:
    """Return the softmax over the last axis."""
    return logits.softmax(-1)


def softmax_pullback(output: Tensor, gradient: Tensor) -> Tensor:
    """Return Jᵀ·gradient at ``softmax(z) = output``."""
    return output * (gradient - (output * gradient).sum(-1, keepdim=True))


class Activation(NamedTuple):
    """A map onto the simplex and its transposed Jacobian, ``pullback(output, gradient)``."""

    forward: Callable[[Tensor], Tensor]
    pullback: Callable[[Tensor, Tensor], Tensor]


ACTIVATIONS = {
    "sparsemax": Activation(sparsemax, sparsemax_pullback),
    "softmax": Activation(softmax, softmax_pullback),
}
