"""Fused votes in codes and in short: rows without votes have no label, and the truth is apart."""

from __future__ import annotations

import numpy as np
import pytest

from deem_core import Votes, fused
from deem_core.coding import code_truth

VOTES = Votes.from_labels(np.array([["x", "x", "x"], ["x", "x", "y"], ["y", "y", "x"], [None] * 3], object))
POSTERIOR = np.array([[0.4, 0.6], [0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])


def test_the_table_holds_codes_and_nothing_for_rows_without_votes():
    table = fused.code_table(VOTES, POSTERIOR).to_pydict()
    assert table["fused"] == [1, 0, 1, -1]
    assert table["majority"] == [0, 0, 1, -1]
    assert table["confidence"] == [pytest.approx(0.6), pytest.approx(0.9), pytest.approx(0.8), None]
    assert table["agreement"] == [0.0, pytest.approx(2 / 3), pytest.approx(2 / 3), None]
    assert table["p_1"][3] is table["entropy"][3] is None
    assert table["needs_review"] == [True, False, False, True]


def test_probabilities_are_left_out_where_classes_are_many():
    labels = np.array([[str(k)] * 3 for k in range(51)], object)
    names = fused.code_table(Votes.from_labels(labels), np.eye(51)).column_names
    assert names == ["fused", "confidence", "majority", "agreement", "entropy", "needs_review"]


def test_the_summary_counts_what_fusing_changed():
    found = fused.summarise(VOTES, POSTERIOR)
    assert (found["changed"], found["overruled"]) == (1, 1)
    assert found["class_shares"] == [pytest.approx(1 / 3), pytest.approx(2 / 3)]
    assert found["majority_shares"] == [pytest.approx(2 / 3), pytest.approx(1 / 3)]
    assert found["mean_confidence"] == pytest.approx((0.6 + 0.9 + 0.8) / 3)
    assert found["agreement"] == pytest.approx(2 / 3)


def test_evaluation_needs_truth_and_does_not_change_the_summary():
    assert fused.evaluate(VOTES, POSTERIOR) is None
    codes, only = code_truth(np.array(["y", "x", "y", None], object), VOTES.classes)
    known = Votes(VOTES.codes, VOTES.classes, VOTES.learners, VOTES.ids, codes, truth_only=only)
    found = fused.evaluate(known, POSTERIOR)
    assert found["accuracy"] == 1.0
    assert found["majority_vote_accuracy"] == pytest.approx(2 / 3)
    assert fused.summarise(known, POSTERIOR) == fused.summarise(VOTES, POSTERIOR)
