"""Confusion matrices: estimated from any posterior, exact for an iRBM, real with truth, and held against true ones."""

from __future__ import annotations

import numpy as np
import pytest

from deem_core import Answer, InputError, Votes, simulation
from deem_core.diagnostics.confusion import (
    Confusion,
    estimated_confusion,
    exact_confusion,
    real_confusion,
    recovery,
)

VOTES = Votes.from_labels(
    [["a", "b"], ["a", None], [None, None], ["b", "b"]], classes=["a", "b"], truth=["a", "b", "a", "b"]
)
POSTERIOR = np.array([[0.75, 0.25], [0.5, 0.5], [np.nan, np.nan], [0.0, 1.0]])


def test_estimates_are_votes_weighted_by_the_posterior():
    found = estimated_confusion(Answer(VOTES, POSTERIOR))
    np.testing.assert_allclose(found.psi[0], [[1.0, 0.75 / 1.75], [0.0, 1 / 1.75]])  # vote, label
    np.testing.assert_allclose(found.psi[1], [[0.0, 0.0], [1.0, 1.0]])
    np.testing.assert_allclose(found.support, [[1.25, 1.75], [0.75, 1.25]])
    np.testing.assert_allclose(found.pi, [1.25 / 3, 1.75 / 3])


def test_one_learner_can_be_asked_for_alone():
    whole, alone = (
        estimated_confusion(Answer(VOTES, POSTERIOR)),
        estimated_confusion(Answer(VOTES, POSTERIOR), ["learner_2"]),
    )
    assert alone.learners == ("learner_2",)
    np.testing.assert_array_equal(alone.psi[0], whole.psi[1])
    np.testing.assert_array_equal(alone.pi, whole.pi)


def test_real_matrices_count_the_rows_with_truth():
    found = real_confusion(VOTES)
    np.testing.assert_allclose(found.psi[0], [[1.0, 0.5], [0.0, 0.5]])
    np.testing.assert_allclose(found.psi[1], [[0.0, 0.0], [1.0, 1.0]])
    np.testing.assert_allclose(found.accuracy, [2 / 3, 1 / 2])
    np.testing.assert_allclose(found.pi, [0.5, 0.5])
    with pytest.raises(InputError, match="no truth"):
        real_confusion(VOTES.without_truth())


def test_labels_that_never_occur_have_no_column_and_do_not_spoil_accuracy():
    votes = Votes.from_labels([["a"], ["a"]], classes=["a", "b"], truth=["a", "a"])
    found = real_confusion(votes)
    assert np.isnan(found.psi[0, :, 1]).all()
    assert found.accuracy[0] == 1.0


def test_a_certain_posterior_that_is_right_gives_the_real_matrices():
    made = simulation.simulate("condind", 500, 0, missing=0.3)
    certain = np.eye(3)[made.truth]
    np.testing.assert_allclose(estimated_confusion(Answer(made.votes, certain)).psi, real_confusion(made.votes).psi)


def test_the_exact_irbm_recovers_the_parameters_behind_the_votes(independent):
    found = recovery(independent.made.psi, independent.made.pi, exact_confusion(independent.model.parts_[0], [0, 1, 2]))
    np.testing.assert_array_equal(found.matched, [0, 1, 2])
    assert found.psi_error < 0.06  # a share of 1,333 rows is known to about 0.013
    assert found.pi_error < 0.02
    frame = found.to_frame()
    assert len(frame) == 10 * 9 + 3
    assert set(frame["parameter"]) == {"psi", "pi"}


def test_exact_and_estimated_parameters_of_a_fitted_irbm_agree(independent):
    # at the maximum of the likelihood one more step changes nothing
    estimated = estimated_confusion(independent.model.fuse(independent.votes))
    exact = exact_confusion(independent.model.parts_[0], [0, 1, 2])
    np.testing.assert_allclose(estimated.psi, exact.psi, atol=2e-3)
    np.testing.assert_allclose(estimated.pi, exact.pi, atol=2e-3)
    np.testing.assert_allclose(estimated.accuracy, exact.accuracy, atol=3e-3)


def test_recovery_matches_classes_that_were_swapped():
    rng = np.random.default_rng(0)
    psi, pi = rng.dirichlet(np.ones(4), (5, 4)).transpose(0, 2, 1), rng.dirichlet(np.ones(4))
    swap = np.array([2, 0, 3, 1])
    learners, classes = tuple("abcde"), tuple("wxyz")
    found = recovery(psi, pi, Confusion("exact", learners, classes, psi[:, :, swap], pi[swap], np.zeros((5, 4))))
    assert found.psi_error == found.pi_error == 0
    np.testing.assert_array_equal(swap[found.matched], [0, 1, 2, 3])


def test_parameters_of_other_learners_are_refused(independent):
    exact = exact_confusion(independent.model.parts_[0], [0, 1, 2])
    with pytest.raises(InputError, match="same learners and classes"):
        recovery(np.ones((2, 3, 3)), np.ones(3), exact)


def test_layers_have_estimates_only(layered):
    with pytest.raises(InputError, match="estimated"):
        exact_confusion(layered.model.parts_[0], [0, 1, 2])
    estimated = estimated_confusion(layered.model.fuse(layered.votes))
    assert np.abs(estimated.psi - real_confusion(layered.votes).psi).max() < 0.12


def test_the_table_has_a_row_per_learner_vote_and_label():
    frame = estimated_confusion(Answer(VOTES, POSTERIOR)).to_frame()
    row = frame[(frame["learner"] == "learner_1") & (frame["vote"] == "a") & (frame["label"] == "b")].iloc[0]
    assert row["probability"] == pytest.approx(0.75 / 1.75)
    assert row["label_rows"] == 1.75


@pytest.mark.slow
def test_estimates_on_condind_are_close_to_the_real_matrices(condind):
    estimated = estimated_confusion(condind.model.fuse(condind.votes))
    assert np.abs(estimated.psi - real_confusion(condind.votes).psi).max() < 0.06
