"""Posterior by drawn layers: the paper's E(Y|X) by sampling.

A layer's unit is a distribution over K states. In one pass the distributions themselves go on to the next layer. Here
one state of each unit is drawn and goes on, as if it were a vote, and p(h | drawn units) is averaged over passes
(paper, "Training and Inference Details"). The label itself need not be drawn: its mean over draws is p(h | units).
"""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from deem_core.model.activations import ACTIVATIONS
from deem_core.model.energy import Model, label_logits, one_hot


def uniforms(model: Model, draws: int, seed: int) -> Tensor:
    """Return numbers in [0, 1) for every pass, layer, model and unit: (draws, L, R, d).

    All rows share them, so that the answer for a row depends on its votes alone, whatever rows stand beside it.
    """
    shape = (draws, model.n_layers, model.n_models, model.n_learners)
    generator = Generator().manual_seed(seed)
    return torch.rand(shape, generator=generator, dtype=torch.float64).to(model.weights.device, model.weights.dtype)


def drawn_posterior(model: Model, codes: Tensor, numbers: Tensor) -> Tensor:
    """Return p(h | drawn units), averaged over passes, as (R, B, K).

    Parameters
    ----------
    model : Model
        With layers.
    codes : (R, B, d) int64
        -1 for votes that were not cast; their units stay silent.
    numbers : (draws, L, R, d)
        Of `uniforms`.
    """
    first = _cumulative(model, 0, codes)  # the same in every pass
    total = codes.new_zeros(*codes.shape[:2], model.n_classes, dtype=model.weights.dtype)
    for own in numbers:
        states = _states(first, own[0], codes)
        for layer in range(1, model.n_layers):
            states = _states(_cumulative(model, layer, states), own[layer], codes)
        total += label_logits(model, states, []).logits.softmax(-1)
    return total / len(numbers)


def _cumulative(model: Model, layer: int, states: Tensor) -> Tensor:
    """Return the cumulative distribution of each unit after a layer, (R, B, d, K)."""
    below = one_hot(states, model.n_classes, model.weights.dtype)
    logits = torch.baddbmm(model.layer_biases[layer].unsqueeze(1), below, model.layer_weights[layer])
    return ACTIVATIONS[model.activation].forward(logits.view(*states.shape, model.n_classes)).cumsum(-1)


def _states(cumulative: Tensor, numbers: Tensor, codes: Tensor) -> Tensor:
    """Return the state (R, B, d) that each number falls on, -1 for silent units."""
    levels = numbers[:, None, :, None] * cumulative[..., -1:]  # sums of shares are 1 but for rounding
    drawn = (cumulative <= levels).sum(-1).clamp_max(cumulative.shape[-1] - 1)
    return torch.where(codes >= 0, drawn, codes)
