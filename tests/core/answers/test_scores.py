"""Confidence says how sure a label is, and the review score finds the rows whose votes do not back it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deem_core import Votes, simulation
from deem_core.answers import scores as sure

VOTES = Votes.from_labels(
    [["a", "a", "b"], ["b", None, "b"], [None, None, None], ["c", None, None]],
    classes=["a", "b", "c"],
)
POSTERIOR = np.array([[0.7, 0.2, 0.1], [0.5, 0.5, 0.0], [np.nan] * 3, [0.0, 0.0, 1.0]])


def plain_review_score(votes: Votes, posterior: np.ndarray) -> np.ndarray:
    """Spell out the formula of the score, vote by vote."""
    n, d, K = votes.n_rows, votes.n_learners, votes.n_classes
    voted = [row for row in range(n) if votes.votes_per_row[row]]
    pi = [sum(posterior[row, m] for row in voted) + sure.PSEUDO_COUNT for m in range(K)]
    psi = np.full((d, K, K), sure.PSEUDO_COUNT)
    for row in voted:
        for i in range(d):
            if votes.codes[row, i] >= 0:
                psi[i, votes.codes[row, i]] += posterior[row]
    psi /= psi.sum(axis=1, keepdims=True)
    scores = np.full(n, np.nan)
    for row in voted:
        q = [pi[m] / sum(pi) for m in range(K)]
        for i in range(d):
            if votes.codes[row, i] >= 0:
                q = [q[m] * psi[i, votes.codes[row, i], m] for m in range(K)]
        scores[row] = math.log(q[int(np.argmax(posterior[row]))] / sum(q))
    return scores


def ensemble(n: int = 400, missing: float = 0.0, seed: int = 0) -> tuple[Votes, np.ndarray]:
    """Return votes and a posterior that is close to the truth, though not equal to it."""
    made = simulation.simulate("condind", n, seed, missing=missing)
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n, made.votes.n_classes)) + 3 * np.eye(made.votes.n_classes)[made.truth]
    return made.votes, np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)


# ---------------------------------------------------------------------- one number per row


def test_the_fused_class_is_the_most_probable_the_first_among_equals_and_none_without_votes():
    np.testing.assert_array_equal(sure.fused_codes(VOTES, POSTERIOR), [0, 0, -1, 2])


def test_confidence_is_the_largest_probability():
    np.testing.assert_array_equal(sure.confidence(POSTERIOR), [0.7, 0.5, np.nan, 1.0])
    assert sure.confidence(POSTERIOR.astype(np.float32)).dtype == np.float64


def test_entropy_is_zero_for_certainty_and_log_k_for_ignorance():
    np.testing.assert_allclose(sure.entropy(np.array([[1, 0, 0, 0], [0.25] * 4])), [0, math.log(4)])
    np.testing.assert_allclose(sure.entropy(np.array([[0.9, 0.1]], np.float32)), 0.325083, rtol=1e-5)
    assert np.isnan(sure.entropy(POSTERIOR)[2])


def test_agreement_counts_the_votes_cast():
    np.testing.assert_allclose(sure.agreement(VOTES, np.array([0, 1, -1, 0])), [2 / 3, 1, np.nan, 0])


def test_a_row_whose_label_was_taken_away_has_no_agreement():
    assert np.isnan(sure.agreement(VOTES, np.array([-1, -1, -1, -1]))).all()


# ---------------------------------------------------------------------- review score


@pytest.mark.parametrize("missing", [0.0, 0.6])
def test_the_review_score_equals_its_formula(missing):
    votes, posterior = ensemble(missing=missing)
    np.testing.assert_allclose(sure.review_score(votes, posterior), plain_review_score(votes, posterior), rtol=1e-9)


def test_chunks_do_not_change_the_numbers(monkeypatch):
    votes, posterior = ensemble(101, missing=0.3)
    whole = sure.review_score(votes, posterior), sure.entropy(posterior), sure.agreement(votes, votes.codes[:, 0])
    monkeypatch.setattr(sure, "_CHUNK_CELLS", 64)
    pieces = sure.review_score(votes, posterior), sure.entropy(posterior), sure.agreement(votes, votes.codes[:, 0])
    for one, other in zip(whole, pieces, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_scores_stay_finite_for_certain_posteriors_and_classes_that_nobody_gets():
    votes = Votes.from_labels([["a", "b"], ["b", "a"], ["a", "a"]] * 5, classes=["a", "b", "c"])
    certain = np.tile([1.0, 0.0, 0.0], (15, 1))
    certain[1] = [0, 0, 1]  # a class that no learner voted for
    scores = sure.review_score(votes, certain)
    assert np.isfinite(scores).all()
    assert (scores <= 0).all()


def test_rows_without_votes_have_no_score_and_do_not_move_the_others():
    votes, posterior = ensemble(60)
    codes = np.vstack([votes.codes[:30], np.full((1, votes.n_learners), -1), votes.codes[30:]])
    more = Votes(codes, votes.classes, votes.learners)
    padded = np.vstack([posterior[:30], np.full((1, votes.n_classes), np.nan), posterior[30:]])
    scores = sure.review_score(more, padded)
    assert np.isnan(scores[30])
    np.testing.assert_allclose(np.delete(scores, 30), sure.review_score(votes, posterior))


def test_wrong_labels_score_low():
    made = simulation.simulate("condind", 2000, 1)
    K = made.votes.n_classes
    rng = np.random.default_rng(1)
    wrong = rng.random(2000) < 0.05
    labels = np.where(wrong, (made.truth + 1 + rng.integers(0, K - 1, 2000)) % K, made.truth)
    scores = sure.review_score(made.votes, np.eye(K)[labels])
    lowest = np.argsort(scores)[:200]
    assert wrong[lowest].sum() > 0.8 * wrong.sum()


def test_votes_that_nobody_cast_have_no_score():
    votes = Votes(np.full((3, 2), -1), np.array(["a", "b"], object), ("x", "y"))
    assert np.isnan(sure.review_score(votes, np.full((3, 2), 0.5))).all()
