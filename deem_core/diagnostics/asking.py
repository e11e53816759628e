"""Asking a model: logits of every restart and units of every layer, for votes of the file's learners."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from deem_core.align import apply_map
from deem_core.fitting import Part
from deem_core.model import Model, log_normalisers, top, units
from deem_core.votes import NO_VOTE

Float = NDArray[np.float64]
Codes = NDArray[np.integer[Any]]

_CHUNK_CELLS = 1 << 22  # (restart, row, unit, state) cells of a layer held at once


def unit_codes(part: Part, codes: Codes, restart: int) -> list[NDArray[np.int32]]:
    """Return the most active state of each unit after each layer of one restart, (n, d') each; -1 for silent units.

    Parameters
    ----------
    codes : (n, d) array of int
        Of the file's learners.
    """
    model = part.model.single(restart)
    reduced = part.reduction.apply(codes)
    found = [np.empty(reduced.shape, np.int32) for _ in range(model.n_layers)]
    for rows in _chunks(len(reduced), model):
        states = _states(model, reduced[rows])
        with torch.no_grad():
            for layer, active in zip(found, units(model, states), strict=True):
                layer[rows] = active[0].argmax(-1).cpu().numpy()
    for layer in found:
        layer[reduced == NO_VOTE] = NO_VOTE
    return found


def part_logits(part: Part, codes: Codes) -> Float:
    """Return the logits of every class, (R, n, K), of the restarts of one training; codes (n, d) of the file."""
    reduced, model = part.reduction.apply(codes), part.model
    made = np.empty((model.n_models, len(codes), model.n_classes))
    for rows in _chunks(len(reduced), model):
        states = _states(model, reduced[rows])
        with torch.no_grad():
            _, found = top(model, states, units(model, states))
            if part.exact:  # missing votes are summed out
                found = found + torch.bmm((states < 0).to(found.dtype), log_normalisers(model))
        each = found.cpu().to(torch.float64).numpy()
        for r, own in enumerate(part.maps):
            made[r, rows] = apply_map(each[r], own)
    return made


def _states(model: Model, codes: Codes) -> torch.Tensor:
    states = torch.as_tensor(np.ascontiguousarray(codes), device=model.weights.device).to(torch.int64)
    return states.expand(model.n_models, -1, -1)


def _chunks(n: int, model: Model) -> Iterator[slice]:
    size = max(64, _CHUNK_CELLS // (model.n_models * model.n_learners * model.n_classes))
    return (slice(start, min(start + size, n)) for start in range(0, n, size))
