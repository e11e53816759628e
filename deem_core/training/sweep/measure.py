"""Measurements of a model in training, on the same rows every time."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from deem_core.model.backend import number_key
from deem_core.model.config import TrainConfig
from deem_core.model.energy import Model, free_and_expected_energy, posterior
from deem_core.model.sampler import Kind, Sampler, sample
from deem_core.training.health import share_ratio
from deem_core.training.sweep.referee import Referee
from deem_core.typing import Floats, Integers
from deem_core.votes import Votes
from deem_core.votes.alignment import class_map
from deem_core.votes.arrays import spread_rows

if TYPE_CHECKING:
    from deem_core.model.kernel.engine import Engine

MEASURED_ROWS = (1_000, 10_000)
"""At least (if there are so many) and at most this many rows are measured."""

ROWS_PER_CLASS = 100
"""Rows to measure for each class, between these bounds, so that class shares mean something."""

MOST_CELLS = 4_000_000
"""Rows × learners × classes of one measurement, which bounds its cost where classes are many."""


@dataclass(frozen=True)
class Look:
    """What one model looks like.

    Attributes
    ----------
    positive, negative : float
        Mean free energy F of the measured rows, and of chains of the training's sampler that start from them.
    energy_positive, energy_negative : float
        The same of E at the expected label.
    acceptance, moved : float
        Health of the sampler.
    shares : (K,)
        Predicted class shares, aligned with the majority vote.
    share_ratio : float
        What the worst class keeps of its majority-vote share; see `deem_core.training.health.share_ratio`.
    grouped_likelihood : float
        Grouped likelihood of the labels (see `Referee`); NaN without a grouped model that explains the votes.
    """

    positive: float
    negative: float
    energy_positive: float
    energy_negative: float
    acceptance: float
    moved: float
    shares: Floats
    share_ratio: float
    grouped_likelihood: float = math.nan

    @property
    def finite(self) -> bool:
        """Whether both energies are finite numbers."""
        return bool(np.isfinite([self.positive, self.negative]).all())


class Measure:
    """Rows, evenly spread, on which every model of a sweep is measured.

    The chains of every measurement use the same random numbers: models that are equal measure equal, and curves
    differ by their models alone.
    """

    def __init__(self, votes: Votes, seed: int, device: torch.device) -> None:
        most = min(max(ROWS_PER_CLASS * votes.n_classes, MEASURED_ROWS[0]), MEASURED_ROWS[1])
        most = min(most, max(MOST_CELLS // (votes.n_learners * votes.n_classes), 500))
        rows = self.rows = spread_rows(votes.n_rows, most)
        self.referee: Referee | None = None
        self.majority = votes.majority_vote.codes[rows]
        self.n_classes = votes.n_classes
        self.codes = torch.tensor(votes.codes[rows], device=device).to(torch.int64).unsqueeze(0)  # (1, m, d)
        self.seed, self.device = seed, device

    def to(self, device: torch.device) -> Measure:
        """Return the measure on another device."""
        if device == self.device:
            return self
        moved = copy(self)
        moved.codes, moved.device = self.codes.to(device), device
        return moved

    @property
    def n_rows(self) -> int:
        """Rows measured."""
        return self.codes.shape[1]

    @property
    def majority_shares(self) -> Floats:
        """Class shares by majority vote on the measured rows, (K,)."""
        return np.asarray(np.bincount(self.majority, minlength=self.n_classes) / max(self.n_rows, 1))

    @torch.no_grad()
    def __call__(self, model: Model, config: TrainConfig) -> Look:
        """Look at one model (R = 1)."""
        generator = torch.Generator(self.device).manual_seed(self.seed)
        kind: Kind = config.sampler  # type: ignore[assignment]  # checked by TrainConfig
        chain = sample(model, self.codes, config.sampler_steps, generator, kind=kind, alpha=config.step_size)
        both = torch.cat([self.codes, chain.codes], dim=1)
        energies = torch.cat(free_and_expected_energy(model, both)).cpu().numpy()  # (2, 2m)
        labels = posterior(model, self.codes)[0].argmax(-1).cpu().numpy()
        return self._look(energies, labels, float(chain.acceptance[0]), float(chain.moved[0]))

    def by_kernel(self, engine: Engine, which: int, config: TrainConfig) -> Look:
        """Look at one of the models that the kernel trains."""
        rows = self.codes[0].to(torch.int32).numpy()
        walk = engine.walk(which, rows, Sampler.of(config, self.n_classes), number_key(self.seed))
        energies = np.stack([walk.free.ravel(), walk.expected.ravel()])
        return self._look(energies, walk.labels, walk.acceptance, walk.moved)

    def _look(self, energies: NDArray[Any], labels: Integers, acceptance: float, moved: float) -> Look:
        """Sum up F and E (2, 2m) of rows and chains, and the rows' labels (m,)."""
        means = energies.reshape(4, self.n_rows).mean(axis=1, dtype=np.float64)
        up, down, energy_up, energy_down = means.tolist()
        labels = class_map(labels, self.majority, self.n_classes)[labels]
        return Look(
            positive=up,
            negative=down,
            energy_positive=energy_up,
            energy_negative=energy_down,
            acceptance=acceptance,
            moved=moved,
            shares=np.bincount(labels, minlength=self.n_classes) / max(self.n_rows, 1),
            share_ratio=share_ratio(labels, self.majority, self.n_classes),
            grouped_likelihood=math.nan if self.referee is None else self.referee(labels),
        )
