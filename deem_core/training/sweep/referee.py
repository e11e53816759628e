"""Referee: what the grouped model makes of a candidate's labels.

Where a latent tree of label, groups and learners explains the votes, its posterior tells good labels from bad ones
without truth. The grouped likelihood of labels is their mean log-probability under it: 0 if it is sure of all of them.
Where no such model fits it tells nothing, and there is no referee (docs/learning_rate.md has the measurements).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from deem_core.groups.latent_tree import GroupedModel
from deem_core.typing import Floats, Integers

LEAST_PROBABILITY = 1e-4
"""Smaller probabilities count as this, so that no single row decides."""


@dataclass(frozen=True, eq=False)
class Referee:
    """Log-probabilities of the classes on the measured rows.

    Attributes
    ----------
    log_posterior : (m, K)
        log Pr(class | votes) by the grouped model.
    """

    log_posterior: Floats

    @classmethod
    def of(cls, tree: GroupedModel, codes: Integers) -> Self:
        """Return the referee of some rows.

        ``codes`` (m, d) are of the learners that the tree was fitted to.
        """
        lifted = np.maximum(tree.posterior(codes), LEAST_PROBABILITY)
        return cls(np.log(lifted / lifted.sum(axis=1, keepdims=True)))

    def __call__(self, labels: Integers) -> float:
        """Return the grouped likelihood of labels (m,), in nats per row."""
        return float(self.log_posterior[np.arange(len(labels)), labels].mean()) if len(labels) else 0.0
