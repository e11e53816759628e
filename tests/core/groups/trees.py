"""Latent trees of a few learners, and their sums done by enumeration."""

import itertools

import numpy as np

from deem_core.groups.latent_tree import GroupedModel
from deem_core.votes import NO_VOTE


def random_tree(rng, n_learners, n_classes, groups):
    """Draw a tree whose parameters are all positive."""
    K = n_classes
    pi = rng.dirichlet(np.full(K, 2.0))
    A = np.stack([columns(rng, K) for _ in groups]) if groups else np.empty((0, K, K))
    B = np.stack([columns(rng, K) for _ in range(n_learners)])
    return GroupedModel(pi, groups, A, B)


def columns(rng, K):
    return (rng.dirichlet(np.full(K, 0.7), K) + 2 * np.eye(K)).T / 3


def random_codes(rng, n_rows, n_learners, n_classes, missing=0.3):
    codes = rng.integers(n_classes, size=(n_rows, n_learners)).astype(np.int32)
    codes[rng.random(codes.shape) < missing] = NO_VOTE
    return codes


def joint(model, row):
    """Return Pr(Y = y, Z_1 = z_1, …, votes), an axis for each latent, Y first."""
    K, G = model.n_classes, len(model.groups)
    above = {i: 1 + g for g, group in enumerate(model.groups) for i in group}
    table = np.zeros((K,) * (1 + G))
    for states in itertools.product(range(K), repeat=1 + G):
        p = model.pi[states[0]]
        for g in range(G):
            p *= model.A[g][states[1 + g], states[0]]
        for i, vote in enumerate(row):
            if vote != NO_VOTE:
                p *= model.B[i][vote, states[above.get(i, 0)]]
        table[states] = p
    return table


def enumerated_likelihood(model, codes):
    """Return log Pr(votes) of each row, (n,)."""
    return np.array([np.log(joint(model, row).sum()) for row in codes])


def enumerated_posterior(model, codes, latent):
    """Return Pr(latent | votes), (n, K)."""
    axis = 1 + latent  # ROOT is -1
    rows = []
    for row in codes:
        table = joint(model, row)
        rows.append(table.sum(axis=tuple(a for a in range(table.ndim) if a != axis)) / table.sum())
    return np.array(rows)
