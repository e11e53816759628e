"""Agreement between learners, against the definitions pair by pair and row by row."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import cohen_kappa_score

from deem_core import InputError, Votes
from deem_core.diagnostics.checkup.chance import chance_test
from deem_core.simulation import condind
from deem_core.votes.agreement import clustered_order, pair_agreement, row_agreement
from deem_core.votes.intervals import wilson


def table(codes, n_classes=3):
    codes = np.asarray(codes)
    return Votes(codes, np.arange(n_classes), [f"m{j}" for j in range(codes.shape[1])])


def drawn(n=200, d=6, K=4, missing=0.0, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(K, size=(n, 1))
    codes = np.where(rng.random((n, d)) < 0.6, truth, rng.integers(K, size=(n, d)))
    return table(np.where(rng.random((n, d)) < missing, -1, codes), K)


class TestPairs:
    @pytest.mark.parametrize("missing", [0.0, 0.4, 0.95])
    def test_every_pair_is_compared_on_its_common_rows(self, missing):
        votes = drawn(missing=missing)
        result = pair_agreement(votes, min_common=3)
        for i in range(6):
            for j in range(6):
                a, b = votes.codes[:, i], votes.codes[:, j]
                both = (a >= 0) & (b >= 0)
                assert result.common[i, j] == both.sum()
                if i == j:
                    assert result.share[i, j] == 1
                elif both.sum() < 3:
                    assert np.isnan(result.share[i, j])
                else:
                    assert result.share[i, j] == pytest.approx((a[both] == b[both]).mean())

    def test_two_missing_votes_are_no_agreement(self):
        votes = table([[0, 0], [1, 2], [-1, -1], [-1, 0]])
        result = pair_agreement(votes, min_common=1)
        assert result.share[0, 1] == 0.5
        assert result.common.tolist() == [[2, 2], [2, 3]]

    def test_pairs_that_hardly_meet_have_no_number(self):
        result = pair_agreement(table([[0, 0, -1]] * 4 + [[0, -1, 0]] * 5))
        assert np.isnan(result.share[0, 1])
        assert np.isnan(result.share[1, 2])
        assert result.share[0, 2] == 1

    def test_a_thousand_classes_and_a_silent_learner(self):
        votes = drawn(K=1000)
        codes = np.column_stack([votes.codes, np.full(200, -1)])
        share = pair_agreement(table(codes, 1000)).share
        np.testing.assert_array_equal(share[:6, :6], pair_agreement(votes).share)
        assert np.isnan(share[6, :6]).all()
        assert share[6, 6] == 1

    def test_large_tables_are_judged_on_evenly_spread_rows(self):
        votes = drawn(n=1000)
        whole, part = pair_agreement(votes), pair_agreement(votes, max_comparisons=21 * 500)
        assert not whole.sampled
        assert part.sampled
        assert (part.rows_used, part.n_rows) == (500, 1000)
        np.testing.assert_allclose(part.share, whole.share, atol=0.1)

    def test_renaming_labels_changes_nothing(self):
        votes = drawn(missing=0.2)
        turned = table(np.where(votes.codes < 0, -1, np.array([2, 0, 3, 1])[votes.codes]), 4)
        np.testing.assert_array_equal(pair_agreement(votes).share, pair_agreement(turned).share)


class TestOrder:
    def test_near_copies_stand_side_by_side(self):
        rng = np.random.default_rng(1)
        base = rng.integers(3, size=(500, 4))
        of = np.array([0, 1, 2, 3] * 3)
        codes = np.where(rng.random((500, 12)) < 0.1, rng.integers(3, size=(500, 12)), base[:, of])
        order = pair_agreement(table(codes)).order
        assert sorted(order.tolist()) == list(range(12))
        families = of[order]
        assert (np.diff(families) != 0).sum() == 3

    @pytest.mark.parametrize("d", [0, 1, 2, 3, 7])
    def test_it_is_a_permutation_even_where_nothing_is_known(self, d):
        share = np.full((d, d), np.nan)
        np.fill_diagonal(share, 1)
        assert sorted(clustered_order(share).tolist()) == list(range(d))

    def test_a_correlation_a_hair_above_one_is_in_order(self):
        share = np.array([[1, 1 + 1e-12, 0.2], [1 + 1e-12, 1, 0.2], [0.2, 0.2, 1]])
        assert sorted(clustered_order(share).tolist()) == [0, 1, 2]

    def test_a_table_that_is_not_square_is_refused(self):
        with pytest.raises(InputError, match="square"):
            clustered_order(np.ones((3, 4)))


class TestRows:
    def test_rows_are_counted_by_the_size_of_the_winning_group(self):
        votes = table([[0, 0, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1], [0, 1, 2, -1], [-1, -1, -1, 2], [-1] * 4])
        rows = row_agreement(votes)
        assert rows.by_size.tolist() == [1, 2, 1, 1, 1]
        # All agree once; 2 of 4 end the bin up to 50%, 3 of 4 are in 70–80%, 1 of 3 is in 30–40%.
        assert rows.by_share.tolist() == [0, 0, 0, 1, 1, 0, 0, 1, 0, 0, 1]
        assert (rows.n_rows, rows.n_silent, rows.n_single, rows.complete) == (6, 1, 1, False)

    def test_every_row_is_counted_once(self):
        votes = drawn(missing=0.5)
        rows = row_agreement(votes)
        assert rows.by_size.sum() == rows.n_rows == 200
        assert rows.by_share.sum() == 200 - rows.n_silent - rows.n_single
        assert rows.by_share[-1] == votes.unanimous.sum()
        assert row_agreement(drawn()).complete


class TestChance:
    def test_kappa_is_cohens_with_the_majority_of_the_others(self):
        votes = drawn(missing=0.2)
        result = chance_test(votes)
        for i in range(votes.n_learners):
            pairs = []
            for row in votes.codes:
                others = np.delete(row, i)
                counts = np.bincount(others[others >= 0], minlength=4)
                if row[i] >= 0 and (counts == counts.max()).sum() == 1:
                    pairs.append((row[i], counts.argmax()))
            own, majority = np.array(pairs).T
            assert result.rows[i] == len(own)
            assert result.observed[i] == pytest.approx((own == majority).mean())
            assert result.kappa[i] == pytest.approx(cohen_kappa_score(own, majority))

    def test_the_error_is_that_of_independent_learners(self):
        rng = np.random.default_rng(0)
        tests = [chance_test(table(rng.choice(3, (300, 3), p=[0.6, 0.3, 0.1]))) for _ in range(300)]
        kappa, error = np.array([t.kappa[0] for t in tests]), np.mean([t.error[0] for t in tests])
        assert abs(kappa.mean()) < 3 * error / np.sqrt(300)
        assert kappa.std() == pytest.approx(error, rel=0.12)

    def test_renaming_labels_changes_nothing(self):
        votes = drawn(missing=0.2)
        turned = table(np.where(votes.codes < 0, -1, np.array([2, 0, 3, 1])[votes.codes]), 4)
        np.testing.assert_allclose(chance_test(votes).kappa, chance_test(turned).kappa)

    def test_nothing_to_judge_by_is_not_a_number(self):
        result = chance_test(table([[0, 0, -1], [0, 0, -1], [0, 0, -1]]))
        assert np.isnan(result.kappa).all()
        assert result.rows.tolist() == [3, 3, 0]

    def test_few_of_many_rows_tell_the_same(self):
        votes = condind(30_000, rng=np.random.default_rng(0)).votes
        part = chance_test(votes, max_rows=10_000)
        assert (part.rows_used, part.n_rows) == (10_000, 30_000)
        np.testing.assert_allclose(part.kappa, chance_test(votes, max_rows=30_000).kappa, atol=0.03)


@pytest.mark.parametrize(("right", "n"), [(0, 5), (5, 5), (3, 7), (840, 1000)])
def test_intervals_are_wilsons(right, n):
    expected = binomtest(right, n).proportion_ci(method="wilson")
    np.testing.assert_allclose(wilson([right / n], [n])[:, 0], [expected.low, expected.high], atol=1e-12)


def test_a_share_of_nothing_has_no_interval():
    assert np.isnan(wilson([np.nan, 0.5], [3, 0])).all()
