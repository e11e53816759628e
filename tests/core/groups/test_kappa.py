"""Conditional kappa against its definition."""

import numpy as np
import pytest

from deem_core import Votes
from deem_core.groups.kappa import conditional_kappa
from deem_core.simulation import condind
from tests.core.groups.helpers import noisy_copies, table


def slow_kappa(codes, K):
    """The definition, pair by pair and row by row."""
    d = codes.shape[1]
    kappa = np.eye(d)
    for i in range(d):
        for j in range(i + 1, d):
            seen = []
            for row in codes:
                others = [row[other] for other in range(d) if other not in (i, j) and row[other] >= 0]
                if others and row[i] >= 0 and row[j] >= 0:
                    seen.append((np.bincount(others, minlength=K).argmax(), row[i], row[j]))
            if len(seen) < 30:
                kappa[i, j] = kappa[j, i] = 0
                continue
            m, x_i, x_j = np.array(seen).T
            g, e = (x_i == x_j).mean(), 0.0
            for given in np.unique(m):
                rows = m == given
                e += rows.mean() * sum((x_i[rows] == k).mean() * (x_j[rows] == k).mean() for k in np.unique(x_i))
            kappa[i, j] = kappa[j, i] = (g - e) / (1 - e) if e < 1 - 1e-12 else 0
    return kappa


def correlated(rng, n, d, K, missing):
    truth = rng.integers(K, size=(n, 1))
    codes = np.where(rng.random((n, d)) < 0.6, truth, rng.integers(K, size=(n, d)))
    codes[:, 1] = np.where(rng.random(n) < 0.8, codes[:, 0], codes[:, 1])
    return np.where(rng.random((n, d)) < missing, -1, codes)


class TestConditionalKappa:
    @pytest.mark.parametrize("missing", [0, 0.3, 0.7])
    @pytest.mark.parametrize(("d", "K"), [(3, 2), (4, 3), (7, 4), (6, 40)])
    def test_equals_the_definition(self, d, K, missing):
        rng = np.random.default_rng(d)
        codes = correlated(rng, 150, d, K, missing)
        np.testing.assert_allclose(conditional_kappa(table(codes, K), rng), slow_kappa(codes, K), atol=1e-12)

    @pytest.mark.parametrize("missing", [0, 0.3])
    def test_sorting_equals_counting(self, missing, monkeypatch):
        rng = np.random.default_rng(0)
        votes = table(correlated(rng, 400, 6, 5, missing), 5)
        counted = conditional_kappa(votes, rng)
        monkeypatch.setattr("deem_core.groups.kappa._DENSE_CELLS", 0)
        np.testing.assert_allclose(conditional_kappa(votes, rng), counted, atol=1e-12)

    def test_many_classes_equal_the_definition(self):
        rng = np.random.default_rng(1)
        codes = correlated(rng, 60, 5, 1000, 0.1)
        np.testing.assert_allclose(conditional_kappa(table(codes, 1000), rng), slow_kappa(codes, 1000), atol=1e-12)

    def test_identical_learners_have_one_and_independent_ones_about_zero(self):
        votes = condind(5_000, rng=np.random.default_rng(0), n_learners=8).votes
        twice = Votes(np.hstack([votes.codes, votes.codes[:, [7]]]), votes.classes, (*votes.learners, "again"))
        kappa = conditional_kappa(twice, np.random.default_rng(0))
        assert kappa[7, 8] == pytest.approx(1)
        assert np.abs(kappa[4:7, 4:7][~np.eye(3, dtype=bool)]).max() < 0.05

    def test_learners_that_the_others_explain_have_zero(self):
        codes = np.random.default_rng(0).integers(2, size=(100, 1)).repeat(5, axis=1)
        assert conditional_kappa(table(codes), np.random.default_rng(0)).tolist() == np.eye(5).tolist()

    def test_pairs_with_few_common_rows_have_zero(self):
        codes = np.random.default_rng(0).integers(3, size=(100, 1)).repeat(4, axis=1)
        codes[:, 2:] = np.random.default_rng(1).integers(3, size=(100, 2))
        codes[29:, 1] = -1
        assert conditional_kappa(table(codes), np.random.default_rng(0))[0, 1] == 0
        codes[29, 1] = codes[29, 0]
        assert conditional_kappa(table(codes), np.random.default_rng(0))[0, 1] > 0.9

    def test_a_sample_of_rows_comes_near(self):
        votes = noisy_copies(0, n=20_000)
        sampled = conditional_kappa(votes, np.random.default_rng(0), max_rows=4_000)
        again = conditional_kappa(votes, np.random.default_rng(0), max_rows=4_000)
        full = conditional_kappa(votes, np.random.default_rng(0), max_rows=20_000)
        assert (sampled == again).all()
        assert 0 < np.abs(sampled - full).max() < 0.1

    def test_two_learners_or_no_rows_have_nothing_to_go_by(self):
        rng = np.random.default_rng(0)
        assert conditional_kappa(table(np.zeros((50, 2), int)), rng).tolist() == [[1, 0], [0, 1]]
        assert conditional_kappa(table(np.zeros((0, 3), int)), rng).tolist() == np.eye(3).tolist()
