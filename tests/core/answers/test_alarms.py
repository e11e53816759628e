"""Alarms about labels and files: what they see without truth, and what they leave alone."""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from deem_core import Alarm, Answer, Votes, fuse, simulation
from deem_core.alarm import with_alarms
from deem_core.answers import alarms as module
from deem_core.answers.alarms import alarms, capture, closeness, file_alarms, file_health, label_alarms
from deem_core.methods import registry


def kinds(answer: Answer) -> set[str]:
    return {alarm.kind for alarm in answer.alarms}


def answer_of(votes: Votes, codes, **fields) -> Answer:
    """Return an answer that is sure of some labels."""
    posterior = np.full((votes.n_rows, votes.n_classes), 0.1 / votes.n_classes)
    posterior[np.arange(votes.n_rows), codes] += 0.9
    return Answer(votes, posterior, **fields)


def one_class_rules(n: int = 1500, seed: int = 0) -> Votes:
    """Return votes of ten rules that know one of two classes each and mostly abstain; some rows have none."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < 0.5).astype(np.int32)
    codes = np.full((n, 10), -1, np.int32)
    for j in range(10):
        own, rate = (0, 0.1) if j < 8 else (1, 0.35)
        fires = rng.random(n) < np.where(truth == own, rate, 0.02)
        codes[fires, j] = own
    return Votes(codes, np.array(["ham", "spam"]), [f"rule{j}" for j in range(10)], truth=truth)


def families(n: int = 3000, seed: int = 0) -> tuple[Votes, np.ndarray]:
    """Return votes of two groups of four learners, and what the first group believes."""
    rng = np.random.default_rng(seed)

    def noisy(of, right):
        return np.where(rng.random(len(of)) < right, of, rng.integers(3, size=len(of)))

    truth = rng.integers(3, size=n)
    nodes = [noisy(truth, 0.7) for _ in range(2)]
    codes = np.stack([noisy(node, 0.85) for node in nodes for _ in range(4)], axis=1).astype(np.int32)
    return Votes(codes, np.arange(3), [f"{group}{j}" for group in "ab" for j in range(4)]), nodes[0]


# ---------------------------------------------------------------------- labels


@pytest.mark.parametrize("name", ["tree", "condind", "ampdata"])
def test_the_majority_vote_of_a_sound_ensemble_raises_no_alarm(name):
    assert fuse(simulation.simulate(name, 2000, 0).votes, method="mv").alarms == ()


def test_labels_that_give_a_class_away_are_an_alarm():
    votes = simulation.simulate("condind", 600, 0).votes
    (found,) = [one for one in answer_of(votes, np.zeros(600, int)).alarms if one.kind == "dead class"]
    assert "gives no row to" in found.sentence
    assert "dead class" not in kinds(answer_of(votes, votes.majority_vote.codes))


def test_one_coin_is_told_earlier_that_a_class_is_gone():
    votes = Votes(np.array([[0, 0, 1]] * 50 + [[1, 1, 0]] * 50), np.arange(2), list("abc"))
    codes = np.array([1] * 92 + [0] * 8)
    assert "dead class" in kinds(answer_of(votes, codes, method="onecoin"))
    assert "dead class" not in kinds(answer_of(votes, codes, method="ds"))


def test_labels_against_everybody_are_far_from_the_votes():
    votes = simulation.simulate("tree", 600, 0).votes
    turned = (votes.majority_vote.codes + 1) % 3
    assert "far from the votes" in kinds(answer_of(votes, turned))
    assert "far from the votes" not in kinds(answer_of(votes, votes.majority_vote.codes))


def test_closeness_is_the_mean_over_rows_and_pairs():
    votes = Votes(np.array([[0, 0, 1, -1], [2, 2, 2, 2], [0, -1, -1, -1]]), np.arange(3), list("abcd"))
    with_label, with_each_other = closeness(votes, np.array([1, 2, 0], np.int32))
    assert with_label == pytest.approx((1 / 3 + 1) / 2)  # the last row has a single vote
    assert with_each_other == pytest.approx((1 / 3 + 1) / 2)
    assert np.isnan(closeness(votes.select_rows([2]), np.array([0], np.int32))).all()


def test_labels_of_one_group_are_captured_by_it_and_it_is_named():
    votes, node = families()
    (found,) = [one for one in answer_of(votes, node).alarms if one.kind == "capture"]
    assert all(name in found.sentence for name in ("a0", "a1", "a2", "a3"))
    assert "b0" not in found.sentence
    assert "may be right or wrong" in found.advice
    assert "capture" not in kinds(answer_of(votes, votes.majority_vote.codes))


def test_capture_is_the_geometric_mean_of_ratios_of_information():
    votes, node = families(400)
    answer = answer_of(votes, node)
    kept, known = ([mutual_info_score(codes, own) for own in votes.codes.T] for codes in (node, answer.majority))
    ratios = (np.array(kept) + 1e-4) / (np.array(known) + 1e-4)
    assert capture(answer).ratio == pytest.approx(np.exp(np.mean(np.log(ratios))))


def test_labels_that_let_guessers_go_are_not_captured():
    """The guessers share something with the majority vote only because their votes are in it."""
    ensemble = simulation.simulate("condind", 3000, 0)
    assert "capture" not in kinds(answer_of(ensemble.votes, ensemble.truth))


def test_overturned_clear_majorities_are_an_alarm_unless_the_crowd_is_independent():
    votes, _ = families()
    majority = votes.majority_vote
    clear = np.flatnonzero(majority.support >= 6)
    codes = majority.codes.copy()
    codes[clear[:60]] = (codes[clear[:60]] + 1) % 3
    (found,) = [one for one in answer_of(votes, codes).alarms if one.kind == "overturned"]
    assert "60 rows" in found.sentence
    health = file_health(votes)
    independent = type(health.effective)(health.effective.per_row, 0.1, 0.0)
    assert "overturned" not in {
        one.kind for one in label_alarms(answer_of(votes, codes), replace_effective(health, independent))
    }


def replace_effective(health, effective):
    return type(health)(**{**vars(health), "effective": effective})


def test_overruled_unanimous_rows_are_an_alarm_above_their_share():
    votes = Votes(np.array([[0, 0, 0]] * 500 + [[1, 1, 1]] * 500), np.arange(2), list("abc"))
    codes = votes.majority_vote.codes.copy()
    few = int(1000 * module.MANY_OVERRULED)
    codes[:few] = 1
    assert "overruled" not in kinds(answer_of(votes, codes))
    codes[few] = 1
    (found,) = [one for one in answer_of(votes, codes).alarms if one.kind == "overruled"]
    assert f"{few + 1} of 1,000" in found.sentence


# ---------------------------------------------------------------------- files


@pytest.mark.parametrize("method", ["ds", "onecoin", "irbm"])
def test_one_class_rules_never_get_one_class_in_silence(method):
    votes = one_class_rules()
    answer = registry.aggregate(method, votes, np.random.default_rng(0)).answer(votes, method)
    assert "one-class rules" in kinds(answer)
    labels = answer.codes[answer.codes >= 0]
    if np.bincount(labels, minlength=2).min() == 0:
        assert {"dead class", "one-class rules"} <= kinds(answer)


def test_the_method_for_rules_is_not_warned_of_rules():
    votes = one_class_rules()
    assert "one-class rules" not in kinds(fuse(votes, method="rules"))
    assert "one-class rules" in kinds(fuse(votes, method="mv"))


@pytest.mark.skipif("DEEM_DATA" not in os.environ, reason="set DEEM_DATA to the folder of the ensembles")
def test_dawid_skene_on_the_rules_of_youtube_is_announced():
    stored = np.load(Path(os.environ["DEEM_DATA"]) / "ws_youtube.npz")
    learners = [str(name) for name in stored["learners"]]
    answer = fuse(Votes(stored["X"].astype(np.int32), np.array(["ham", "spam"]), learners), method="ds")
    assert np.bincount(answer.codes[answer.codes >= 0], minlength=2).min() == 0
    assert {"dead class", "far from the votes", "one-class rules", "silent rows"} <= kinds(answer)


def test_rows_without_votes_are_told_once():
    votes = Votes(np.array([[0, 0], [-1, -1], [1, 1]]), np.arange(2), ["a", "b"])
    answer = fuse(votes, method="mv")
    assert "silent rows" in kinds(answer)
    assert with_alarms(answer.notes, answer.alarms).count("1 row has no vote and gets no label.") == 1


def test_two_camps_are_an_alarm_for_every_method():
    rng = np.random.default_rng(0)
    one, other = (rng.integers(2, size=600) for _ in range(2))
    codes = np.stack(
        [np.where(rng.random(600) < 0.9, side, 1 - side) for side in [one] * 7 + [other] * 7], axis=1
    ).astype(np.int32)
    votes = Votes(codes, np.arange(2), [f"judge{j}" for j in range(14)])
    assert "camps" in {alarm.kind for alarm in file_alarms(votes, file_health(votes))}
    assert "camps" in kinds(fuse(votes, method="mv"))


# ---------------------------------------------------------------------- methods that doubt themselves


def test_a_method_hands_over_its_own_doubts_and_what_it_takes_care_of():
    votes = one_class_rules()
    doubt = Alarm("unsettled", "Two answers", "Two answers explain the votes equally well.", "Label some rows.")
    answer = answer_of(votes, np.zeros(votes.n_rows, int), method_alarms=(doubt,), handles=("one-class rules",))
    assert answer.alarms[0] == doubt
    assert "one-class rules" not in kinds(answer)
    assert answer.head(3).alarms == answer.alarms


def test_no_truth_is_needed_or_read():
    votes = one_class_rules()
    with_truth, without = (fuse(each, method="ds") for each in (votes, votes.without_truth()))
    assert with_truth.alarms == without.alarms


@pytest.mark.parametrize(
    "codes", [np.full((4, 3), -1), np.array([[0, -1, -1]] * 3), np.zeros((2, 1), int), np.zeros((0, 3), int)]
)
def test_degenerate_votes_raise_nothing_that_is_not_a_sentence(codes):
    votes = Votes(codes, np.arange(2), [f"m{j}" for j in range(codes.shape[1])])
    for alarm in alarms(Answer(votes, np.full((len(codes), 2), 0.5))):
        assert "nan" not in alarm.text
        assert alarm.sentence.endswith(".")


def test_large_tables_are_looked_at_in_part(monkeypatch):
    votes, node = families(4000)
    answer = answer_of(votes, node)
    whole = capture(answer).ratio
    monkeypatch.setattr(module, "MAX_VOTES", 8 * 2000)
    assert capture(answer).ratio == pytest.approx(whole, abs=0.05)
    assert capture(answer).ratio != whole
