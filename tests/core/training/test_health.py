import math

import numpy as np
import pytest

from deem_core import InputError
from deem_core.training.health import judge, restart_agreement, share_ratio, survivors_suffice


def rows(*counts):
    """Codes with so many rows of class 0, 1, …"""
    return np.repeat(np.arange(len(counts)), counts)


class TestShareRatio:
    def test_the_worst_class_counts(self):
        assert share_ratio(rows(150, 30, 120), rows(100, 100, 100), 3) == pytest.approx(0.3)

    def test_a_dead_class_is_zero(self):
        assert share_ratio(rows(200, 0, 100), rows(100, 100, 100), 3) == 0

    def test_rare_classes_do_not_count(self):
        assert share_ratio(rows(119, 100, 0), rows(100, 100, 19), 3) == pytest.approx(1)
        assert share_ratio(rows(120, 100, 0), rows(100, 100, 20), 3) == 0

    def test_a_class_that_majority_vote_never_predicts_does_not_count(self):
        assert share_ratio(rows(50, 50, 0), rows(50, 50, 0), 3) == 1

    def test_with_many_rare_classes_classes_are_counted(self):
        majority = np.arange(1000).repeat(10)
        assert share_ratio(majority % 820, majority, 1000) == pytest.approx(0.82)
        assert share_ratio(np.zeros(10_000, int), majority, 1000) == pytest.approx(0.001)

    def test_half_of_the_predicted_classes_suffice_for_shares(self):
        majority = rows(30, 30, 5, 5, 0, 0, 0, 0)  # four of eight classes are predicted, two by 20 rows
        predicted = rows(50, 10, 5, 5, 0, 0, 0, 0)
        assert share_ratio(predicted, majority, 8) == pytest.approx(1 / 3)
        majority = rows(30, 30, 5, 5, 5, 0, 0, 0)
        assert share_ratio(rows(50, 10, 5, 5, 5, 0, 0, 0), majority, 8) == 1

    def test_rows_without_votes_are_left_out(self):
        majority = np.append(rows(50, 50), np.full(1000, -1))
        predicted = np.append(rows(75, 25), np.ones(1000, int))
        assert share_ratio(predicted, majority, 2) == 0.5

    def test_without_votes_nothing_can_have_died(self):
        assert share_ratio(np.zeros(5, int), np.full(5, -1), 2) == 1


class TestAgreement:
    def test_is_the_mean_over_the_others(self):
        labels = np.array([[0, 0, 0, 0], [0, 0, 0, 1], [1, 1, 0, 0]])
        assert restart_agreement(labels).tolist() == [(0.75 + 0.5) / 2, (0.75 + 0.25) / 2, (0.5 + 0.25) / 2]

    def test_a_single_restart_has_none(self):
        assert np.isnan(restart_agreement(np.zeros((1, 4), int))).all()


class TestJudge:
    majority = rows(100, 100, 100)

    def labels(self, *shifts):
        """Majority vote with the first rows of every class moved to the next one."""
        made = np.tile(self.majority, (len(shifts), 1))
        for labels, shift in zip(made, shifts, strict=True):
            moved = np.arange(300) % 100 < shift
            labels[moved] = (labels[moved] + 1) % 3
        return made

    def test_healthy_restarts_are_kept_without_a_word(self):
        for verdict in judge(self.labels(1, 0, 2), self.majority, 3, [None] * 3):
            assert verdict.kept
            assert verdict.reason == ""
            assert not verdict.alarm
            assert not verdict.flagged
            assert verdict.share_ratio == 1
            assert verdict.agreement > 0.98

    def test_a_failed_restart_keeps_its_reason(self):
        labels = self.labels(0, 0, 0)
        labels[1] = -1
        failed = judge(labels, self.majority, 3, [None, "The energies are not finite.", None])[1]
        assert not failed.kept
        assert failed.reason == "The energies are not finite."
        assert math.isnan(failed.share_ratio)
        assert failed.agreement is None

    def test_a_collapsed_restart_is_dropped_and_its_class_named(self):
        labels = self.labels(0, 0, 0)
        labels[2, labels[2] == 1] = 0
        verdict = judge(labels, self.majority, 3, [None] * 3, classes=["cat", "dog", "eel"])[2]
        assert (verdict.kept, verdict.alarm, verdict.share_ratio, verdict.agreement) == (False, True, 0, None)
        assert verdict.reason == "Class 'dog' died: 0 rows where majority vote has 100 (share ratio 0.00, below 0.5)."
        assert judge(labels, self.majority, 3, [None] * 3)[2].reason.startswith("Class 1 died")

    def test_a_shrunken_class_is_dropped_without_alarm(self):
        labels = self.labels(0, 0)
        labels[0, :60] = 2
        verdict = judge(labels, self.majority, 3, [None, None])[0]
        assert not verdict.kept
        assert not verdict.alarm
        assert verdict.reason.startswith("Class 0 shrank: 40 rows")

    @pytest.mark.parametrize(
        ("left", "kept", "alarm"),
        [(34, False, True), (35, False, False), (36, False, False), (49, False, False), (50, True, False)],
    )
    def test_below_035_a_class_has_died_and_from_05_on_it_is_kept(self, left, kept, alarm):
        labels = self.labels(0)
        labels[0, left:100] = 2
        verdict = judge(labels, self.majority, 3, [None])[0]
        assert (verdict.kept, verdict.alarm) == (kept, alarm)
        assert verdict.share_ratio == left / 100

    @pytest.mark.parametrize(("shift", "flagged"), [(10, False), (11, True)])
    def test_more_than_8_points_less_agreement_is_worth_a_look(self, shift, flagged):
        verdicts = judge(self.labels(0, 0, 0, 0, shift), self.majority, 3, [None] * 5)
        median = np.median([verdict.agreement for verdict in verdicts])
        assert (median - verdicts[4].agreement > 0.08) == flagged
        assert verdicts[4].flagged == flagged

    def test_many_dead_classes_are_counted(self):
        majority = np.arange(40).repeat(5)
        verdict = judge(np.array([majority % 8]), majority, 40, [None])[0]
        assert verdict.reason == (
            "Classes died: 8 are predicted where majority vote predicts 40 (share ratio 0.20, below 0.5)."
        )

    def test_a_restart_that_mixes_classes_is_flagged_but_kept(self):
        verdicts = judge(self.labels(0, 0, 0, 0, 22), self.majority, 3, [None] * 5)
        assert [verdict.flagged for verdict in verdicts] == [False, False, False, False, True]
        assert verdicts[4].kept
        assert verdicts[4].share_ratio == 1
        assert "agrees with the others on 78.0% of the rows" in verdicts[4].reason

    def test_collapsed_restarts_do_not_lower_the_agreement_of_the_others(self):
        labels = self.labels(0, 0, 0)
        labels[2] = 0
        assert [verdict.agreement for verdict in judge(labels, self.majority, 3, [None] * 3)] == [1, 1, None]

    def test_rows_without_votes_count_nowhere(self):
        majority = np.append(self.majority, np.full(500, -1))
        labels = np.hstack([self.labels(0, 0, 0), np.arange(3)[:, None].repeat(500, axis=1)])
        assert all(verdict.agreement == 1 for verdict in judge(labels, majority, 3, [None] * 3))

    def test_every_restart_may_fail(self):
        verdicts = judge(np.full((2, 300), -1), self.majority, 3, ["a", "b"])
        assert [verdict.reason for verdict in verdicts] == ["a", "b"]

    def test_reasons_must_fit_the_restarts(self):
        with pytest.raises(InputError, match="labels of 2 restarts but 1 reasons"):
            judge(self.labels(0, 0), self.majority, 3, [None])


@pytest.mark.parametrize(("kept", "total", "enough"), [(3, 5, True), (2, 4, False), (1, 1, True), (0, 3, False)])
def test_more_than_half_must_survive(kept, total, enough):
    assert survivors_suffice(kept, total) is enough
