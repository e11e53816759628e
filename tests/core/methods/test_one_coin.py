import numpy as np
import pytest

from deem_core.methods import one_coin
from tests.core.methods.helpers import make_votes, random_votes

RNG = np.random.default_rng(0)


def test_accuracies_are_recovered():
    rng = np.random.default_rng(1)
    accuracy = np.array([0.9, 0.8, 0.7, 0.6, 0.25])
    truth = rng.choice(4, 20_000, p=[0.4, 0.3, 0.2, 0.1])
    wrong = (truth[:, None] + rng.integers(1, 4, (20_000, 5))) % 4
    votes = make_votes(np.where(rng.random((20_000, 5)) < accuracy, truth[:, None], wrong), 4)
    made = one_coin.aggregate(votes, RNG)
    np.testing.assert_allclose(made.skills, accuracy, atol=0.02)
    np.testing.assert_allclose(made.pi, [0.4, 0.3, 0.2, 0.1], atol=0.02)


def test_posterior_likelihood_and_confusions_fit_together():
    votes = random_votes(np.random.default_rng(2), 80, 5, 3, 0.8)
    made = one_coin.aggregate(votes, RNG)
    likelihood = 0.0
    for row in np.flatnonzero(votes.votes_per_row > 0):
        joint = made.pi.copy()
        for i, vote in enumerate(votes.codes[row]):
            if vote >= 0:
                joint *= made.psi[i, vote]
        np.testing.assert_allclose(made.posterior[row], joint / joint.sum(), atol=1e-9)
        likelihood += np.log(joint.sum())
    assert made.log_likelihood == pytest.approx(likelihood / (votes.votes_per_row > 0).sum())


def test_the_likelihood_never_falls(monkeypatch):
    votes = random_votes(np.random.default_rng(3), 300, 6, 3, 0.7)
    monkeypatch.setattr(one_coin, "SMOOTHING", 1e-12)
    monkeypatch.setattr(one_coin, "TOLERANCE", 0.0)
    found = []
    for steps in range(1, 15):
        monkeypatch.setattr(one_coin, "MAX_ITERATIONS", steps)
        found.append(one_coin.aggregate(votes, RNG).log_likelihood)
    assert (np.diff(found) >= -1e-10).all()


def test_large_confusion_matrices_are_not_written_out(monkeypatch):
    monkeypatch.setattr(one_coin, "MAX_PSI_CELLS", 10)
    assert one_coin.aggregate(random_votes(RNG, 20, 3, 3), RNG).psi is None
