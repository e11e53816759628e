"""One-class rules: the formula, its refusals, and a real set of rules."""

import numpy as np
import pytest

from deem_core import InputError, simulate
from deem_core.groups.one_class import one_class_learners
from deem_core.methods import dawid_skene
from deem_core.methods.one_class_rules import aggregate, fuse_rules, mean_vote_shares
from tests.core.methods.helpers import DEGENERATE, check_sound, load, make_votes, random_votes

RNG = np.random.default_rng(0)


def rules(n=500, seed=0, K=2, each=3):
    """``each`` rules per class, right with 80% where they speak, on a third of their rows."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(K, size=n)
    classes = np.repeat(np.arange(K), each)
    speaks = rng.random((n, K * each)) < np.where(truth[:, None] == classes, 0.4, 0.1)
    return make_votes(np.where(speaks, classes, -1), K), truth


def test_the_posterior_is_that_of_the_formula():
    votes, _ = rules(K=3)
    made = aggregate(votes, RNG)
    check_sound(made, votes)
    p, pi = 0.8, mean_vote_shares(votes)
    for row in np.flatnonzero(votes.votes_per_row)[:50]:
        scores = np.log(pi)
        for vote in votes.codes[row]:
            if vote >= 0:
                scores += np.where(np.arange(3) == vote, np.log(p / pi[vote]), np.log((1 - p) / (1 - pi[vote])))
        expected = np.exp(scores - scores.max())
        np.testing.assert_allclose(made.posterior[row], expected / expected.sum(), rtol=1e-9)


def test_rows_without_votes_get_the_class_shares():
    votes, _ = rules()
    made = aggregate(votes, RNG)
    np.testing.assert_allclose(made.posterior[~made.voted], np.tile(made.pi, ((~made.voted).sum(), 1)))
    assert "no vote" in made.notes[-1]


def test_ties_go_to_the_class_that_rules_name_rarely():
    codes = np.full((61, 4), -1)
    codes[:40, 0] = 0
    codes[40:60, 1] = 1
    codes[60] = [0, 1, -1, -1]
    made = aggregate(make_votes(codes, 2), RNG)
    assert made.codes[60] == 1
    assert (made.codes[:60] == codes[:60].max(axis=1)).all()


@pytest.mark.parametrize("common", [0.7, 0.9, 0.99])
def test_a_vote_never_speaks_against_its_class(common):
    rng = np.random.default_rng(0)
    truth = (rng.random(3000) > common).astype(int)
    classes = np.array([0, 0, 0, 0, 0, 1])
    speaks = (rng.random((3000, 6)) < 0.5) & (truth[:, None] == classes)
    votes = make_votes(np.where(speaks, classes, -1), 2)
    made = fuse_rules(votes)
    np.testing.assert_array_equal(made.codes, votes.majority_vote.codes)


def test_dawid_skene_empties_a_class_where_rules_do_not():
    votes, truth = rules(n=2000, seed=1)
    voted = votes.votes_per_row > 0
    rule = (aggregate(votes, RNG).codes == truth)[voted].mean()
    assert rule >= (votes.majority_vote.codes == truth)[voted].mean() - 0.01
    assert rule > (dawid_skene.aggregate(votes, RNG).codes == truth)[voted].mean() + 0.2


@pytest.mark.parametrize(
    "case", [name for name in DEGENERATE if not one_class_learners(DEGENERATE[name]).made_of_rules]
)
def test_what_is_not_made_of_rules_is_refused_with_a_sentence(case):
    with pytest.raises(
        InputError, match=r"^These votes are not from rules: .* Try the safe vote or Dawid-Skene \(safe, ds\)\.$"
    ):
        aggregate(DEGENERATE[case], RNG)


def test_ordinary_votes_are_refused_with_their_share():
    with pytest.raises(InputError, match=r"cast 0% of them, and this method needs 50%"):
        aggregate(simulate("tree", 200, seed=0).votes, RNG)


@pytest.mark.parametrize("case", [name for name in DEGENERATE if name != "no votes at all"])
def test_the_model_itself_is_sound_on_anything(case):
    check_sound(fuse_rules(DEGENERATE[case]), DEGENERATE[case])


def test_without_rarity_it_is_the_majority_vote():
    votes = random_votes(np.random.default_rng(3), 400, 7, 2)
    balanced = make_votes(np.vstack([votes.codes, 1 - votes.codes]), 2)  # both classes equally common
    np.testing.assert_array_equal(fuse_rules(balanced).codes, balanced.majority_vote.codes)


def test_youtube_spam_is_right_as_measured(large_data):
    votes, truth = load(large_data / "ws_youtube.npz")
    assert (aggregate(votes, RNG).codes == truth).mean() == pytest.approx(0.809, abs=0.001)
