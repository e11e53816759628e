"""Safe vote: its gates, its guards, its vote."""

from dataclasses import replace

import numpy as np
import pytest

from deem_core import InputError, simulate
from deem_core.methods import dawid_skene, ebcc, one_coin, safe_vote
from deem_core.methods.contract import Aggregate
from deem_core.methods.safe_vote import EbccPlan, aggregate, ebcc_plan, settle
from tests.core.groups.test_camps import two_camps
from tests.core.methods.helpers import check_sound, load, make_votes, random_votes
from tests.core.methods.test_one_class_rules import rules


def fused(votes, seed=0):
    made = aggregate(votes, np.random.default_rng(seed))
    check_sound(made, votes)
    return made


def staged(monkeypatch, **labels):
    """Let the members answer as told: a posterior of 0.8 for each label."""

    def member(codes):
        def answer(votes, rng, **options):
            posterior = np.full((votes.n_rows, votes.n_classes), 0.2 / (votes.n_classes - 1))
            posterior[np.arange(votes.n_rows), codes] = 0.8
            return Aggregate(posterior=posterior, voted=votes.votes_per_row > 0)

        return answer

    for module, name in ((dawid_skene, "ds"), (one_coin, "onecoin"), (ebcc, "ebcc")):
        monkeypatch.setattr(module, "aggregate", member(np.asarray(labels[name])))


# ---------------------------------------------------------------------- gates


def test_rules_are_answered_by_the_model_for_rules():
    votes, _ = rules()
    made = fused(votes)
    assert made.notes[0].startswith("Most learners know one class only")
    np.testing.assert_array_equal(made.posterior, safe_vote.one_class_rules.aggregate(votes, None).posterior)


def test_camps_are_answered_by_the_majority_vote_with_an_alarm():
    votes = two_camps(0)
    made = fused(votes)
    np.testing.assert_array_equal(made.codes, votes.majority_vote.codes)
    assert "Two camps" in made.notes[0]
    assert "Label 20 rows" in made.notes[0]


# ---------------------------------------------------------------------- the vote


def test_members_vote_row_by_row_and_ties_go_by_the_mean(monkeypatch):
    votes = make_votes([[0, 0, 1], [0, 0, 1], [0, 0, 1], [1, 1, 0], [0, 0, 1]], 2)
    staged(monkeypatch, ds=[0, 1, 1, 1, 0], onecoin=[0, 0, 1, 0, 0], ebcc=[1, 1, 1, 1, 0])
    # 3 for 0 against 1; a tie, and 1 is likelier; 3 for 1; 3 for 1; all for 0
    assert fused(votes).codes.tolist() == [0, 1, 1, 1, 0]


def test_a_tied_majority_has_half_a_vote_for_each(monkeypatch):
    votes = make_votes([[0, 1], [1, 0]] * 10, 2)
    staged(monkeypatch, ds=[1, 0] * 10, onecoin=[1, 0] * 10, ebcc=[0, 1] * 10)
    assert fused(votes).codes.tolist() == [1, 0] * 10


def test_the_label_is_the_most_probable_class_where_the_vote_differs():
    posterior = np.array([[0.2, 0.5, 0.3], [0.6, 0.3, 0.1], [0.1, 0.9, 0.0]])
    turned = settle(posterior, np.array([2, 0, 2], np.int32), np.array([True, True, False]))
    assert turned == 1
    assert posterior.argmax(axis=1).tolist() == [2, 0, 1]
    assert posterior[0].tolist() == pytest.approx([0.2, 0.4, 0.4], abs=1e-5)
    np.testing.assert_allclose(posterior.sum(axis=1), 1)


def test_a_label_below_several_classes_is_settled_above_all_of_them():
    posterior = np.array([[0.4, 0.39, 0.15, 0.06]])
    assert settle(posterior, np.array([2], np.int32), np.array([True])) == 1
    assert posterior.argmax() == 2
    assert posterior[0].tolist() == pytest.approx([0.94 / 3, 0.94 / 3, 0.94 / 3, 0.06], abs=1e-5)
    assert posterior.sum() == pytest.approx(1)


# ---------------------------------------------------------------------- guards


def test_a_member_that_empties_a_class_takes_no_part(monkeypatch):
    votes = make_votes([[0, 0, 1], [1, 1, 0]] * 20, 2)
    staged(monkeypatch, ds=[0, 0] * 20, onecoin=[0, 1] * 20, ebcc=[0, 0] * 20)
    made = fused(votes)
    assert made.codes.tolist() == [0, 1] * 20
    assert "Dawid-Skene gives no row to 1, which has 50% of the votes. It takes no part." in made.notes
    assert "Majority vote and One-coin Dawid-Skene voted row by row." in made.notes


def test_a_member_that_overturns_clear_majorities_votes_like_the_majority(monkeypatch):
    votes = make_votes([[0, 0, 0, 0], [1, 1, 1, 1]] * 20, 2)
    contrary = [0] * 40
    contrary[1::2] = [1] * 20
    contrary[:2] = [1, 0]
    staged(monkeypatch, ds=contrary, onecoin=contrary, ebcc=contrary)
    made = fused(votes)
    assert made.codes.tolist() == votes.majority_vote.codes.tolist()
    assert any("overturns clear majorities in 2 rows" in note for note in made.notes)


def test_in_an_independent_crowd_clear_majorities_may_be_overturned(monkeypatch):
    votes = random_votes(np.random.default_rng(0), 600, 5, 2)
    assert safe_vote.Panel(votes, np.random.default_rng(0)).rho_others < 0.2
    contrary = votes.majority_vote.codes.copy()
    clear = np.flatnonzero(votes.majority_vote.support >= 4)[:20]
    contrary[clear] = 1 - contrary[clear]
    staged(monkeypatch, ds=contrary, onecoin=contrary, ebcc=contrary)
    assert (fused(votes).codes == contrary).all()


# ---------------------------------------------------------------------- EBCC and its limits


def test_rounds_of_ebcc_follow_from_the_size_of_the_table():
    small = make_votes(np.zeros((100, 5), int), 2)
    assert ebcc_plan(small) == EbccPlan(3, 100)
    large = make_votes(np.zeros((200_000, 5), int), 4)
    assert ebcc_plan(large) == EbccPlan(1, 20)
    assert ebcc_plan(make_votes(np.zeros((400_000, 5), int), 4)) is None


def test_without_ebcc_the_vote_goes_on_and_says_so(monkeypatch):
    votes = simulate("crowd", 200, seed=0).votes
    monkeypatch.setattr(safe_vote, "EBCC_WORK", 0)
    assert "EBCC takes no part: the table is too large for it." in fused(votes).notes

    def refuse(votes, rng, **options):
        raise InputError("Too wide.")

    monkeypatch.undo()
    monkeypatch.setattr(ebcc, "aggregate", refuse)
    assert "EBCC takes no part: Too wide." in fused(votes).notes


# ---------------------------------------------------------------------- what it is for


@pytest.mark.parametrize("seed", range(3))
def test_on_a_crowd_it_is_no_worse_than_the_majority_vote(seed):
    ensemble = simulate("crowd", 600, seed=seed)
    found = (fused(ensemble.votes).codes == ensemble.truth).mean()
    assert found >= (ensemble.votes.majority_vote.codes == ensemble.truth).mean() - 0.005


def test_the_truth_plays_no_part():
    votes = simulate("crowd", 200, seed=0).votes
    other = replace(votes, truth=np.zeros(200, np.int32))
    np.testing.assert_array_equal(fused(votes).posterior, fused(other).posterior)


@pytest.mark.parametrize(
    ("name", "accuracy"),
    [
        ("llmjudge_llmbar", 0.592),
        ("ws_youtube", 0.809),
        ("crowd_zencrowd_all", 0.858),
        pytest.param("crowd_web", 0.807, marks=pytest.mark.slow),
    ],
)
def test_crowds_panels_and_rules_are_right_as_measured(large_data, name, accuracy):
    votes, truth = load(large_data / f"{name}.npz")
    known = truth >= 0
    assert (fused(votes).codes == truth)[known].mean() == pytest.approx(accuracy, abs=0.006)
