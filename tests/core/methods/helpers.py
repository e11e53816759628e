"""What the tests of the baselines share: small votes, and what holds for every method."""

from pathlib import Path

import numpy as np

from deem_core import Votes
from deem_core.methods import Aggregate


def make_votes(codes, n_classes, soft=None) -> Votes:
    codes = np.asarray(codes)
    return Votes(codes, np.arange(n_classes), [f"m{j}" for j in range(codes.shape[1])], soft=soft)


def random_votes(rng, n, d, n_classes, coverage=1.0) -> Votes:
    """Votes that are right with 70%, so that there is something to find."""
    truth = rng.integers(n_classes, size=(n, 1))
    codes = np.where(rng.random((n, d)) < 0.7, truth, rng.integers(n_classes, size=(n, d)))
    return make_votes(np.where(rng.random((n, d)) < coverage, codes, -1), n_classes)


def soften(rng, votes: Votes) -> Votes:
    """Soft votes whose most probable classes are the given ones."""
    soft = rng.dirichlet(np.ones(votes.n_classes), votes.codes.shape)
    soft += np.arange(votes.n_classes) == votes.codes[..., None]
    soft /= soft.sum(axis=-1, keepdims=True)
    return Votes.from_soft(np.where(votes.codes[..., None] < 0, 0, soft))


DEGENERATE = {
    "a class never voted for": make_votes([[0, 1, 0], [1, 1, 0], [0, 0, 0]], 4),
    "one class voted for": make_votes([[1, 1, 1], [1, 1, 1]], 3),
    "a learner with no votes": make_votes([[0, -1, 1], [1, -1, 1], [0, -1, 0]], 2),
    "K = 2": make_votes([[0, 1, 0], [1, 1, 0], [0, 0, 0]], 2),
    "one learner": make_votes([[0], [1], [1]], 2),
    "one row": make_votes([[0, 1, 1]], 3),
    "rows without votes": make_votes([[0, 1, 1], [-1, -1, -1], [0, 0, -1], [-1, -1, -1]], 2),
    "no votes at all": make_votes([[-1, -1, -1]], 3),
    "perfect disagreement": make_votes([[0, 1, 2], [1, 2, 0], [2, 0, 1]], 3),
    "rules that know one class each": make_votes(
        np.where(np.random.default_rng(0).random((60, 5)) < (0.3, 0.2, 0.3, 0.2, 0), (0, 1, 0, 1, 1), -1), 2
    ),
}


def check_sound(made: Aggregate, votes: Votes) -> None:
    """Assert what holds for every method on every input."""
    assert made.posterior.shape == (votes.n_rows, votes.n_classes)
    assert made.posterior.dtype == np.float64
    assert np.isfinite(made.posterior).all()
    assert (made.posterior >= 0).all()
    np.testing.assert_allclose(made.posterior.sum(axis=1), 1, atol=1e-12)
    assert ((made.codes == -1) == (votes.votes_per_row == 0)).all()
    if made.psi is not None:
        assert made.psi.shape == (votes.n_learners, votes.n_classes, votes.n_classes)
        assert (made.psi > 0).all()
        np.testing.assert_allclose(made.psi.sum(axis=1), 1, atol=1e-12)
    if made.pi is not None:
        assert np.isclose(made.pi.sum(), 1)


def load(path: Path) -> tuple[Votes, np.ndarray]:
    """Votes and truth of a larger ensemble."""
    with np.load(path) as file:
        made = Votes(file["X"].astype(np.int32), np.arange(int(file["K"])), [str(name) for name in file["learners"]])
        return made, file["y"]
