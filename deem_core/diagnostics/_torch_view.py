"""Torch side of `model_view`: logits, units and parameters of a training."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from deem_core.model.energy import Model, label_logits, layer_outputs, log_normalisers, to_dawid_skene
from deem_core.training.restarts import Part
from deem_core.typing import Codes, Floats, Integers
from deem_core.votes.alignment import apply_map
from deem_core.votes.arrays import NO_VOTE, chunks

_CHUNK_CELLS = 1 << 22  # (restart, row, unit, state) cells of a layer held at once


def unit_codes(part: Part, codes: Integers, restart: int) -> list[Codes]:
    """Return the most active state of each unit after each layer.

    One restart; (n, d') for each layer, -1 for silent units.

    Parameters
    ----------
    codes : (n, d) array of int
        Of the file's learners.
    """
    model = part.model.single(restart)
    reduced = part.reduction.apply(codes)
    layers = [np.empty(reduced.shape, np.int32) for _ in range(model.n_layers)]
    for rows in _chunks(len(reduced), model):
        states = _states(model, reduced[rows])
        with torch.no_grad():
            for layer, active in zip(layers, layer_outputs(model, states), strict=True):
                layer[rows] = active[0].argmax(-1).cpu().numpy()
    for layer in layers:
        layer[reduced == NO_VOTE] = NO_VOTE
    return layers


def part_logits(part: Part, codes: Integers) -> Floats:
    """Return the logits of the restarts of one training, (R, n, K)."""
    reduced, model = part.reduction.apply(codes), part.model
    aligned = np.empty((model.n_models, len(codes), model.n_classes))
    for rows in _chunks(len(reduced), model):
        states = _states(model, reduced[rows])
        with torch.no_grad():
            _, scores = label_logits(model, states)
            if part.exact:  # missing votes are summed out
                scores = scores + torch.bmm((states < 0).to(scores.dtype), log_normalisers(model))
        each = scores.cpu().to(torch.float64).numpy()
        for r, own in enumerate(part.maps):
            aligned[r, rows] = apply_map(each[r], own)
    return aligned


def part_parameters(part: Part) -> tuple[Floats, Floats]:
    """Return ψ (d, K, K) and π (K,), averaged over restarts.

    Only a training without layers has them.
    """
    psi, pi = to_dawid_skene(part.model.to("cpu"))
    return (
        np.mean([apply_map(own.double().numpy(), part.maps[r]) for r, own in enumerate(psi)], axis=0),
        np.mean([apply_map(own.double().numpy(), part.maps[r]) for r, own in enumerate(pi)], axis=0),
    )


def _states(model: Model, codes: Integers) -> torch.Tensor:
    states = torch.as_tensor(np.ascontiguousarray(codes), device=model.weights.device).to(torch.int64)
    return states.expand(model.n_models, -1, -1)


def _chunks(n: int, model: Model) -> Iterator[slice]:
    size = max(64, _CHUNK_CELLS // (model.n_models * model.n_learners * model.n_classes))
    return chunks(n, size)
