"""DNN, stochastic: rows pass the stacked RBMs (`stacked_rbm`) 100 times with hidden units drawn.

p_nk is the mean of the top unit's probability for class k over the passes; the posterior is p_nk / Σ_l p_nl, ties to
the lowest class. When it stops is said in `stacked_rbm`; if it is cut, fewer passes are drawn, but at least one.
"""

from __future__ import annotations

import numpy as np

from deem_core.baselines import stacked_rbm
from deem_core.baselines.contract import Aggregate, Stop, never
from deem_core.votes import Votes

PASSES = 100


def aggregate(votes: Votes, rng: np.random.Generator, *, stop: Stop = never) -> Aggregate:
    """Train the stacks and average 100 drawn passes; ``rng`` draws weights, batches, chains and passes."""
    stack = stacked_rbm.train(votes, rng, stop)
    top, passes = stacked_rbm.forward(stack, rng), 1
    while passes < PASSES and len(stack.layers) > 1 and not stop():
        top += stacked_rbm.forward(stack, rng)
        passes += 1
    return stacked_rbm.finish(votes, stack, top / passes)
