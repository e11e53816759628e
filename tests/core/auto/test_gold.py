"""Gold rows and auto, named methods, and training."""

import numpy as np
import pytest

from deem_core import DEEM, InputError, fuse, simulate
from deem_core.auto import fuse_run
from deem_core.auto.verbs import further
from deem_core.control import NO_CONTROL
from deem_core.methods import dawid_skene
from deem_core.votes.alignment import anchored_map, class_map
from tests.core.gold.helpers import gold_of, panel


def test_every_answer_made_with_gold_says_so():
    votes = panel(200)
    gold = gold_of(votes.truth, np.arange(25))
    for method in ("auto", "mv", "ds", "onecoin", "gold_vote"):
        assert any("25 gold rows" in note for note in fuse(votes, method, gold=gold, random_state=0).notes), method


def test_answers_without_gold_do_not_speak_of_using_it():
    assert not any("Used" in note for note in fuse(panel(200), random_state=0).notes)


@pytest.mark.parametrize("method", ["mv", "onecoin", "safe", "irbm"])
def test_a_named_method_labels_other_rows_as_without_gold(method):
    votes = panel(200)
    gold = gold_of(votes.truth, np.arange(25))
    with_gold, plain = fuse(votes, method, gold=gold, random_state=0), fuse(votes, method, random_state=0)
    np.testing.assert_array_equal(with_gold.codes[25:], plain.codes[25:])
    assert (with_gold.codes[:25] == votes.truth[:25]).all()


def test_the_estimate_rests_on_what_the_method_says_not_on_gold_itself():
    votes = panel(200)
    gold = gold_of(votes.truth, np.arange(40))
    verdict = fuse(votes, "mv", gold=gold).gold
    said = votes.majority_vote.codes[:40] == votes.truth[:40]
    assert verdict.answer.share == pytest.approx(said.mean())
    assert verdict.answer.share < 0.9


def test_the_weighted_vote_is_judged_without_its_own_rows():
    votes = simulate("condind", 60, seed=0).votes
    gold = gold_of(votes.truth, np.arange(6))
    verdict = fuse(votes, "gold_vote", gold=gold).gold
    assert verdict.answer.rows == 6
    assert verdict.answer.high - verdict.answer.low > 0.2


def test_dawid_skene_holds_gold_rows_fixed_and_is_not_judged_by_them():
    votes = panel(200)
    gold = gold_of(votes.truth, np.arange(60))
    answer = fuse(votes, "ds", gold=gold)
    assert "holds their labels fixed" in answer.notes[0]
    assert answer.gold.answer.share is None
    plain = dawid_skene.aggregate(votes, np.random.default_rng(0))
    assert (answer.codes[60:] != plain.codes[60:]).any()


def test_held_rows_move_the_confusions_by_their_labels():
    """Against EM written out on every row, with gold rows held."""
    rng = np.random.default_rng(0)
    votes = panel(40, weak=2, strong=2, shared=0.0).without_truth()
    truth = rng.integers(0, 2, 40)
    made = dawid_skene.with_gold(votes.with_gold(gold_of(truth, np.arange(10))), rng)
    posterior = np.stack([(votes.codes == k).mean(axis=1) for k in range(2)], axis=1)
    posterior[:10] = np.eye(2)[truth[:10]]
    for _ in range(made.iterations):
        pi = posterior.mean(axis=0)
        psi = (
            np.stack([np.stack([posterior[votes.codes[:, j] == k].sum(axis=0) for k in range(2)]) for j in range(4)])
            + 1e-9
        )
        psi /= psi.sum(axis=1, keepdims=True)
        logs = np.log(pi) + sum(np.log(psi[j])[votes.codes[:, j]] for j in range(4))
        free = np.exp(logs - logs.max(axis=1, keepdims=True))
        free /= free.sum(axis=1, keepdims=True)
        posterior = free.copy()
        posterior[:10] = np.eye(2)[truth[:10]]
    np.testing.assert_allclose(made.psi, psi, atol=1e-9)
    np.testing.assert_allclose(made.posterior, free, atol=1e-9)


def test_further_methods_are_candidates_where_there_is_gold():
    votes = panel(120)
    with pytest.raises(InputError, match="gold rows"):
        fuse(votes, consider=["gds"])
    made = fuse(votes, gold=gold_of(votes.truth, np.arange(20)), consider=["gds"], random_state=0)
    assert any("20 gold rows" in note for note in made.notes)


def test_truth_is_never_read_by_the_choice():
    votes = panel(200)
    gold = gold_of(votes.truth, np.arange(25))
    wrong = np.where(np.arange(200) < 25, votes.truth, 1 - votes.truth).astype(np.int32)
    honest = fuse(votes, gold=gold, random_state=0)
    lied = fuse(votes.with_gold(gold)._changed(truth=wrong), random_state=0)
    np.testing.assert_array_equal(honest.posterior, lied.posterior)


def test_enough_gold_settles_the_alarm_of_two_camps():
    votes = panel(400, weak=6, strong=5)
    assert any(alarm.kind == "camps" for alarm in fuse(votes, random_state=0).alarms)
    settled = fuse(votes, gold=gold_of(votes.truth, np.arange(30)), random_state=0)
    assert not any(alarm.kind == "camps" for alarm in settled.alarms)
    few = fuse(votes, gold=gold_of(votes.truth, np.arange(19)), random_state=0)
    assert any(alarm.kind == "camps" for alarm in few.alarms)


def test_a_kept_grouped_model_can_still_be_saved():
    votes = simulate("condind", 800, seed=0).votes
    made = fuse_run(votes.with_gold(gold_of(votes.truth, np.arange(20))), "auto", 0)
    if made.summary.answered_by == "gds":
        assert made.model is not None
    assert made.answer.gold is not None


# ---------------------------------------------------------------------- the class map


def test_gold_turns_a_class_map_only_on_evidence():
    rng = np.random.default_rng(0)
    predicted = rng.integers(0, 3, 300)
    reference = predicted.copy()
    turned = np.array([1, 0, 2])
    for g, expected in ((2, [0, 1, 2]), (30, [1, 0, 2])):
        gold = np.full(300, -1)
        rows = np.flatnonzero(predicted < 2)[:g]
        gold[rows] = turned[predicted[rows]]
        assert anchored_map(predicted, reference, gold, 3).tolist() == expected
    assert class_map(predicted, reference, 3).tolist() == [0, 1, 2]


def test_gold_beyond_the_classes_is_no_anchor():
    predicted = np.array([0, 1, 0, 1])
    assert anchored_map(predicted, predicted, np.array([5, 5, 5, 5]), 2).tolist() == [0, 1]


def test_deem_trains_on_votes_with_gold_and_says_how_right_it_is():
    votes = simulate("condind", 300, seed=0).votes
    gold = gold_of(votes.truth, np.arange(20))
    answer = fuse(votes, "deem", gold=gold, updates=20, restarts=2, random_state=0)
    assert any("20 gold rows to name the model's hidden classes" in note for note in answer.notes)
    assert not any("do not depend on them" in note for note in answer.notes)
    model = DEEM(updates=20, restarts=2, random_state=0).fit(votes)
    assert model.fuse(votes).said_on_gold is None


def test_further_candidates_know_neither_truth_nor_gold():
    votes = panel(60)
    made = further(votes.with_gold(gold_of(votes.truth, np.arange(20))), "auto", ["ds"], 0, NO_CONTROL)
    for answer in made.values():
        assert answer.votes.gold is None
        assert answer.votes.truth is None
