"""Weighing: from soft votes to evidence on hidden votes, Q_nil ∝ P_nil^(γ w_i)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from deem_core.methods.pools import log_pool
from deem_core.typing import Floats
from deem_core.votes import Votes
from deem_core.votes.arrays import spread_rows

TEMPER = 0.5
"""γ, how far probabilities are believed: 1 takes them at their word, 0 not at all; learners are surer than right."""

WEIGHED_ROWS = 100_000
"""Rows, evenly spread, from which the weights of the learners are found; fewer where rows are wide."""

_WEIGHED_CELLS = 1 << 26  # (row, learner, class) cells of those rows: 256 MB


@dataclass(frozen=True)
class Evidence:
    """Evidence of soft votes for each hidden vote.

    Attributes
    ----------
    log_q : (…, d, K)
        log Q; each site sums to 1, and is flat for a vote that was not cast.
    cast : (…, d) bool
        Sites with a vote; at the others there is no hidden vote, as DEEM has it.
    """

    log_q: Tensor
    cast: Tensor

    def select(self, rows: Any) -> Evidence:
        """Return the evidence of some rows, by their index."""
        return Evidence(self.log_q[rows], self.cast[rows])

    @property
    def certain(self) -> Tensor:
        """Rows (…,) whose votes are as good as hard.

        One possible class each.
        """
        return ((self.log_q.isfinite().sum(-1) == 1) | ~self.cast).all(-1)

    @property
    def codes(self) -> Tensor:
        """Most probable hidden votes (…, d), -1 for no vote."""
        return self.log_q.argmax(-1).masked_fill(~self.cast, -1)


def weigh(soft: Tensor, weights: Tensor, temper: float = TEMPER) -> Evidence:
    """Return the evidence of soft votes, in logs to avoid underflow.

    There is no floor: a class of probability 0 stays impossible for that learner's hidden vote, which vetoes no label.

    Parameters
    ----------
    soft : (…, d, K)
        P, of any scale; zeros or NaN where there is no vote.
    weights : (d,)
        w, positive.
    temper : float
        γ.
    """
    soft = soft.nan_to_num(0.0)
    cast = soft.amax(-1) > 0
    log_p = soft.log().masked_fill(~cast.unsqueeze(-1), 0.0)
    return Evidence((temper * weights.unsqueeze(-1) * log_p).log_softmax(-1), cast)


def learner_weights(votes: Votes) -> Floats:
    """Return w (d,), the weights of the weighted log-opinion pool, with mean 1.

    NaN for a learner without votes.
    """
    most = min(WEIGHED_ROWS, max(_WEIGHED_CELLS // (votes.n_learners * votes.n_classes), 1_000))
    voted = np.flatnonzero(votes.votes_per_row)
    some = votes.select_rows(voted[spread_rows(len(voted), most)])
    skills = log_pool(some, np.random.default_rng(0)).skills  # it uses no chance
    assert skills is not None  # noqa: S101  # for mypy: this pool always has weights
    return skills


@dataclass(frozen=True)
class SoftRows:
    """Rows of soft votes, turned into evidence when needed.

    So no copy of all of them is held, unless a GPU is to have them at hand.

    Attributes
    ----------
    soft : (n, d, K) float32
        All rows.
    where : (m,) int
        Those meant.
    weights : (d,)
        w; its device is where evidence is made.
    table : (m, d, K) Tensor, optional
        The rows meant, on that device.
    """

    soft: NDArray[np.float32]
    where: NDArray[np.intp]
    weights: Tensor
    table: Tensor | None = None

    def resident(self) -> SoftRows:
        """Return the same rows, held on the device."""
        return replace(self, table=torch.as_tensor(self.soft[self.where], device=self.weights.device))

    def evidence(self, rows: Tensor) -> Evidence:
        """Return the evidence (…, d, K) of rows (…,), as positions in ``where``."""
        if self.table is not None:
            return weigh(self.table[rows], self.weights)
        chosen = self.soft[self.where[rows.cpu().numpy()]]
        return weigh(torch.as_tensor(chosen, device=self.weights.device), self.weights)
