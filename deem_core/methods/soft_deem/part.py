"""Kept restarts of soft DEEM, and how to ask them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import torch

from deem_core.engine import cores
from deem_core.methods.soft_deem.inference import DRAWS, draw_numbers, soft_logits
from deem_core.methods.soft_deem.weighing import weigh
from deem_core.training.parts import Part
from deem_core.typing import Floats, Rows
from deem_core.votes.alignment import apply_map
from deem_core.votes.arrays import as_probabilities, chunks

_CHUNK_CELLS = 1 << 19  # (row, learner, class) cells of evidence held at once by each thread
_LABELS = 2  # that are in question in a typical row
_EFFORT = 4  # of a state of drawn votes, in states of votes that are given


@dataclass(frozen=True)
class SoftPart(Part):
    """Kept restarts of a training on soft votes.

    Attributes
    ----------
    weights : (d,)
        How far each learner is believed, w; mean 1.
    seed : int
        Of the numbers by which hidden votes are drawn.
    """

    weights: Floats = field(default_factory=lambda: np.ones(0))
    seed: int = 0

    @property
    def states_per_row(self) -> int:
        """Unit states that asking about a row takes, draws counted."""
        return super().states_per_row * (DRAWS * _LABELS * _EFFORT if self.n_layers else 1)

    def posteriors(self, rows: Rows, draws: int = 0, seed: int = 0) -> Floats:
        """Return p(label | votes) (n, K), averaged over the kept restarts.

        For probabilities (n, d, K), or codes (n, d), which are certain votes. Hidden votes are drawn by numbers of the
        part's own, so that ``draws`` and ``seed`` change nothing.
        """
        answer = np.empty((len(rows), self.model.n_classes))
        for chunk, scores in self._asked(rows):
            each = scores.softmax(-1).numpy()
            mean = np.mean([apply_map(own, self.maps[r]) for r, own in enumerate(each)], axis=0)
            answer[chunk] = mean / mean.sum(axis=1, keepdims=True)
        return answer

    def logits(self, rows: Rows) -> Floats:
        """Return log Pr(label, evidence) of every restart, (R', n, K), in class order; not normalised."""
        aligned = np.empty((self.n_restarts, len(rows), self.model.n_classes))
        for chunk, scores in self._asked(rows):
            for r, own in enumerate(scores.numpy()):
                aligned[r, chunk] = apply_map(own, self.maps[r])
        return aligned

    def parameters(self) -> None:
        """Return None: the parameters are of hidden votes."""
        return

    def _asked(self, rows: Rows) -> Iterator[tuple[slice, torch.Tensor]]:
        """Yield chunks of rows with every restart's logits (R', b, K), computed in several threads."""
        d, K = self.model.n_learners, self.model.n_classes
        models = [self.model.single(r) for r in range(self.n_restarts)]
        numbers = [draw_numbers(d, self.seed, r) for r in range(self.n_restarts)]
        weights = torch.tensor(self.weights, dtype=self.model.weights.dtype)

        def ask(chunk: slice) -> torch.Tensor:
            block = np.asarray(as_probabilities(rows[chunk], K), np.float32)
            evidence = weigh(torch.tensor(block), weights)
            each = [soft_logits(model, evidence, own) for model, own in zip(models, numbers, strict=True)]
            return torch.stack(each).double()

        parts = list(chunks(len(rows), _CHUNK_CELLS // (d * K)))
        if len(parts) < 2:
            yield from ((part, ask(part)) for part in parts)
            return
        before = torch.get_num_threads()
        torch.set_num_threads(1)  # a thread for each chunk beats threads inside small operations
        try:
            with ThreadPoolExecutor(cores()) as pool:
                yield from zip(parts, pool.map(ask, parts), strict=True)
        finally:
            torch.set_num_threads(before)
