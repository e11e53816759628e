"""Votes that the tests of groups and of the near-copy guard share."""

import numpy as np

from deem_core import Votes
from deem_core.simulation import condind, copies_with_noise


def table(codes, n_classes=3, **fields):
    codes = np.asarray(codes)
    learners = fields.pop("learners", [f"m{j}" for j in range(codes.shape[1])])
    return Votes(codes, np.arange(n_classes), learners, **fields)


def noisy_copies(seed, n=8_000):
    """CondInd beside two more copies of its first noise learner, each with 5% of its votes replaced."""
    rng = np.random.default_rng(seed)
    base = condind(n, rng=rng)
    at = base.votes.learners.index("noise_1")
    copied = copies_with_noise(base, 2, rng=rng, noise=0.05).votes.select_learners(["noise_1_1", "noise_1_2"])
    learners = (*base.votes.learners, *copied.learners)
    assert (copied.codes == base.votes.codes[:, [at]]).mean() > 0.95
    return Votes(np.hstack([base.votes.codes, copied.codes]), base.votes.classes, learners)
