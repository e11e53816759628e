"""LA, two passes: abilities from one pass over the rows, labels from a second one (Yang et al., 2024).

With the abilities a (d,) that `la_one_pass` ends with,

    y_n = argmax_k Σ_{i ∈ V_n} (K·a_i − 1) 1[x_ni = k]

and the posterior softmax_k( K/(K − 1) · the same sums ), as in `weighted_majority`. It ends after the second pass; if
the first is cut, the abilities reached so far serve. Ties go to the lowest class (the reference starts its maximum at
−1, so that a class that weighs less can never win; here it can).
"""

from __future__ import annotations

import numpy as np

from deem_core.baselines.contract import Aggregate, Stop, fill_silent_rows, never, silence_notes
from deem_core.baselines.la_one_pass import abilities, one_pass, pass_notes
from deem_core.baselines.tally import normalise_logs
from deem_core.baselines.weighted_majority import class_scores
from deem_core.votes import Votes


def aggregate(votes: Votes, rng: np.random.Generator, *, stop: Stop = never) -> Aggregate:
    """Label every row by the abilities of a first pass, whose order ``rng`` draws. ``skills`` are those."""
    voted = votes.votes_per_row > 0
    done = one_pass(votes, rng, stop)
    scores = class_scores(votes, done.ability)
    scores *= votes.n_classes / (votes.n_classes - 1)
    normalise_logs(scores)
    fill_silent_rows(scores, voted)
    return Aggregate(
        posterior=scores,
        voted=voted,
        iterations=2,
        converged=not done.cut,
        cut=done.cut,
        skills=abilities(votes, done),
        notes=pass_notes(done) + silence_notes(voted),
    )
