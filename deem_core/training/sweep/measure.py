"""Measurements of a model in training, on the same rows every time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from deem_core.model.config import TrainConfig
from deem_core.model.energy import Model, free_and_expected_energy, posterior
from deem_core.model.sampler import Kind, sample
from deem_core.training.health import share_ratio
from deem_core.typing import Floats
from deem_core.votes import Votes
from deem_core.votes.alignment import class_map
from deem_core.votes.arrays import spread_rows

MEASURED_ROWS = (2_000, 10_000)
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
    """

    positive: float
    negative: float
    energy_positive: float
    energy_negative: float
    acceptance: float
    moved: float
    shares: Floats
    share_ratio: float

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
        rows = spread_rows(votes.n_rows, most)
        self.majority = votes.majority_vote.codes[rows]
        self.n_classes = votes.n_classes
        self.codes = torch.tensor(votes.codes[rows], device=device).to(torch.int64).unsqueeze(0)  # (1, m, d)
        self.seed, self.device = seed, device

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
        free, expected = free_and_expected_energy(model, torch.cat([self.codes, chain.codes], dim=1))
        energies = torch.cat([free, expected]).cpu().double()  # not there: Apple's GPU has no float64
        up, down, energy_up, energy_down = energies.view(4, self.n_rows).mean(1).tolist()
        labels = posterior(model, self.codes)[0].argmax(-1).cpu().numpy()
        labels = class_map(labels, self.majority, self.n_classes)[labels]
        return Look(
            positive=up,
            negative=down,
            energy_positive=energy_up,
            energy_negative=energy_down,
            acceptance=float(chain.acceptance[0]),
            moved=float(chain.moved[0]),
            shares=np.bincount(labels, minlength=self.n_classes) / max(self.n_rows, 1),
            share_ratio=share_ratio(labels, self.majority, self.n_classes),
        )
