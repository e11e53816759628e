"""The training of DEEM with positives that are drawn from evidence instead of read from a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from deem_core.config import TrainConfig
from deem_core.evidence.proposal import draw_positives, seeded
from deem_core.evidence.weighing import SoftRows
from deem_core.training import Trainer


class EvidenceTrainer(Trainer):
    """R restarts in training on soft votes.

    Chance of its own draws the positives, anew from the first seed and the number of each update: so there is no more
    to save than in `Trainer`, and with one-hot probabilities the training is the same to the last bit.

    Parameters
    ----------
    rows : SoftRows
    codes : (m, d) int array
        Their most probable votes, -1 for no vote: who voted, and on what class shares are watched.
    config, seeds, device
        See `Trainer`.
    """

    def __init__(
        self,
        rows: SoftRows,
        codes: NDArray[np.integer[Any]],
        config: TrainConfig,
        seeds: Sequence[int],
        *,
        device: torch.device,
    ) -> None:
        super().__init__(codes, rows.soft.shape[2], config, seeds, device=device)
        self.rows = rows

    def positives(self, rows: Tensor) -> Tensor:
        """Draw hidden votes (R, B, d) for the rows (R, B), given their evidence and the models as they stand."""
        return draw_positives(self.model, self.rows.evidence(rows), seeded(self.device, self.seeds[0], self.update))
