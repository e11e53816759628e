"""Exact fit of the iRBM without layers: maximum likelihood, no sampler, no learning rate.

By Lemma 1 the iRBM and the Dawid-Skene model are one family of laws in two coordinates, so the maximum of one
likelihood is the maximum of the other. EM climbs it in Dawid-Skene's coordinates, where each step is exact; the
result is brought back to the iRBM's. (A test checks that the exact gradient in these coordinates vanishes there.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from deem_core.baselines import dawid_skene
from deem_core.model import Model, from_dawid_skene
from deem_core.votes import Votes

SMALLEST = 1e-12
"""Probabilities below this are lifted to it: a class that EM has emptied would have a weight of minus infinity."""


@dataclass(frozen=True)
class ExactFit:
    """A fitted iRBM.

    Attributes
    ----------
    model : Model
        R = 1, float64.
    log_likelihood : float
        Mean over the rows with votes.
    iterations : int
    converged : bool
    """

    model: Model
    log_likelihood: float
    iterations: int
    converged: bool


def fit_exact(
    votes: Votes,
    tolerance: float = dawid_skene.CONVERGED_TOLERANCE,
    max_iterations: int = dawid_skene.CONVERGED_MAX_ITERATIONS,
) -> ExactFit:
    """Maximise the exact likelihood of the iRBM, from the vote shares."""
    unused = np.random.default_rng(0)  # EM's start is fixed
    found = dawid_skene.aggregate(votes, unused, tolerance=tolerance, max_iterations=max_iterations)
    psi, pi = (torch.as_tensor(np.maximum(np.asarray(array), SMALLEST))[None] for array in (found.psi, found.pi))
    likelihood = float("nan") if found.log_likelihood is None else found.log_likelihood
    return ExactFit(from_dawid_skene(psi, pi), likelihood, found.iterations, found.converged)
