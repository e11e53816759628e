"""Engine: models in the kernel's memory, their updates, measurements and threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, wait
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from deem_core.model.contrast import Contrast
from deem_core.model.energy import Model, initialise
from deem_core.model.kernel import chains, hidden_votes
from deem_core.model.kernel.descent import add_gradient, empty_notes
from deem_core.model.kernel.evaluation import SOFTMAX, SPARSEMAX, Parameters, empty_rows
from deem_core.model.sampler import Chain, Sampler

KINDS = {"dmala": chains.DMALA, "dula": chains.DULA, "gwg": chains.GWG}
_ACTIVATIONS = {"sparsemax": SPARSEMAX, "softmax": SOFTMAX}

BLOCK_ROWS = (16, 256)
"""Rows that a thread takes at once, at least and at most."""

BLOCK_CELLS = 400_000
"""Rows × units of a block, about a millisecond's work."""

WIDE_UNITS = 1_024
"""Units from which on the transposed layers are kept up entry by entry; below, writing them anew is quicker."""

_NO_FIXED_STATE = -1


class Walk(NamedTuple):
    """Rows of data and the chains from them.

    Attributes
    ----------
    codes : (B, d) int32
        Where the chains ended.
    free, expected : (2, B)
        F, and E at the expected label, of data and of chains.
    labels : (B,) int32
        Most probable label of the data.
    acceptance, moved : float
        Share of proposals accepted, and of votes cast that differ from the start.
    """

    codes: NDArray[np.int32]
    free: NDArray[np.float32]
    expected: NDArray[np.float32]
    labels: NDArray[np.int32]
    acceptance: float
    moved: float


class Engine:
    """R models whose parameters the kernel works on.

    The tensors of `model` are views of the same memory: whoever reads or writes them there needs no copy, but after
    writing must say so by `refresh`.

    Parameters
    ----------
    model : Model
        On the CPU, float32; copied.
    crew : Executor, optional
        Threads to share rows out to. Results do not depend on it.
    """

    def __init__(self, model: Model, crew: Executor | None = None) -> None:
        R, d, K, L = model.n_models, model.n_learners, model.n_classes, model.n_layers
        N = d * K
        self.crew, self.d, self.K, self.N = crew, d, K, N
        self.activation, self.fixed = _ACTIVATIONS[model.activation], model.fixed_state
        self.memory = _memory(R, L, N, K)
        self.models = [Parameters(*(part[r] for part in self.memory)) for r in range(R)]
        self.model = _views(model, self.memory)
        with torch.no_grad():
            for own, given in zip(self.model.parameters(), model.parameters(), strict=True):
                own.copy_(given)
        self.refresh()
        edges = [d * part // 4 for part in range(5)] if crew is not None and d >= 4 else [0, d]
        self._learners = [np.array(pair) for pair in pairwise(edges)]
        self._notes = empty_notes(0, L, d, K)
        self._nothing = empty_notes(0, L, d, K)

    def refresh(self) -> None:
        """Take over parameters that were written from outside."""
        for own in self.models:
            for layer, transposed in zip(own.layers, own.transposed, strict=True):
                transposed[:] = layer.T
            if not len(own.layers):
                own.weights_by_label[:] = own.weights.T

    # ------------------------------------------------------------------ chains and updates

    def walk(self, which: int, data: NDArray[np.int32], sampler: Sampler, key: int) -> Walk:
        """Run chains from rows of data (B, d) of one model."""
        return self.walk_from(which, data, data, sampler, key)

    def walk_from(
        self,
        which: int,
        data: NDArray[np.int32],
        start: NDArray[np.int32],
        sampler: Sampler,
        key: int,
        *,
        notes: Any = None,
    ) -> Walk:
        """Run chains from ``start`` (B, d), and evaluate ``data`` (B, d)."""
        model, B = self.models[which], len(data)
        energies, ended = np.empty((4, B), np.float32), np.empty((B, self.d), np.int32)
        tally = np.empty((3, B), np.int32)
        kind, bonus = KINDS[sampler.kind], np.float32(1 / sampler.alpha)
        noted = self._nothing if notes is None else notes

        def run(span: NDArray[np.int64]) -> None:
            chains.run_chains(
                model, data, start, sampler.steps, kind, self.activation, bonus, np.uint64(key), span,
                self._rows(3), np.empty(1, np.uint64), noted, energies, ended, tally,
            )  # fmt: skip

        self._share_rows(B, run)
        cast = max(int((start >= 0).sum()), 1)
        acceptance = tally[0].sum() / max(B * sampler.steps, 1)
        return Walk(ended, energies[:2], energies[2:], tally[2], float(acceptance), float(tally[1].sum() / cast))

    def learn(
        self, which: int, data: NDArray[np.int32], start: NDArray[np.int32], sampler: Sampler, key: int, *, rate: float
    ) -> Walk:
        """Make one update in place by plain gradient descent."""
        walk = self._noted_walk(which, data, start, sampler, key)
        target, wide = self.models[which], self.N > WIDE_UNITS
        self._add(target, np.float32(rate / len(data)), self.fixed, wide)
        for layer in range(wide, len(target.layers)):
            target.transposed[layer] = target.layers[layer].T
        if not len(target.layers):
            target.weights_by_label[:] = target.weights.T
        return walk

    def gradients(
        self, which: int, data: NDArray[np.int32], start: NDArray[np.int32], sampler: Sampler, key: int
    ) -> tuple[Walk, list[torch.Tensor]]:
        """Return a walk and the gradient of the loss.

        As `Model.parameters` orders it, (1, …) each.
        """
        walk = self._noted_walk(which, data, start, sampler, key)
        memory = _memory(1, len(self.models[which].layers), self.N, self.K)
        for part in memory:
            part[:] = 0
        self._add(Parameters(*(part[0] for part in memory)), np.float32(-1 / len(data)), _NO_FIXED_STATE, False)
        return walk, _views(self.model, memory).parameters()

    def contrast(
        self, data: Tensor, start: Tensor, sampler: Sampler, keys: Sequence[int], rates: Sequence[float] | None = None
    ) -> Contrast:
        """Set chains from ``start (R, B, d)`` against ``data (R, B, d)``.

        As `deem_core.model.contrast` does.

        With ``rates`` the models are updated in place, and there is no gradient left to descend.
        """
        rows = int32(data)
        begin = rows if start is data else int32(start)
        walks, gradients = [], []
        for r, key in enumerate(keys):
            if rates is None:
                walk, own = self.gradients(r, rows[r], begin[r], sampler, key)
                gradients.append(own)
            else:
                walk = self.learn(r, rows[r], begin[r], sampler, key, rate=rates[r])
            walks.append(walk)
        chain = Chain(
            torch.from_numpy(np.stack([walk.codes for walk in walks])).to(torch.int64),
            torch.tensor([walk.acceptance for walk in walks]),
            torch.tensor([walk.moved for walk in walks]),
        )
        energies = torch.from_numpy(np.stack([walk.free.mean(axis=1) for walk in walks], axis=1))
        return Contrast(chain, energies, [torch.cat(parts) for parts in zip(*gradients, strict=True)])

    def expected_energies(self, codes: Tensor) -> Tensor:
        """Return E at the expected label (R, B) of votes ``codes (R, B, d)``."""
        return torch.from_numpy(np.stack([self.evaluate(r, own)[1] for r, own in enumerate(int32(codes))]))

    def labels(self, codes: Tensor) -> Tensor:
        """Return the most probable label (R, B) of votes."""
        each = [self.evaluate(r, own)[2].argmax(axis=1) for r, own in enumerate(int32(codes))]
        return torch.from_numpy(np.stack(each))

    def evaluate(
        self, which: int, codes: NDArray[np.int32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
        """Return F (B,), E at the expected label (B,) and p(h | v) (B, K) of rows."""
        energies, labels = np.empty((2, len(codes)), np.float32), np.empty((len(codes), self.K), np.float32)
        self._share_rows(
            len(codes),
            lambda span: chains.evaluate_rows(
                self.models[which], codes, self.activation, span, self._rows(1), energies, labels
            ),
        )
        return energies[0], energies[1], labels

    def draw_hidden(
        self, which: int, log_q: NDArray[np.float32], cast: NDArray[np.bool_], n_draws: int, key: int
    ) -> NDArray[np.int32]:
        """Draw hidden votes (B, d) for evidence (B, d, K).

        See `deem_core.methods.soft_deem.proposal`.
        """
        model, votes = self.models[which], np.empty(cast.shape, np.int32)
        scores, highest = hidden_votes.score_tables(model, self.d, self.K)
        self._share_rows(
            len(votes),
            lambda span: hidden_votes.draw_hidden(
                model, log_q, cast, scores, highest, n_draws, self.activation, np.uint64(key), span,
                self._rows(1), np.empty(1, np.uint64), votes,
            ),
        )  # fmt: skip
        return votes

    def keep(self, positions: Sequence[int]) -> None:
        """Go on with the models at these positions only."""
        self.memory = tuple(np.ascontiguousarray(part[list(positions)]) for part in self.memory)
        self.models = [Parameters(*(part[r] for part in self.memory)) for r in range(len(positions))]
        self.model = _views(self.model, self.memory)

    # ------------------------------------------------------------------ helpers

    def _noted_walk(
        self, which: int, data: NDArray[np.int32], start: NDArray[np.int32], sampler: Sampler, key: int
    ) -> Walk:
        if len(self._notes.codes) != 2 * len(data):
            self._notes = empty_notes(2 * len(data), len(self.models[which].layers), self.d, self.K)
        return self.walk_from(which, data, start, sampler, key, notes=self._notes)

    def _rows(self, m: int) -> Any:
        return empty_rows(m, self.memory[0].shape[1], self.d, self.K)

    def _add(self, target: Parameters, step: np.float32, fixed: int, wide: bool) -> None:
        self._share(
            self._learners,
            lambda learners: add_gradient(target, self._notes, learners, step, fixed, wide),
        )

    def _share_rows(self, n_rows: int, work: Callable[[NDArray[np.int64]], None]) -> None:
        size = n_rows
        if self.crew is not None:
            size = max(BLOCK_ROWS[0], min(BLOCK_ROWS[1], BLOCK_CELLS // self.N))
        firsts = range(0, n_rows, max(size, 1))
        self._share([np.array([first, min(first + size, n_rows)]) for first in firsts], work)

    def _share(self, parts: Sequence[Any], work: Callable[[Any], None]) -> None:
        """Do the parts of some work, in threads if there are any."""
        if self.crew is None or len(parts) == 1:
            for part in parts:
                work(part)
            return
        shared = [self.crew.submit(work, part) for part in parts]
        wait(shared)  # all of them, before a failure is told
        for done in shared:
            done.result()


def warm_up() -> None:
    """Load or compile all that a training needs."""
    engine = Engine(initialise(3, 2, 1, [torch.Generator()]))
    data = np.zeros((2, 3), np.int32)
    engine.learn(0, data, data, Sampler("dmala", 1, 1.0), 0, rate=0.0)
    engine.evaluate(0, data)


def int32(codes: Tensor) -> NDArray[np.int32]:
    """Return votes as the kernel takes them."""
    return codes.to(torch.int32).contiguous().numpy()


def _memory(R: int, L: int, N: int, K: int) -> tuple[NDArray[np.float32], ...]:
    """Return room for the parameters of R models, in the order of `Parameters`."""
    shapes = ((R, L, N, N), (R, L, N, N), (R, L, N), (R, N, K), (R, K, N), (R, N), (R, K))
    return tuple(np.empty(shape, np.float32) for shape in shapes)


def _views(model: Model, memory: Sequence[NDArray[np.float32]]) -> Model:
    """Return a model like another whose tensors lie in the kernel's memory."""
    layers, _, biases, *top = (torch.from_numpy(part) for part in memory)
    L = layers.shape[1]
    weights, _, visible_bias, hidden_bias = top
    return model.with_parameters(
        [weights, visible_bias, hidden_bias, *(layers[:, at] for at in range(L)), *(biases[:, at] for at in range(L))]
    )
