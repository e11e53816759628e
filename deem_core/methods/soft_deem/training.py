"""Training on evidence: settings, positives that are drawn, judged restarts."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from deem_core.methods.pools import mean_prob
from deem_core.methods.soft_deem.part import SoftPart
from deem_core.methods.soft_deem.proposal import POSITIVE_DRAWS, draw_positives, seeded_generator
from deem_core.methods.soft_deem.weighing import SoftRows, learner_weights
from deem_core.model.activations import few_operations
from deem_core.model.backend import number_key
from deem_core.model.config import Settings, Shape, TrainConfig, resolve
from deem_core.model.energy import Model
from deem_core.model.memory import Demand
from deem_core.model.trainer import Trainer
from deem_core.training.health import RestartHealth, judge
from deem_core.training.near_copies import Reduction
from deem_core.typing import Floats, Integers
from deem_core.votes import Votes
from deem_core.votes.alignment import class_map
from deem_core.votes.arrays import spread_rows
from deem_core.votes.recode import bare

TRAINED_ROWS = 1_000_000
"""Rows, evenly spread, that batches are drawn from; a run sees fewer."""

RESIDENT_CELLS = 1 << 28
"""(row, learner, class) cells of those rows that a GPU holds during training: 1 GB."""

POSITIVE_CELLS = 40
"""Tensors of a batch's size (R, B, d·K) that a GPU holds while positives are drawn."""

JUDGED_ROWS = 20_000
"""Rows, evenly spread, on which restarts are aligned with the mean probability and judged."""


def settings_for(votes: Votes, config: TrainConfig | None = None) -> Settings:
    """Return the settings of a training on soft votes."""
    wished = replace(config or TrainConfig(), start="majority", near_copies="keep")
    return resolve(wished, shape_of(votes), soft=True)


def shape_of(votes: Votes) -> Shape:
    """Return the size of the table, rows without votes left out."""
    voted = votes.votes_per_row[votes.votes_per_row > 0]
    per_row = float(voted.mean()) if len(voted) else 0.0
    return Shape(len(voted), votes.n_learners, votes.n_classes, per_row, per_row / votes.n_learners)


class EvidenceTrainer(Trainer):
    """R restarts in training on soft votes.

    Positives are drawn from a generator of their own, seeded by (first seed, update): so there is no more to save than
    in `Trainer`, and with one-hot probabilities the training is the same to the last bit.

    Parameters
    ----------
    rows : SoftRows
    codes : (m, d) int array
        Their most probable votes, -1 for no vote: who voted, and on what class shares are watched.
    config, seeds, device, crew
        See `Trainer`.
    """

    def __init__(
        self,
        rows: SoftRows,
        codes: Integers,
        config: TrainConfig,
        seeds: Sequence[int],
        *,
        device: torch.device,
        crew: Executor | None = None,
    ) -> None:
        super().__init__(codes, rows.soft.shape[2], config, seeds, device=device, crew=crew)
        self.rows = rows

    def _demand(self, codes: Integers, n_classes: int) -> Demand:
        """Return what training asks of a GPU, beside the soft votes."""
        return replace(super()._demand(codes, n_classes), positive_cells=POSITIVE_CELLS)

    def positives(self, rows: Tensor) -> Tensor:
        """Draw hidden votes (R, B, d) for the rows (R, B), given their evidence."""
        evidence = self.rows.evidence(rows)
        if self.engine is None:
            return draw_positives(self.model, evidence, seeded_generator(self.device, self.seeds[0], self.update))
        log_q, cast, drawn = evidence.log_q.numpy(), evidence.cast.numpy(), POSITIVE_DRAWS if self.model.n_layers else 1
        keys = [number_key(seed, self.update, 1) for seed in self.seeds]
        each = [self.engine.draw_hidden(r, log_q[r], cast[r], drawn, key) for r, key in enumerate(keys)]
        return torch.from_numpy(np.stack(each)).to(torch.int64)


class SoftTask:
    """Training on soft votes: what `fit_restarts` asks of its votes.

    Parameters
    ----------
    votes : Votes
        With probabilities.
    seed : int
        Of the numbers by which hidden votes are drawn for an answer.
    """

    def __init__(self, votes: Votes, seed: int) -> None:
        if votes.soft is None:
            raise ValueError("there are no probabilities to train on")
        self.votes, self.seed = votes, seed
        self.weights: Floats = np.nan_to_num(learner_weights(votes), nan=1.0)  # nobody hears a silent learner
        self.voted = np.flatnonzero(votes.votes_per_row)

    def __getstate__(self) -> dict[str, Any]:
        """Travel without names of rows and known labels."""
        return {**vars(self), "votes": bare(self.votes, soft=True)}

    @property
    def soft(self) -> NDArray[np.float32]:
        """Probabilities (n, d, K)."""
        assert self.votes.soft is not None  # noqa: S101  # looked at before
        return self.votes.soft

    def settings(self, config: TrainConfig) -> Settings:
        """Return the configuration without gaps, and why it is so."""
        return settings_for(self.votes, config)

    @property
    def shape(self) -> Shape:
        """Size of the table to train on."""
        return shape_of(self.votes)

    def trainer(
        self, config: TrainConfig, seeds: Sequence[int], *, device: torch.device, crew: Executor | None
    ) -> EvidenceTrainer:
        """Return restarts, ready to be trained."""
        rows = self._trained_rows(device)
        return EvidenceTrainer(rows, self.votes.codes[rows.where], config, seeds, device=device, crew=crew)

    def judge(self, model: Model, failures: Sequence[str | None]) -> tuple[list[RestartHealth], NDArray[np.intp]]:
        """Return the verdict on each restart and its class map (R, K).

        The reference is the mean probability: on soft votes it is mostly closer to the truth than the majority of
        their most probable classes, it hardly ties, and it is what the answer falls back to.
        """
        where, K = self.voted[spread_rows(len(self.voted), JUDGED_ROWS)], self.votes.n_classes
        judged = self.votes.select_rows(where)
        reference = mean_prob(judged, np.random.default_rng(0)).codes  # it uses no chance
        as_they_are = np.tile(np.arange(K, dtype=np.intp), (model.n_models, 1))
        labels = self.part(model.to("cpu"), as_they_are).logits(self.soft[where]).argmax(-1)
        maps = np.stack([class_map(own, reference, K) for own in labels])
        mapped = np.take_along_axis(maps, labels, axis=1)
        return judge(mapped, reference, K, failures, self.votes.classes, reference="the mean probability"), maps

    def part(self, model: Model, maps: NDArray[np.intp]) -> SoftPart:
        """Return the restarts that were kept, ready to be asked."""
        everyone = Reduction.of(self.votes.learners)
        return SoftPart(everyone, model, maps, weights=self.weights, seed=self.seed)

    def _trained_rows(self, device: torch.device) -> SoftRows:
        """Return the rows to train on; a GPU holds them."""
        on_gpu, cells = few_operations(device), self.votes.n_learners * self.votes.n_classes
        most = min(TRAINED_ROWS, max(RESIDENT_CELLS // cells, 1)) if on_gpu else TRAINED_ROWS
        weights = torch.tensor(self.weights, dtype=torch.float32, device=device)
        rows = SoftRows(self.soft, self.voted[spread_rows(len(self.voted), most)], weights)
        return rows.resident() if on_gpu else rows
