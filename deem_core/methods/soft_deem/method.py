"""The method.

Restarts on evidence, judged and averaged, under the contract of the baselines.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from deem_core.control import NO_CONTROL, Control
from deem_core.errors import InputError
from deem_core.methods.contract import Aggregate, fill_silent_rows, silence_notes
from deem_core.methods.pools import mean_prob
from deem_core.methods.soft_deem.inference import answers
from deem_core.methods.soft_deem.proposal import POSITIVE_DRAWS, draw_positives, seeded_generator
from deem_core.methods.soft_deem.weighing import SoftRows, learner_weights
from deem_core.model.activations import few_operations
from deem_core.model.backend import crew, number_key, prepare, with_backend
from deem_core.model.config import Settings, Shape, TrainConfig, resolve
from deem_core.model.devices import pick_device
from deem_core.model.energy import Model
from deem_core.model.memory import Demand
from deem_core.model.trainer import Trainer, stack_size
from deem_core.training.health import RestartHealth, judge, survivors_suffice
from deem_core.training.restarts import training_pool
from deem_core.typing import Floats, Integers
from deem_core.votes import Votes
from deem_core.votes.alignment import apply_map, class_map
from deem_core.votes.arrays import spread_rows
from deem_core.votes.recode import votes_to_learn_from

ACCURACY = 0.9
"""How often a hidden vote is right at the start: evidence is already doubted, hidden votes need not be."""

TRAINING_TIME = 30.0
"""Learning rate × updates: the start is better than the majority vote, and longer runs drift from it."""

TRAINED_ROWS = 1_000_000
"""Rows, evenly spread, that batches are drawn from; a run sees fewer."""

RESIDENT_CELLS = 1 << 28
"""(row, learner, class) cells of those rows that a GPU holds during training: 1 GB."""

POSITIVE_CELLS = 40
"""Tensors of a batch's size (R, B, d·K) that a GPU holds while positives are drawn."""

JUDGED_ROWS = 20_000
"""Rows, evenly spread, on which restarts are aligned with the mean probability and judged."""


def aggregate(
    votes: Votes, rng: np.random.Generator, *, control: Control = NO_CONTROL, device: str = "auto"
) -> Aggregate:
    """Train DEEM on soft votes as evidence and fuse them.

    Restarts that lost a class are left out, the others' posteriors averaged; if half or fewer survive, the answer is
    the mean of probabilities. ``skills`` are the weights of the learners' evidence (d,).

    Raises
    ------
    InputError
        If the votes are labels only, or there are fewer than three learners or no vote.
    Stopped
        If ``control`` says so: half a training is no answer.
    """
    if votes.soft is None:
        raise InputError(
            "deem_soft takes probabilities as evidence, and these votes are labels only: bring soft votes, "
            "or choose deem, which is for labels."
        )
    votes = votes_to_learn_from(votes)
    voted = votes.votes_per_row > 0
    config = prepare(settings_for(votes, device=device), control).config
    weights = learner_weights(votes)
    seed = int(rng.integers(2**31 - 1))
    with training_pool(pick_device(config.device)) as pool:
        work = _Work(votes, weights, config, seed, pool=pool, control=control)
        models, failures = work.train()
        maps, health = work.judge(models, failures)
        survivors = [r for r, verdict in enumerate(health) if verdict.kept]
        answered = survivors_suffice(len(survivors), len(health))
        if answered:
            posterior = work.fuse([models[r] for r in survivors], maps[survivors])
        else:
            posterior = mean_prob(votes, rng).posterior
    if answered and not voted.all():
        fill_silent_rows(posterior, voted, posterior.mean(axis=0, where=voted[:, None]))
    return Aggregate(
        posterior=posterior,
        voted=voted,
        iterations=int(config.updates or 0),
        converged=answered,
        skills=weights,
        notes=(*_lost_notes(health, answered), *silence_notes(voted)),
    )


def settings_for(votes: Votes, restarts: int = 5, *, device: str = "auto") -> Settings:
    """Return DEEM's settings from the data, with another start and length.

    The weight at the start, log(K − 1) + log 9, makes a hidden vote right with 90 %.
    """
    scale = math.log(votes.n_classes - 1) + math.log(ACCURACY / (1 - ACCURACY))
    shape = Shape.of(votes)
    settings = resolve(TrainConfig(start="majority", init_scale=scale, restarts=restarts, device=device), shape)
    rate = float(settings.config.learning_rate or 0)  # resolved: never None
    config = replace(settings.config, updates=math.ceil(TRAINING_TIME / rate))
    return with_backend(Settings(config, settings.reasons), shape, pick_device(config.device).type)


# ---------------------------------------------------------------------- restarts


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


class _Work:
    """What training, judging and fusing share."""

    def __init__(
        self,
        votes: Votes,
        weights: Floats,
        config: TrainConfig,
        seed: int,
        *,
        pool: Executor,
        control: Control,
    ) -> None:
        self.votes, self.config, self.seed, self.pool, self.control = votes, config, seed, pool, control
        self.device = pick_device(config.device)
        self.weights = torch.tensor(np.nan_to_num(weights, nan=1.0), dtype=torch.float32, device=self.device)
        self.voted = np.flatnonzero(votes.votes_per_row)

    def train(self) -> tuple[list[Model], list[str | None]]:
        """Return the restarts, one model each, and why those failed that did."""
        config, rows = self.config, self._trained_rows()
        codes = self.votes.codes[rows.where]
        seeds = np.random.SeedSequence(self.seed).generate_state(config.restarts).astype(np.int64).tolist()
        size = stack_size(len(seeds), self.device, config.backend)
        threads = crew(-(-len(seeds) // size))

        def train(first: int) -> EvidenceTrainer:
            own = seeds[first : first + size]
            trainer = EvidenceTrainer(rows, codes, config, own, device=self.device, crew=threads)
            for _ in trainer.run(self.control.check):
                pass
            return trainer

        done = list(self.pool.map(train, range(0, len(seeds), size)))
        models = [one.finished().single(r) for one in done for r in range(len(one.seeds))]
        return models, [failure for one in done for failure in one.failures]

    def judge(
        self, models: Sequence[Model], failures: Sequence[str | None]
    ) -> tuple[NDArray[np.intp], list[RestartHealth]]:
        """Return the class of each state (R, K) and each restart's verdict.

        The reference is the mean probability: on soft votes it is closer to the truth than the majority of their most
        probable classes, it hardly ties, and it is what the answer falls back to.
        """
        where, K = self.voted[spread_rows(len(self.voted), JUDGED_ROWS)], self.votes.n_classes
        reference = mean_prob(self.votes.select_rows(where), np.random.default_rng(0)).codes  # it uses no chance
        labels = np.empty((len(models), len(where)), np.intp)
        for rows, each in answers(models, self._rows(where), self.seed, pool=self.pool, control=self.control):
            labels[:, rows] = each.argmax(-1)
        maps = np.stack([class_map(own, reference, K) for own in labels])
        mapped = np.take_along_axis(maps, labels, axis=1)
        return maps, judge(mapped, reference, K, failures, self.votes.classes, reference="the mean probability")

    def fuse(self, models: Sequence[Model], maps: NDArray[np.intp]) -> Floats:
        """Return the mean posterior (n, K) of all rows, a chunk at a time."""
        posterior = np.empty((self.votes.n_rows, self.votes.n_classes))
        everything = self._rows(np.arange(self.votes.n_rows))
        for rows, each in answers(models, everything, self.seed, pool=self.pool, control=self.control):
            mean = np.mean([apply_map(own, mapping) for own, mapping in zip(each, maps, strict=True)], axis=0)
            posterior[rows] = mean / mean.sum(axis=1, keepdims=True)
        return posterior

    def _trained_rows(self) -> SoftRows:
        """Return the rows to train on; a GPU holds them."""
        on_gpu, cells = few_operations(self.device), self.votes.n_learners * self.votes.n_classes
        most = min(TRAINED_ROWS, max(RESIDENT_CELLS // cells, 1)) if on_gpu else TRAINED_ROWS
        rows = self._rows(self.voted[spread_rows(len(self.voted), most)])
        return rows.resident() if on_gpu else rows

    def _rows(self, where: NDArray[np.intp]) -> SoftRows:
        assert self.votes.soft is not None  # noqa: S101  # for mypy: `aggregate` refuses labels
        return SoftRows(self.votes.soft, where, self.weights)


def _lost_notes(health: Sequence[RestartHealth], answered: bool) -> list[str]:
    """Return what is to be said of restarts that were left out."""
    lost = [verdict for verdict in health if not verdict.kept]
    if not lost:
        return []
    reasons = " ".join(dict.fromkeys(verdict.reason for verdict in lost))
    sentences = [f"{len(lost)} of {len(health)} restarts were left out: {reasons}"]
    if not answered:
        sentences.append("Half or fewer of the restarts survived, so the answer is the mean of the probabilities.")
    return sentences
