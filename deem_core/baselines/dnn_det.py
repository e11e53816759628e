"""DNN, deterministic: rows pass the stacked RBMs (`stacked_rbm`) with hidden probabilities rounded to 0 or 1.

p_nk is the top unit's probability for class k; the posterior is p_nk / Σ_l p_nl, ties to the lowest class. When it
stops is said in `stacked_rbm`.
"""

from __future__ import annotations

import numpy as np

from deem_core.baselines import stacked_rbm
from deem_core.baselines.contract import Aggregate, Stop, never
from deem_core.votes import Votes


def aggregate(votes: Votes, rng: np.random.Generator, *, stop: Stop = never) -> Aggregate:
    """Train the stacks and pass every row once; ``rng`` draws weights, batches and chains."""
    stack = stacked_rbm.train(votes, rng, stop)
    return stacked_rbm.finish(votes, stack, stacked_rbm.forward(stack, None))
