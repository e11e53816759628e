"""Calibration: the surest rows are right most often, and one temperature mends what confidence promises too much."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax

from deem_core import InputError
from deem_core.answers.scores import margin
from deem_core.diagnostics import calibration
from deem_core.diagnostics.calibration import at_temperature, fit_temperature, reliability_curve, selective_accuracy

RNG = np.random.default_rng


def overconfident(n, temperature, seed=0, K=4):
    """Return posteriors that are too sharp by a known temperature, and truth drawn from the right ones."""
    rng = RNG(seed)
    logits = rng.normal(size=(n, K)) * 2
    honest = softmax(logits, axis=1)
    truth = np.array([rng.choice(K, p=row) for row in honest])
    return softmax(logits * temperature, axis=1), truth


def test_the_surest_share_comes_first():
    found = selective_accuracy(np.array([0.9, 0.8, 0.7, 0.6]), np.array([True, True, False, True]), points=5)
    np.testing.assert_allclose(found.share, [0.25, 0.5, 0.75, 1])
    np.testing.assert_allclose(found.accuracy, [1, 1, 2 / 3, 3 / 4])


def test_rows_with_equal_scores_count_by_their_mean_whatever_their_order():
    right = np.array([True, False, False, True])
    for order in ([0, 1, 2, 3], [1, 2, 0, 3]):
        found = selective_accuracy(np.ones(4), right[order], points=5)
        np.testing.assert_allclose(found.accuracy, 0.5)


def test_rows_without_a_score_are_left_out_and_none_at_all_is_refused():
    found = selective_accuracy(np.array([np.nan, 0.5]), np.array([False, True]))
    np.testing.assert_allclose(found.accuracy, 1)
    with pytest.raises(InputError, match="no row"):
        selective_accuracy(np.array([np.nan]), np.array([True]))


def test_the_calibration_error_is_the_gap_averaged_over_rows():
    confidence = np.array([0.95, 0.95, 0.55, 0.55])
    found = reliability_curve(confidence, np.array([True, False, True, False]), bins=10)
    assert found.error == pytest.approx((0.45 * 2 + 0.05 * 2) / 4)
    np.testing.assert_array_equal(np.flatnonzero(found.rows), [5, 9])
    assert found.accuracy[9] == 0.5
    assert np.isnan(found.confidence[0])


def test_certainty_and_none_at_all_fall_into_the_outer_bins():
    assert reliability_curve(np.array([0.0, 1.0]), np.array([False, True])).rows[[0, -1]].tolist() == [1, 1]


def test_a_known_temperature_is_found_and_mends_the_calibration():
    posterior, truth = overconfident(4_000, 3.0)
    found = fit_temperature(posterior, truth, rng=RNG(0))
    assert found.temperature == pytest.approx(3, rel=0.1)
    assert found.after.error < 0.3 * found.before.error
    assert found.log_loss_after < found.log_loss_before
    np.testing.assert_array_equal(found.apply(posterior).argmax(axis=1), posterior.argmax(axis=1))


def test_rows_are_judged_with_a_temperature_that_never_saw_them():
    posterior, truth = overconfident(500, 3.0)
    found = fit_temperature(posterior, truth, rng=RNG(0), folds=5)
    fold = RNG(0).permutation(500) % 5
    assert found.by_fold[2] == pytest.approx(calibration._best(posterior[fold != 2], truth[fold != 2]))
    assert len(set(found.by_fold.tolist())) == 5


def test_too_little_truth_is_refused_and_unknown_rows_do_not_count():
    posterior, truth = overconfident(1_000, 2.0)
    truth[199:] = -1
    with pytest.raises(InputError, match="199 rows with truth"):
        fit_temperature(posterior, truth, rng=RNG(0))
    truth[199] = 4  # a label that the model does not know: wrong, and nothing to fit on
    found = fit_temperature(posterior, truth, rng=RNG(0))
    assert found.n_rows == 200
    assert np.isfinite(found.log_loss_after)


def test_certain_posteriors_stay_finite():
    posterior = np.eye(3)[RNG(0).integers(0, 3, 300)]
    truth = np.where(RNG(1).random(300) < 0.8, posterior.argmax(axis=1), 0)
    assert np.isfinite(fit_temperature(posterior, truth, rng=RNG(0)).log_loss_after)
    np.testing.assert_allclose(at_temperature(posterior, 2.0).sum(axis=1), 1)


def test_the_margin_is_the_lead_over_the_next_class():
    np.testing.assert_allclose(margin(np.array([[0.7, 0.2, 0.1], [0.5, 0.5, 0.0]])), [0.5, 0])
    np.testing.assert_array_equal(margin(np.ones((2, 1))), 1)


@pytest.mark.slow
def test_a_temperature_mends_mniste(mniste):
    posterior = mniste.model.fuse_codes(mniste.votes.codes)
    found = fit_temperature(posterior, mniste.votes.truth, rng=RNG(0))
    assert found.after.error < 0.8 * found.before.error
