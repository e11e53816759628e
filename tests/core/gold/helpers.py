"""Small panels with gold rows."""

import numpy as np

from deem_core.gold.field import Field
from deem_core.votes import Gold, Votes


def gold_of(truth, rows, *, asked=None, only=()):
    codes = np.full(len(truth), -1, np.int32)
    codes[rows] = np.asarray(truth)[rows]
    return Gold(codes, np.array(only, object), asked)


def field_of(codes, start, methods=None, **more):
    """A field of (n, d) codes with the given start and methods."""
    codes = np.asarray(codes, np.int32)
    votes = Votes(codes, np.arange(max(int(codes.max()) + 1, 2)), tuple(f"j{j}" for j in range(codes.shape[1])))
    made = {name: np.asarray(labels, np.int32) for name, labels in (methods or {}).items()}
    return Field(votes, "mv", np.asarray(start, np.int32), made, **more)


def panel(n=300, *, weak=8, strong=4, accuracy=(0.42, 0.85), shared=0.85, seed=0):
    """Two camps of judges; members mostly repeat their camp's opinion. Returns votes with truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    columns = []
    for size, right in ((weak, accuracy[0]), (strong, accuracy[1])):
        opinion = np.where(rng.random(n) < right, truth, 1 - truth)
        for _ in range(size):
            own = np.where(rng.random(n) < right, truth, 1 - truth)
            columns.append(np.where(rng.random(n) < shared, opinion, own))
    names = [*(f"weak{j}" for j in range(weak)), *(f"strong{j}" for j in range(strong))]
    return Votes(np.column_stack(columns).astype(np.int32), np.arange(2), tuple(names), truth=truth.astype(np.int32))
