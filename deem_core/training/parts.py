"""Parts of a trained answer: kept restarts and how to ask them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from deem_core.model.draws import drawn_posterior, uniforms
from deem_core.model.energy import (
    Model,
    label_logits,
    layer_outputs,
    log_normalisers,
    marginal_posterior,
    posterior,
    to_dawid_skene,
)
from deem_core.training.near_copies import Reduction
from deem_core.typing import Codes, Floats, Integers
from deem_core.votes.alignment import apply_map
from deem_core.votes.arrays import NO_VOTE, chunks, distinct_rows

_CHUNK_CELLS = 1 << 20  # (row, unit) cells of a layer held at once: caches hold them (bench_distinct)
_GPU_CHUNK_CELLS = 1 << 23


@dataclass(frozen=True)
class Part:
    """Kept restarts of one training and how to ask them.

    Attributes
    ----------
    reduction : Reduction
        From the learners of the file to those of the model.
    model : Model
        R' kept restarts side by side.
    maps : (R', K) int
        Class of each hidden state, per restart (Hungarian against the majority vote of the training rows).
    exact : bool
        Whether missing votes are summed out (the iRBM fitted by likelihood) or silent (all others).
    """

    reduction: Reduction
    model: Model
    maps: NDArray[np.intp]
    exact: bool = False

    @property
    def n_restarts(self) -> int:
        """Number of restarts, R'."""
        return len(self.maps)

    @property
    def n_layers(self) -> int:
        """Number of layers."""
        return self.model.n_layers

    @property
    def states_per_row(self) -> int:
        """Unit states that asking about a row takes, over all restarts."""
        return self.model.n_models * self.model.n_learners * self.model.n_classes

    @property
    def tree(self) -> None:
        """None: restarts have no groups."""
        return

    def posteriors(self, codes: Integers, draws: int = 0, seed: int = 0) -> Floats:
        """Return p(label | votes) (n, K), averaged over the kept restarts.

        Parameters
        ----------
        codes : (n, d) int
            Of the file's learners.
        draws : int
            Passes with drawn layer outputs to average (`deem_core.model.draws`); 0 is one pass with their
            probabilities. Without layers there is nothing to draw.
        seed : int
            Of the draws.
        """
        numbers = uniforms(self.model, draws, seed) if draws and self.n_layers else None
        distinct = distinct_rows(self.reduction.apply(codes))  # near-copies merged, more rows are equal
        answer = np.empty((len(distinct.codes), self.model.n_classes))
        for rows in row_chunks(len(answer), self.model):
            each = ask(self.model, distinct.codes[rows], self.exact, numbers)
            answer[rows] = np.mean([apply_map(each[r], self.maps[r]) for r in range(len(each))], axis=0)
        return distinct.spread(answer)

    def logits(self, codes: Integers) -> Floats:
        """Return the label's logits of every restart, (R', n, K), in class order."""
        distinct, model = distinct_rows(self.reduction.apply(codes)), self.model
        aligned = np.empty((model.n_models, len(distinct.codes), model.n_classes))
        for rows in row_chunks(len(distinct.codes), model):
            states = _states(model, distinct.codes[rows])
            with torch.no_grad():
                _, scores = label_logits(model, states)
                if self.exact:  # missing votes are summed out
                    scores = scores + torch.bmm((states < 0).to(scores.dtype), log_normalisers(model))
            each = scores.cpu().to(torch.float64).numpy()
            for r, own in enumerate(self.maps):
                aligned[r, rows] = apply_map(each[r], own)
        return distinct.spread(aligned, axis=1)

    def unit_codes(self, codes: Integers, restart: int) -> list[Codes]:
        """Return the most active state of each unit after each layer.

        One restart; (n, d') for each layer, -1 for silent units.
        """
        model = self.model.single(restart)
        distinct = distinct_rows(self.reduction.apply(codes))
        layers = [np.empty(distinct.codes.shape, np.int32) for _ in range(model.n_layers)]
        for rows in row_chunks(len(distinct.codes), model):
            states = _states(model, distinct.codes[rows])
            with torch.no_grad():
                for layer, active in zip(layers, layer_outputs(model, states), strict=True):
                    layer[rows] = active[0].argmax(-1).cpu().numpy()
        for layer in layers:
            layer[distinct.codes == NO_VOTE] = NO_VOTE
        return [distinct.spread(layer) for layer in layers]

    def parameters(self) -> tuple[Floats, Floats] | None:
        """Return ψ (d', K, K) and π (K,), averaged over restarts.

        By Lemma 1, with the prior corrected; None for a training with layers, which has no such parameters.
        """
        if self.n_layers:
            return None
        psi, pi = to_dawid_skene(self.model.to("cpu"))
        return (
            np.mean([apply_map(own.double().numpy(), self.maps[r]) for r, own in enumerate(psi)], axis=0),
            np.mean([apply_map(own.double().numpy(), self.maps[r]) for r, own in enumerate(pi)], axis=0),
        )


def ask(model: Model, codes: Integers, exact: bool, numbers: torch.Tensor | None = None) -> Floats:
    """Return p(h | x) (R, n, K) of a few rows, by drawn layers if there are numbers."""
    states = _states(model, codes)
    with torch.no_grad():
        if numbers is not None:
            answer = drawn_posterior(model, states, numbers)
        else:
            answer = marginal_posterior(model, states) if exact else posterior(model, states)
    return answer.cpu().to(torch.float64).numpy()


def row_chunks(n_rows: int, model: Model) -> Iterator[slice]:
    """Yield chunks of rows whose units caches or a GPU hold."""
    cells = _CHUNK_CELLS if model.weights.device.type == "cpu" else _GPU_CHUNK_CELLS
    return chunks(n_rows, max(256, cells // (model.n_models * model.n_learners * model.n_classes)))


def _states(model: Model, codes: Integers) -> torch.Tensor:
    states = torch.as_tensor(np.ascontiguousarray(codes), device=model.weights.device).to(torch.int64)
    return states.expand(model.n_models, -1, -1)
