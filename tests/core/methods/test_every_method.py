"""What holds for every method of the registry, whatever it does inside."""

from dataclasses import replace

import numpy as np
import pytest

from deem_core import InputError, simulation
from deem_core.comparison import METHODS
from deem_core.control import Stopped, StopWhen
from deem_core.methods import stacked_rbm
from tests.core.methods.helpers import DEGENERATE, check_sound, make_votes, random_votes, soften

BASELINES = [
    name for name in METHODS if name not in ("deem", "irbm_cd", "deem_soft", "rules", "gold_vote")
]  # these refuse most votes
DETERMINISTIC = [name for name in BASELINES if not METHODS[name].stochastic]
RULES = DEGENERATE["rules that know one class each"]
each_method = pytest.mark.parametrize("name", BASELINES)


@pytest.fixture(autouse=True)
def _short_training(monkeypatch):
    monkeypatch.setattr(stacked_rbm, "EPOCHS", 10)


def run(name, votes, seed=0, **options):
    if name == "hlm":
        pytest.importorskip("hyperlm")
    return METHODS[name].load()(votes, np.random.default_rng(seed), **options)


def draw(name, *, seed=1, n=300, d=6, K=3, coverage=1.0):
    rng = np.random.default_rng(seed)
    votes = random_votes(rng, n, d, K, coverage)
    return suited(name, votes, rng)


def suited(name, votes, rng=None):
    """Votes with what a method needs: probabilities, or an order."""
    if METHODS[name].soft:
        return soften(np.random.default_rng(0) if rng is None else rng, votes)
    return votes.as_ordered() if METHODS[name].ordered else votes


def without_ties(votes):
    return votes.select_rows(~votes.majority_vote.tied & (votes.votes_per_row > 0))


def refuses(name, votes):
    """Whether the registry says that a method cannot take such votes."""
    if name in ("dnn_det", "dnn_sto"):
        return votes.coverage < 1
    if name in ("lsml", "flyingsquid", "irbm", "gds") and votes.n_learners < 3:
        return True
    return name in ("ebcc", "irbm", "gds") and votes.coverage == 0


@each_method
@pytest.mark.parametrize("case", DEGENERATE)
def test_degenerate_votes_are_fused_soundly_or_refused_with_a_sentence(name, case):
    votes = suited(name, DEGENERATE[case])
    if refuses(name, votes):
        with pytest.raises(InputError, match=r"^[A-Z0-9].*\.$"):
            run(name, votes)
        return
    made = run(name, votes)
    check_sound(made, votes)
    unknown = votes.learner_coverage == 0
    if name == "cal_pool":  # a learner is judged by the others
        unknown |= votes.n_learners == 1
    assert made.skills is None or (np.isnan(made.skills) == unknown).all()


@each_method
def test_every_row_without_votes_is_answered_by_the_same_prior(name):
    votes = suited(name, DEGENERATE["rules that know one class each"]) if METHODS[name].ordered else RULES
    if METHODS[name].soft or refuses(name, votes):
        pytest.skip("takes no such votes")
    made = run(name, votes)
    silent = made.posterior[votes.votes_per_row == 0]
    assert len(silent) > 10
    assert (silent == silent[0]).all()
    if made.pi is not None:
        np.testing.assert_allclose(silent[0], made.pi)


@each_method
@pytest.mark.parametrize("K", [2, 3, 7])
def test_learners_of_seventy_percent_are_fused_better_than_each_alone(name, K):
    votes = draw(name, K=K, d=7)
    made = run(name, votes)
    check_sound(made, votes)
    agreement = (made.codes == votes.majority_vote.codes).mean()
    assert agreement > (0.5 if name in ("log_pool", "dnn_det", "dnn_sto") else 0.85)


@each_method
def test_missing_votes_are_taken_or_refused_with_a_reason(name):
    votes = draw(name, coverage=0.7)
    if name.startswith("dnn"):
        with pytest.raises(InputError, match="missing vote"):
            run(name, votes)
        return
    made = run(name, votes)
    check_sound(made, votes)
    assert (made.codes == votes.majority_vote.codes)[votes.votes_per_row > 0].mean() > 0.7


@each_method
def test_neither_the_truth_nor_a_global_seed_plays_a_part(name):
    votes = draw(name, n=100)
    with_truth = replace(votes, truth=np.zeros(100, np.int32))
    np.random.seed(1)  # noqa: NPY002
    one = run(name, votes, seed=3)
    np.random.seed(2)  # noqa: NPY002
    np.testing.assert_array_equal(one.posterior, run(name, with_truth, seed=3).posterior)


@pytest.mark.parametrize("name", DETERMINISTIC)
def test_the_order_of_rows_does_not_matter(name):
    votes = draw(name, seed=2, coverage=0.9)
    order = np.random.default_rng(3).permutation(votes.n_rows)
    one, other = run(name, votes), run(name, votes.select_rows(order))
    np.testing.assert_allclose(other.posterior, one.posterior[order], atol=1e-5 if name == "hlm" else 1e-8)


@pytest.mark.parametrize("name", DETERMINISTIC)
def test_the_order_of_learners_does_not_matter(name):
    votes = draw(name, seed=4, coverage=0.9)
    order = np.random.default_rng(5).permutation(votes.n_learners)
    one, other = run(name, votes), run(name, votes.select_learners(order.tolist()))
    np.testing.assert_allclose(other.posterior, one.posterior, atol=1e-5 if name == "hlm" else 1e-6)
    if one.skills is not None:
        np.testing.assert_allclose(other.skills, one.skills[order], atol=1e-6)


@pytest.mark.parametrize("name", [name for name in DETERMINISTIC if not METHODS[name].soft | METHODS[name].ordered])
@pytest.mark.parametrize("K", [2, 4])
def test_new_names_for_the_classes_only_permute_the_columns(name, K):
    votes = without_ties(draw(name, seed=6, K=K, d=7))
    if name == "hlm" and K == 2:
        pytest.skip("the network is asked about class 1 alone, as its authors do")
    new = np.roll(np.arange(K), 1)  # class k becomes new[k]
    one, other = run(name, votes), run(name, make_votes(new[votes.codes], K))
    np.testing.assert_allclose(other.posterior[:, new], one.posterior, atol=1e-5 if name == "hlm" else 1e-6)


@each_method
def test_a_method_that_is_told_to_stop_stands_where_it_is_and_says_so(name):
    votes = draw(name, n=5000 if name.startswith("la") else 300)
    if name in ("lsml", "flyingsquid", "hlm"):
        with pytest.raises(Stopped, match="after 1 of 3 classes, and labels need all of them"):
            run(name, votes, control=StopWhen(lambda: True))
        return
    if name in ("auto", "gds", "cal_pool"):  # half a search is no answer, nor are half of the learners tempered
        with pytest.raises(Stopped):
            run(name, votes, control=StopWhen(lambda: True))
        return
    made = run(name, votes, control=StopWhen(lambda: True))
    check_sound(made, votes)
    if name in ("mv", "mean_prob", "geo_pool"):
        assert not made.cut
    else:
        assert made.cut
        assert not made.converged
        assert any(note.startswith("Cut by the time limit after ") for note in made.notes)


@pytest.mark.parametrize("name", ["ds", "fds", "hds", "onecoin", "lsml", "weighted_mv", "la2", "irbm"])
@pytest.mark.parametrize("seed", range(2))
def test_what_learns_weights_beats_majority_vote_among_guessers(name, seed):
    made = simulation.condind(4000, rng=np.random.default_rng(seed))
    majority = (made.votes.majority_vote.codes == made.truth).mean()
    found = (run(name, made.votes).codes == made.truth).mean()
    assert found > majority + 0.15


@pytest.mark.parametrize("name", [name for name in BASELINES if not METHODS[name].soft and "dnn" not in name])
def test_nothing_is_much_worse_than_majority_vote_on_a_tree(name):
    made = simulation.tree(3000, rng=np.random.default_rng(7))
    majority = (made.votes.majority_vote.codes == made.truth).mean()
    assert (run(name, suited(name, made.votes)).codes == made.truth).mean() > majority - 0.02
