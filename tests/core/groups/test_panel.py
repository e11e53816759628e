"""Panel health: effective votes, one-class learners, coverage, together."""

import json

import numpy as np
import pytest

from deem_core import Votes, simulate
from deem_core.groups.effective_votes import EffectiveVotes, kish, residual_correlation
from deem_core.groups.mistakes import PairSample
from deem_core.groups.one_class import one_class_learners
from deem_core.groups.panel import class_coverage, panel_health
from tests.core.groups.helpers import table
from tests.core.methods.helpers import DEGENERATE


def health(votes, seed=0):
    return panel_health(votes, np.random.default_rng(seed))


# ---------------------------------------------------------------------- effective votes


def test_kish_is_between_one_and_all():
    assert kish(10, 0) == 10
    assert kish(10, 1) == 1
    assert kish(10, -0.5) == 10
    assert kish(1, 0.5) == 1


@pytest.mark.parametrize("seed", range(3))
def test_independent_learners_count_almost_fully_and_copies_as_one(seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=(2000, 1))
    codes = np.where(rng.random((2000, 9)) < 0.7, truth, rng.integers(3, size=(2000, 9)))
    assert health(table(codes, 3)).effective.n_eff > 7
    copies = codes[:, [0, 0, 0, 1, 1, 1, 2, 2, 2]]
    assert health(table(copies, 3)).effective.n_eff < 3.5


def test_what_two_learners_add_to_the_label_is_left_over():
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=(4000, 1))
    codes = np.where(rng.random((4000, 8)) < 0.75, truth, 1 - truth)
    alone = residual_correlation(2, PairSample.of(table(codes, 2), rng))
    codes[:, 1] = np.where(rng.random(4000) < 0.8, codes[:, 0], codes[:, 1])
    assert residual_correlation(2, PairSample.of(table(codes, 2), rng)) > alone + 0.01


def test_sentences_speak_of_learners_or_of_votes():
    assert EffectiveVotes(24, 23.9, 0.108, 0.094).sentence == "24 learners, worth about 4 independent ones."
    assert EffectiveVotes(78, 9.9, 0.173, 0.038).sentence == "9.9 votes a row, worth about 3 independent ones."
    assert EffectiveVotes(5, 5.0, 1.0, 0.0).sentence == "5 learners, worth about 1 independent one."


def test_a_part_below_zero_counts_as_zero():
    assert EffectiveVotes(5, 5.0, 0.25, -0.2).n_eff == EffectiveVotes(5, 5.0, 0.25, 0.0).n_eff == 2.5


@pytest.mark.parametrize(
    ("name", "n_eff"), [("llmjudge_llmbar", 4.2), ("llm_mmlupro", 2.6), ("crowd_zencrowd_all", 3.4), ("cifar10n", 1.6)]
)
def test_real_panels_are_worth_what_was_measured(large_data, name, n_eff):
    with np.load(large_data / f"{name}.npz", allow_pickle=False) as stored:
        votes = table(stored["X"].astype(np.int32), int(stored["K"]))
    assert health(votes).effective.n_eff == pytest.approx(n_eff, abs=0.1)


# ---------------------------------------------------------------------- one-class learners


def rules(n=400, seed=0):
    """Three rules for class 0 and three for class 1, each with an opinion on a fifth of the rows."""
    rng = np.random.default_rng(seed)
    codes = np.where(np.arange(6) < 3, 0, 1) * np.ones((n, 1), int)
    return table(np.where(rng.random((n, 6)) < 0.2, codes, -1), 2)


def test_rules_are_seen_with_their_classes():
    found = one_class_learners(rules())
    assert [rule.code for rule in found.learners] == [0, 0, 0, 1, 1, 1]
    assert found.vote_share == 1
    assert found.made_of_rules
    assert "these are rules" in found.sentence


def test_of_rules_nothing_is_said_about_dependence():
    found = health(rules())
    assert found.effective.n_eff is found.effective.rho_others is found.camps.strength is found.mistakes.mean is None
    for sentence in found.sentences[:3]:
        assert sentence.endswith("rules for the same class always agree.")


def test_few_votes_may_be_one_class_by_chance():
    codes = np.full((100, 3), -1)
    codes[:, :2] = np.arange(100)[:, None] % 2
    codes[:10, 2] = 0  # (110/210)¹⁰ is more than 0.001
    assert one_class_learners(table(codes, 2)).learners == ()
    codes[:11, 2] = 0
    assert [rule.learner for rule in one_class_learners(table(codes, 2)).learners] == ["m2"]


def test_one_vote_in_two_hundred_may_stray():
    codes = np.full((1000, 2), -1)
    codes[:, 0] = np.arange(1000) % 2
    codes[1:801:2, 1] = 1
    codes[:4:2, 1] = 0
    assert [rule.learner for rule in one_class_learners(table(codes, 2)).learners] == ["m1"]
    codes[:6:2, 1] = 0
    assert one_class_learners(table(codes, 2)).learners == ()


def test_where_a_class_is_rare_ordinary_learners_are_no_rules():
    rng = np.random.default_rng(0)
    rare = rng.random((20_000, 1)) < 0.003
    codes = np.where(rare, rng.random((20_000, 8)) < 0.8, rng.random((20_000, 8)) < 0.0005)
    assert one_class_learners(table(codes.astype(int), 2)).learners == ()


def test_learners_that_always_say_the_same_are_no_rules():
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=(500, 1))
    good = np.where(rng.random((500, 3)) < 0.8, truth, 1 - truth)
    constant = np.repeat([[0, 1, 0, 1, 0]], 500, axis=0)
    assert not one_class_learners(table(np.hstack([good, constant]), 2)).made_of_rules


@pytest.mark.parametrize(("elsewhere", "is_rule"), [(0.45, True), (0.55, False)])
def test_who_votes_whatever_the_row_is_is_no_rule(elsewhere, is_rule):
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=(2000, 1))
    good = np.where(rng.random((2000, 3)) < 0.95, truth, 1 - truth)
    spam = np.where((truth == 1) | (rng.random((2000, 1)) < elsewhere), 1, -1)
    found = one_class_learners(table(np.hstack([good, spam]), 2))
    assert [rule.learner for rule in found.learners] == (["m3"] if is_rule else [])


def test_ordinary_learners_are_no_rules():
    found = one_class_learners(simulate("condind", 500, seed=0).votes)
    assert not found.made_of_rules
    assert found.sentence == "No learner votes for one class only."


# ---------------------------------------------------------------------- classes and all together


def test_class_coverage_counts_votes_learners_and_rows():
    votes = Votes(
        codes=np.array([[0, 0, 1], [0, -1, -1], [-1, -1, -1], [1, 1, 1]]),
        classes=np.array(["a", "b", "c"], object),
        learners=["x", "y", "z"],
    )
    a, b, c = class_coverage(votes)
    assert (a.vote_share, a.n_learners, a.row_share) == (3 / 7, 2, 0.5)
    assert (b.vote_share, b.n_learners, b.row_share) == (4 / 7, 3, 0.5)
    assert (c.vote_share, c.n_learners, c.row_share) == (0, 0, 0)
    assert health(votes).class_sentence == "No learner votes for c."


@pytest.mark.parametrize("case", DEGENERATE)
def test_degenerate_votes_have_a_health_without_nan(case):
    found = health(DEGENERATE[case])
    json.dumps(found.to_dict(), allow_nan=False)
    assert all(sentence.endswith((".", ".)")) for sentence in found.sentences)
    assert "nan" not in " ".join(found.sentences).lower()
    assert found.effective.n_eff is not None or found.effective.reason


def test_the_truth_plays_no_part():
    ensemble = simulate("tree", 500, seed=0)
    assert health(ensemble.votes).to_dict() == health(ensemble.votes.without_truth()).to_dict()
