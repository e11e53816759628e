"""Choice by gold rows: switch on paired evidence only."""

from dataclasses import replace

import numpy as np
import pytest

from deem_core import fuse
from deem_core.auto import make_field
from deem_core.gold import Verdict, choose, words
from deem_core.gold.choice import _lead
from deem_core.gold.weights import learner_weights, left_out_scores
from deem_core.votes import Gold
from deem_core.votes.arrays import weighted_votes
from tests.core.gold.helpers import field_of, gold_of, panel


def contest(wins, losses, n=200, ties=10):
    """A field in which "ds" wins and loses so many gold rows against the start; gold rows come first."""
    truth = np.zeros(n, np.int32)
    start, other = np.zeros(n, np.int32), np.zeros(n, np.int32)
    start[:wins] = 1
    other[wins : wins + losses] = 1
    start[150:] = 1  # they differ beyond the gold rows, too
    codes = np.column_stack([start] * 3)
    gold = gold_of(truth, np.arange(wins + losses + ties))
    # Learners vote like the start, so that no single learner and no weighted vote is ahead of it.
    return field_of(codes, start, {"ds": other}), gold


@pytest.mark.parametrize(
    ("wins", "losses", "switches"),
    [(2, 0, False), (3, 0, True), (4, 1, True), (4, 2, False), (5, 2, True), (8, 5, False), (10, 6, True)],
)
def test_a_method_takes_over_only_if_it_is_ahead_by_three_rows_and_a_standard_error(wins, losses, switches):
    field, gold = contest(wins, losses)
    verdict = choose(field, gold)
    assert verdict.switched == switches
    assert verdict.chosen == ("ds" if switches else "start")


def test_rivals_are_held_against_whoever_answers_in_the_end():
    field, gold = contest(10, 6)
    verdict = choose(field, gold)
    assert verdict.chosen == "ds"
    for rival in verdict.rivals:  # all of them vote like the start
        if rival.kind in ("start", "learner"):
            assert (rival.wins, rival.losses, rival.ahead) == (6, 10, False)
            assert rival.changed == pytest.approx((10 + 6 + 50) / 200)


def test_single_learners_need_more_evidence():
    field, _ = contest(0, 0, ties=40)
    truth = np.zeros(200, np.int32)
    start = field.start_codes.copy()
    start[:8] = 1
    start[8:30] = 0
    learner = start.copy()
    learner[:6] = 0  # wins 6
    learner[10:13] = 1  # loses 3: ahead by 3 = 1.0 standard error, which is enough for a method alone
    codes = np.column_stack([start, start, learner])
    as_learner = choose(field_of(codes, start), gold_of(truth, np.arange(40)))
    as_method = choose(field_of(np.column_stack([start] * 3), start, {"ds": learner}), gold_of(truth, np.arange(40)))
    rival = next(told for told in as_learner.rivals if told.name == "learner:j2")
    assert (rival.wins, rival.losses, rival.ahead) == (6, 3, False)
    assert as_method.chosen == "ds"


def test_leads_of_rows_with_equal_weights_are_counts():
    balance = np.array([1.0, 1, 1, -1, 0, 0])
    for weight in (1.0, 0.2):
        lead, error = _lead(balance, np.full(6, weight))
        assert (lead, error) == (pytest.approx(2), pytest.approx(2))
    assert _lead(np.zeros(3), np.ones(3)) == (0.0, 0.0)


def test_a_row_of_a_larger_stratum_weighs_more():
    even, _ = _lead(np.array([1.0, -1]), np.array([1.0, 1]))
    tilted, _ = _lead(np.array([1.0, -1]), np.array([3.0, 1]))
    assert even == 0
    assert tilted > 0


@pytest.mark.parametrize("seed", range(4))
def test_twenty_rows_settle_a_panel_of_eight_weak_and_four_strong_judges(seed):
    votes = panel(400, seed=seed)
    rows = np.random.default_rng(seed).choice(400, 20, replace=False)
    field = make_field(votes)
    verdict = choose(field, gold_of(votes.truth, rows))
    answer = fuse(votes, gold=gold_of(votes.truth, rows), random_state=0)
    rest = np.setdiff1d(np.arange(400), rows)
    right = (answer.codes == votes.truth)[rest].mean()
    assert right > 0.78
    assert right > (votes.majority_vote.codes == votes.truth)[rest].mean() + 0.2
    assert not verdict.strong_camp or verdict.strong_camp[0].startswith("strong")
    assert any("20 gold rows" in sentence for sentence in answer.notes)


def test_rows_that_prove_nothing_are_said_to():
    field, gold = contest(1, 1)
    verdict = choose(field, gold)
    assert any("prove nothing" in sentence for sentence in verdict.sentences)
    assert any("at least 20" in sentence for sentence in verdict.sentences)


def test_enough_rows_without_a_switch_still_prove_nothing_about_who_is_better():
    field, gold = contest(1, 1, ties=60)
    sentences = choose(field, gold).sentences
    assert any("prove nothing" in sentence for sentence in sentences)
    assert not any("at least 20" in sentence for sentence in sentences)


def test_the_weighted_vote_is_judged_without_the_row_it_labels():
    rng = np.random.default_rng(0)
    truth, codes = rng.integers(0, 2, 60), rng.integers(0, 2, (60, 30))  # learners that know nothing
    field, gold = field_of(codes, codes[:, 0]), gold_of(truth, np.arange(20))
    verdict = choose(field, gold)
    (told,) = [each for each in verdict.rivals if each.name == "gold_vote"]
    others = (left_out_scores(field.votes, gold).argmax(axis=1) == gold.labels).mean()
    own = weighted_votes(field.votes.codes[:20], learner_weights(field.votes, gold), 2).argmax(axis=1) == gold.labels
    assert told.estimate.share == pytest.approx(others)
    assert own.mean() > others + 0.2  # what it would have flattered itself with


def test_a_start_that_beats_others_is_said_to():
    field, gold = contest(1, 9, ties=20)
    last = choose(field, gold).sentences[-1]
    assert last == "These rows show that it is right more often than “Dawid-Skene”; about the rest they prove nothing."
    field, gold = contest(1, 4, ties=20)  # behind by three, which is less than 1.645·√5
    assert choose(field, gold).sentences[-1] == "These rows prove nothing about which method is better."
    field, gold = contest(1, 9)
    assert "prove nothing" in choose(field, gold).sentences[-1]  # too few


@pytest.mark.parametrize(
    ("n_asked", "fair"),
    [(0, " if the gold rows are a random"), (7, " if the other 13 gold rows are a random"), (20, ")")],
)
def test_intervals_rest_on_a_fair_draw_of_the_rows_that_were_not_asked_for(n_asked, fair):
    field, gold = contest(5, 5)
    asked = np.isin(np.arange(len(gold.codes)), gold.rows[:n_asked])
    verdict = choose(field, Gold(gold.codes, asked=asked))
    assert verdict.n_asked == n_asked
    assert any(f"(90% interval{fair}" in sentence for sentence in verdict.sentences)


def test_the_learner_best_on_gold_is_shown_beside_and_not_the_rule():
    votes = panel(400)
    verdict = choose(make_field(votes), gold_of(votes.truth, np.arange(20)))
    assert verdict.best_learner is not None
    names = {told.name for told in verdict.rivals} | {verdict.chosen}
    assert {f"learner:{name}" for name in votes.learners} <= names


def test_a_label_nobody_votes_for_counts_as_wrong_for_everybody():
    field, gold = contest(0, 0)
    codes = gold.codes.copy()
    codes[:5] = 2  # K = 2, so this is the first label of `only`
    verdict = choose(field, Gold(codes, np.array(["neither"], object)))
    assert verdict.unheard == 5
    assert verdict.answer.share == pytest.approx(5 / 10)
    assert "5 gold rows have labels that no learner votes for, so no learner is right there." in verdict.sentences
    assert not [text for text in choose(field, gold).sentences if "no learner votes for" in text]


def test_a_given_answer_is_a_candidate_like_any_other():
    field, gold = contest(6, 0)
    labels = field.methods["ds"]
    alone = field_of(np.column_stack([field.start_codes] * 3), field.start_codes)
    assert choose(alone, gold).chosen == "start"
    assert choose(alone, gold, {"DEEM": labels}).chosen == "DEEM"


def test_verdicts_survive_json():
    votes = panel(200)
    verdict = choose(make_field(votes), gold_of(votes.truth, np.arange(25)))
    assert Verdict.from_dict(verdict.to_dict()) == verdict


def test_no_gold_row_with_votes_changes_nothing():
    codes = np.zeros((6, 3), np.int32)
    codes[0] = -1
    start = np.array([-1, 0, 0, 0, 0, 0])
    verdict = choose(field_of(codes, start), gold_of(np.zeros(6, np.int32), [0]))
    assert (verdict.n_gold, verdict.switched) == (0, False)
    assert "nothing could be learned" in verdict.sentences[0]


def test_a_strong_camp_is_named_as_such_from_twenty_rows_on():
    votes = panel(400, weak=6, strong=5)
    field = make_field(votes)
    assert field.split
    few, enough = (choose(field, gold_of(votes.truth, np.arange(g))) for g in (12, 40))
    assert few.strong_camp[0].startswith("strong")
    assert any("So far they favour the camp of strong" in sentence for sentence in few.sentences)
    assert any("The panel's strong camp is strong" in sentence for sentence in enough.sentences)


def test_fewer_than_five_rows_turn_no_panel_of_two_camps():
    """One row on which everybody is wrong would turn all votes, unanimous ones included."""
    votes = panel(400, weak=6, strong=5)
    field = make_field(votes)
    assert field.split
    wrong = np.flatnonzero((votes.codes != votes.truth[:, None]).all(axis=1))[:4]
    assert len(wrong) == 4
    for g in (1, 4):
        gold = gold_of(votes.truth, wrong[:g])
        verdict = choose(field, gold)
        assert verdict.chosen == "start"
        assert f"the answer without gold ({field.title}) stays" in verdict.sentences[0]
        codes = fuse(votes, gold=gold, random_state=0).codes
        np.testing.assert_array_equal(np.delete(codes, wrong), np.delete(field.start_codes, wrong))
    assert choose(field, gold_of(votes.truth, np.arange(5))).chosen == "gold_vote"


def test_a_camp_that_answers_without_being_ahead_of_the_other_is_no_contradiction():
    votes = panel(400, weak=6, strong=5)
    field = make_field(votes)
    verdict = replace(choose(field, gold_of(votes.truth, np.arange(20))), strong_camp=(), chosen="camp_1")
    said = words.sentences(verdict, field, None)
    assert "Compared with each other alone, neither camp is ahead by enough yet." in said
    said = words.sentences(replace(verdict, chosen="gold_vote"), field, None)
    assert "These rows do not settle which of the two camps is right." in said


def test_few_rows_are_counted_in_english():
    field, gold = contest(1, 0, ties=0)
    said = choose(field, gold).sentences
    assert any(text.startswith("1 gold row is too few: aim for") for text in said)
    assert said[-1].endswith("This row proves nothing about which method is better.")
    assert not any("These rows" in text for text in said)


def test_of_two_that_are_ahead_the_one_that_changes_more_rows_answers():
    truth, start = np.zeros(200, np.int32), np.zeros(200, np.int32)
    start[:5] = 1
    few, many = start.copy(), start.copy()
    few[:5] = 0  # right on five gold rows, and changes nothing else
    many[:4] = 0
    many[100:150] = 1
    field = field_of(np.column_stack([start] * 3), start, {"ds": few, "onecoin": many})
    assert choose(field, gold_of(truth, np.arange(25))).chosen == "onecoin"
