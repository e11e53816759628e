"""Reliability: accuracy of learners without truth and with it, the ceiling, and who goes with whom."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import pearsonr

from deem_core import Answer, InputError, Votes, simulation
from deem_core.diagnostics.reliability import (
    any_learner_right,
    correlation,
    estimated_reliability,
    real_reliability,
)
from deem_core.votes.agreement import MIN_COMMON_ROWS

VOTES = Votes.from_labels(
    [["a", "b", None], ["a", None, None], ["b", "b", None], ["a", "a", None]],
    classes=["a", "b"],
    learners=["x", "y", "z"],
    truth=["a", "b", "c", None],
)


def test_accuracy_without_truth_is_the_mean_probability_of_the_votes():
    posterior = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [1.0, 0.0]])
    found = estimated_reliability(Answer(VOTES, posterior))
    np.testing.assert_allclose(found.accuracy, [(0.9 + 0.6 + 0.8 + 1) / 4, (0.1 + 0.8 + 1) / 3, np.nan])
    np.testing.assert_array_equal(found.rows, [4, 3, 0])
    assert found.to_frame().columns.tolist() == ["learner", "estimated_accuracy", "low", "high", "rows"]


def test_a_label_that_nobody_votes_for_counts_as_wrong():
    found = real_reliability(VOTES)
    np.testing.assert_allclose(found.accuracy, [1 / 3, 0, np.nan])
    np.testing.assert_array_equal(found.rows, [3, 2, 0])
    assert any_learner_right(VOTES) == pytest.approx(1 / 3)


def test_without_truth_nothing_is_called_real():
    for ask in (real_reliability, any_learner_right):
        with pytest.raises(InputError, match="no truth"):
            ask(VOTES.without_truth())


def test_the_ceiling_is_never_below_the_best_learner_or_the_majority():
    made = simulation.simulate("condind", 600, 0)
    majority = (made.votes.majority_vote.codes == made.truth).mean()
    assert any_learner_right(made.votes) >= max(majority, real_reliability(made.votes).accuracy.max())


def test_accuracy_without_truth_is_close_to_the_real_one(independent, layered):
    for case, most in ((independent, 0.01), (layered, 0.03)):
        estimated = estimated_reliability(case.model.fuse(case.votes))
        assert np.abs(estimated.accuracy - real_reliability(case.votes).accuracy).mean() < most


def test_correlation_of_two_classes_is_pearsons():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (200, 3))
    codes[:, 1] = np.where(rng.random(200) < 0.7, codes[:, 0], codes[:, 1])
    votes = Votes.from_labels(codes)
    fused = codes[:, 1]
    found = correlation(Answer(votes, np.eye(2)[fused]))
    columns = [*codes.T, fused]
    for i in range(4):
        for j in range(4):
            assert found.matrix[i, j] == pytest.approx(pearsonr(columns[i], columns[j])[0])
    assert found.with_consensus[1] == pytest.approx(1)


def test_correlation_is_taken_over_common_rows_and_does_not_depend_on_the_numbers_of_classes():
    made = simulation.simulate("condind", 500, 0, missing=0.4)
    posterior = np.eye(3)[made.truth]
    found = correlation(Answer(made.votes, posterior))
    codes = np.column_stack([made.votes.codes, made.truth])
    hot = np.where(codes[..., None] >= 0, np.eye(3)[codes], np.nan)
    for i, j in ((0, 1), (2, 5), (3, 15)):
        both = (codes[:, i] >= 0) & (codes[:, j] >= 0)
        a, b = (hot[both, at] - hot[both, at].mean(axis=0) for at in (i, j))
        assert found.matrix[i, j] == pytest.approx((a * b).sum() / np.sqrt((a**2).sum() * (b**2).sum()))
    swap = np.array([2, 0, 1])
    renamed = Votes(np.where(made.votes.codes < 0, -1, swap[made.votes.codes]), np.arange(3), made.votes.learners)
    np.testing.assert_allclose(correlation(Answer(renamed, np.eye(3)[swap[made.truth]])).matrix, found.matrix)


def test_good_learners_go_with_the_fused_label_and_guessers_do_not(independent):
    found = correlation(independent.model.fuse(independent.votes))
    assert found.names[-1] == "fused label"
    assert found.with_consensus[:4].min() > 0.4
    assert np.abs(found.with_consensus[4:]).max() < 0.1


def test_pairs_without_common_rows_have_no_correlation():
    codes = np.full((2 * MIN_COMMON_ROWS, 2), -1)
    codes[:MIN_COMMON_ROWS, 0] = [0, 1, 0, 1, 0]
    codes[MIN_COMMON_ROWS:, 1] = [0, 1, 0, 1, 0]
    votes = Votes(codes, np.arange(2), ("fused label", "b"))
    found = correlation(Answer(votes, np.eye(2)[np.tile([0, 1], 5)]))
    assert np.isnan(found.matrix[0, 1])
    assert found.names == ("fused label", "b", "fused label*")


@pytest.mark.slow
def test_learners_of_condind_and_mniste_are_judged_within_the_measured_errors(condind, mniste):
    for case, most in ((condind, 0.01), (mniste, 0.03)):
        estimated = estimated_reliability(case.model.fuse(case.votes))
        assert np.abs(estimated.accuracy - real_reliability(case.votes).accuracy).mean() < most
