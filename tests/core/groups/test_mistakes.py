"""Shared mistakes against their definition."""

import numpy as np
import pytest

from deem_core.groups import mistakes
from deem_core.groups.mistakes import PairSample, SharedMistakes, shared_mistakes
from deem_core.simulation import condind
from tests.core.groups.helpers import table


def measured(votes, seed=0):
    return shared_mistakes(votes, PairSample.of(votes, np.random.default_rng(seed)))


def slow_rho(codes, K, i, j):
    """The definition, row by row; None where it says nothing."""
    seen = []
    for row in codes:
        others = np.bincount([row[k] for k in range(len(row)) if k not in (i, j) and row[k] >= 0], minlength=K)
        if row[i] >= 0 and row[j] >= 0 and (others == others.max()).sum() == 1:
            seen.append((row[i] != others.argmax(), row[j] != others.argmax()))
    if len(seen) < 30:
        return None
    one, other = np.array(seen).T
    return None if one.std() == 0 or other.std() == 0 else np.corrcoef(one, other)[0, 1]


@pytest.mark.parametrize("missing", [0, 0.4, 0.8])
@pytest.mark.parametrize(("d", "K"), [(3, 2), (5, 3), (6, 9)])
def test_equals_the_definition(d, K, missing):
    rng = np.random.default_rng(d)
    truth = rng.integers(K, size=(300, 1))
    codes = np.where(rng.random((300, d)) < 0.5, truth, rng.integers(K, size=(300, d)))
    codes[:, 1] = np.where(rng.random(300) < 0.6, codes[:, 0], codes[:, 1])
    codes = np.where(rng.random((300, d)) < missing, -1, codes)
    found = measured(table(codes, K)).matrix()
    both = (codes >= 0).astype(int)
    for i in range(d):
        for j in range(i + 1, d):
            slow = slow_rho(codes, K, i, j) if both[:, i] @ both[:, j] >= 30 else None
            assert found[i, j] == pytest.approx(np.nan if slow is None else slow, nan_ok=True, abs=1e-9)


def test_two_copies_stand_first_among_independent_learners():
    votes = condind(3000, rng=np.random.default_rng(0), n_learners=6, n_informative=6).votes
    codes = np.column_stack([votes.codes, votes.codes[:, 2]])
    best = measured(table(codes, votes.n_classes)).top(1)[0]
    assert {best.first, best.second} == {"m2", "m6"}


def test_one_common_mistake_is_no_sure_pair():
    rho, rows, mistaken = np.array([1.0, 0.6]), np.array([30, 900]), np.array([1, 400])
    found = SharedMistakes(("a", "b", "c"), np.array([[0, 1], [0, 2]]), rho, rows, mistaken, 2)
    assert found.top(1)[0].second == "c"
    assert found.mean == pytest.approx((30 + 0.6 * 900) / 930)


def test_few_common_rows_say_nothing_and_nothing_is_nan():
    codes = np.full((100, 4), -1)
    codes[:29, :3] = 1
    found = measured(table(codes, 2))
    assert found.mean is None
    assert found.top() == ()
    assert "cannot be measured" in found.sentence


def test_pairs_and_rows_beyond_the_limits_are_drawn(monkeypatch):
    votes = condind(2000, rng=np.random.default_rng(0)).votes
    monkeypatch.setattr(mistakes, "MAX_PAIRS", 10)
    monkeypatch.setattr(mistakes, "MAX_VOTES", 15 * 500)
    sample = PairSample.of(votes, np.random.default_rng(0))
    assert len(sample.rows) == 500
    assert len(sample.pairs) == 10
    assert sample.n_pairs == 105
    found = shared_mistakes(votes, sample)
    assert "of 10 pairs drawn" in found.sentence
    np.testing.assert_array_equal(found.rho, measured(votes).rho)  # the same draw
