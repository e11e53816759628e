"""Simulated ensembles follow their exact parameters, repeat by seed and refuse what has no meaning."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deem_core import InputError, Votes, simulation
from deem_core.simulation import Ensemble

N = 200_000


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def base_of(n: int = 1_000) -> Ensemble:
    return simulation.families(n, rng=rng(1), n_classes=4)


def sampled_psi(ensemble: Ensemble) -> tuple[np.ndarray, np.ndarray]:
    """Return the shares of votes by learner and true class, (d, K, K), and the number of votes behind them."""
    K = ensemble.votes.n_classes
    counts = np.zeros((ensemble.votes.n_learners, K, K))
    for i, codes in enumerate(ensemble.votes.codes.T):
        cast = codes >= 0
        np.add.at(counts[i], (codes[cast], ensemble.truth[cast]), 1)
    votes = counts.sum(axis=1, keepdims=True)
    return counts / np.maximum(votes, 1), votes


def assert_follows_its_parameters(ensemble: Ensemble) -> None:
    """Compare with five standard errors of a binomial share; impossible votes must not occur at all."""
    np.testing.assert_allclose(ensemble.psi.sum(axis=1), 1)
    np.testing.assert_allclose(ensemble.pi.sum(), 1)
    shares, votes = sampled_psi(ensemble)
    error = np.sqrt(np.maximum(ensemble.psi * (1 - ensemble.psi), 0) / np.maximum(votes, 1))
    assert (np.abs(shares - ensemble.psi) <= 5 * error + 5 / np.maximum(votes, 1) * (ensemble.psi > 0) + 1e-12).all()
    shares_of_y = np.bincount(ensemble.truth, minlength=len(ensemble.pi)) / len(ensemble.truth)
    assert (np.abs(shares_of_y - ensemble.pi) <= 5 * np.sqrt(ensemble.pi / len(ensemble.truth))).all()


# ---------------------------------------------------------------------- makers


ENSEMBLES = {
    "condind": lambda: simulation.condind(N, rng=rng()),
    "condind, noise only, with a prior": lambda: simulation.condind(
        N, rng=rng(), n_learners=5, n_classes=2, n_informative=0, prior=[0.9, 0.1]
    ),
    "condind, many classes": lambda: simulation.condind(N, rng=rng(), n_learners=2, n_classes=40, n_informative=2),
    "tree": lambda: simulation.tree(N, rng=rng()),
    "tree, two classes": lambda: simulation.tree(N, rng=rng(), n_classes=2, n_groups=2, n_leaves=1),
    "ampdata": lambda: simulation.ampdata(N, rng=rng()),
    "ampdata, other experts": lambda: simulation.ampdata(
        N, rng=rng(), n_common=2, n_classes=6, expert_classes=[5, 2, 3]
    ),
    "families": lambda: simulation.families(N, rng=rng()),
    "crowd": lambda: simulation.crowd(N, rng=rng(), n_workers=12),
    "rules": lambda: simulation.rules(N, rng=rng(), n_classes=3),
    "copies": lambda: simulation.copies_with_noise(simulation.families(N, rng=rng()), 2, rng=rng(1), noise=0.3),
    "experts": lambda: simulation.with_experts(
        simulation.families(N, rng=rng()), {"family2": [4, 7], 0: [1]}, rng=rng(1)
    ),
    "random learners": lambda: simulation.random_learners(simulation.tree(N, rng=rng()), 3, rng=rng(1), hint=0.05),
    "dropped votes": lambda: simulation.drop_votes(simulation.condind(N, rng=rng()), 0.4, rng=rng(1)),
}


@pytest.mark.parametrize("name", ENSEMBLES)
def test_votes_follow_the_exact_parameters(name):
    assert_follows_its_parameters(ENSEMBLES[name]())


def test_the_first_learners_of_condind_are_good_and_the_others_guess():
    made = simulation.condind(10, rng=rng(), n_learners=6, n_classes=4, n_informative=2)
    diagonal = np.diagonal(made.psi, axis1=1, axis2=2)
    assert made.votes.learners == ("good_1", "good_2", "noise_1", "noise_2", "noise_3", "noise_4")
    assert ((diagonal[:2] >= 3 / 4) & (diagonal[:2] <= 1)).all()
    assert len(np.unique(diagonal[:2])) == 8
    np.testing.assert_allclose(made.psi[0, 1:, 0], (1 - diagonal[0, 0]) / 3)
    np.testing.assert_allclose(made.psi[2:], 1 / 4)


def test_a_tree_keeps_its_matrices_and_leaves_of_one_node_are_dependent():
    made = simulation.tree(N, rng=rng(), n_classes=3, n_groups=2, n_leaves=3)
    assert made.groups.tolist() == [0, 0, 0, 1, 1, 1]
    assert made.votes.learners[3] == "group2_leaf1"
    for matrices in (made.parent_psi, made.leaf_psi):
        diagonal = np.diagonal(matrices, axis1=1, axis2=2)
        assert ((diagonal >= 0.7) & (diagonal <= 1)).all()
        np.testing.assert_allclose(diagonal, diagonal[:, :1].repeat(3, axis=1))  # one probability per node
    np.testing.assert_allclose(made.psi[4], made.leaf_psi[4] @ made.parent_psi[1])

    rows = made.truth == 0
    right = (made.votes.codes[rows] == 0).astype(float)
    correlation = np.corrcoef(right.T)
    assert correlation[0, 1] > 0.05
    assert abs(correlation[0, 3]) < 0.02


def test_the_joint_of_two_leaves_is_what_the_tree_says():
    made = simulation.tree(N, rng=rng(3), n_groups=1, n_leaves=2)
    rows = made.truth == 1
    joint = np.zeros((3, 3))
    np.add.at(joint, tuple(made.votes.codes[rows].T), 1 / rows.sum())
    expected = np.einsum("ah,bh,h->ab", made.leaf_psi[0], made.leaf_psi[1], made.parent_psi[0][:, 1])
    np.testing.assert_allclose(joint, expected, atol=0.01)


def test_the_expert_of_ampdata_is_an_oracle_on_its_classes_and_only_there():
    made = simulation.ampdata(N, rng=rng())
    mine = made.truth < 2
    expert, common = made.votes.codes[:, -1], made.votes.codes[:, :-1]
    assert made.votes.learners == ("common_1", "common_2", "common_3", "common_4", "common_5", "expert")
    assert dict(made.experts) == {"expert": (0, 1)}
    assert (expert == made.truth)[mine].all()
    assert (expert == made.truth)[~mine].mean() == pytest.approx(0.2, abs=0.01)
    assert (common == made.truth[:, None])[mine].mean() == pytest.approx(0.2, abs=0.01)
    assert 0.90 < (common == made.truth[:, None])[~mine].mean() < 0.92


def test_families_have_the_accuracies_asked_for_and_vary_by_class():
    made = simulation.families(10, rng=rng(), n_classes=7, accuracies=(0.3, 0.95))
    diagonal = np.diagonal(made.psi, axis1=1, axis2=2)
    np.testing.assert_allclose(diagonal.mean(axis=1), [0.3, 0.95])
    assert (diagonal.std(axis=1) > 0.005).all()
    assert ((made.psi >= 0) & (made.psi <= 1)).all()


def test_every_task_of_a_crowd_gets_its_votes_and_some_workers_guess():
    made = simulation.crowd(5_000, rng=rng(), n_workers=20, votes_per_task=3, n_classes=4)
    assert (made.votes.votes_per_row == 3).all()
    guessers = np.isclose(made.psi, 1 / 4).all(axis=(1, 2))
    assert guessers.sum() == 4
    assert made.votes.learner_coverage.max() > 3 * made.votes.learner_coverage.min()
    assert made.votes.learners[0] == "worker_01"


def test_rules_know_one_class_each_and_fire_as_their_precision_says():
    made = simulation.rules(N, rng=rng(), n_rules=4, n_classes=2, precision=(0.9, 0.9), reach=(0.5, 0.5))
    votes = made.votes
    assert votes.learners == ("rule_1", "rule_2", "rule_3", "rule_4")
    assert votes.constant_learners == votes.learners
    assert votes.class_counts.argmax(axis=1).tolist() == [0, 1, 0, 1]
    np.testing.assert_allclose(votes.learner_coverage, 0.25, atol=0.01)
    for j in range(4):
        cast = votes.codes[:, j] >= 0
        assert (votes.codes[cast, j] == made.truth[cast]).mean() == pytest.approx(0.9, abs=0.01)
    silent = (1 - 0.45) ** 2 * (1 - 0.05) ** 2  # two rules of the row's class and two of the other
    assert (votes.votes_per_row == 0).mean() == pytest.approx(silent, abs=0.01)


def test_one_row_and_one_learner_are_enough():
    made = simulation.condind(1, rng=rng(), n_learners=1, n_classes=2, n_informative=1)
    assert made.votes.codes.shape == (1, 1)


# ---------------------------------------------------------------------- changers


def test_copies_agree_as_computed():
    base = simulation.families(N, rng=rng(), n_classes=5)
    made = simulation.copies_with_noise(base, 2, rng=rng(1), noise=0.2)
    assert made.votes.learners == ("family1_1", "family1_2", "family2_1", "family2_2", "family3_1", "family3_2")
    assert made.groups.tolist() == [0, 0, 1, 1, 2, 2]
    first, second = made.votes.codes[:, 0], made.votes.codes[:, 1]
    untouched = 0.8**2  # both kept their vote; otherwise at least one is a random class
    assert (first == second).mean() == pytest.approx(untouched + (1 - untouched) / 5, abs=0.005)
    assert (first == base.votes.codes[:, 0]).mean() == pytest.approx(0.8 + 0.2 / 5, abs=0.005)


def test_copies_without_noise_are_identical():
    made = simulation.copies_with_noise(base_of(), 3, rng=rng(), noise=0)
    assert [len(group) for group in made.votes.identical_learners] == [3, 3, 3]


def test_experts_are_oracles_on_their_classes_after_the_noise():
    made = simulation.with_experts(base_of(5_000), {"family1": [0, 2], 2: (3,)}, rng=rng(), noise=0.5)
    assert dict(made.experts) == {"family1": (0, 2), "family3": (3,)}
    for learner, classes in ((0, (0, 2)), (2, (3,))):
        right = made.votes.codes[:, learner] == made.truth
        mine = np.isin(made.truth, classes)
        assert right[mine].all()
        assert not right[~mine].all()


def test_earlier_experts_stay_known_only_without_noise():
    one = simulation.with_experts(base_of(), {0: [0]}, rng=rng())
    assert dict(simulation.with_experts(one, {0: [1], 1: [2]}, rng=rng(), noise=0).experts) == {
        "family1": (0, 1),
        "family2": (2,),
    }
    assert dict(simulation.with_experts(one, {1: [2]}, rng=rng(), noise=0.1).experts) == {"family2": (2,)}


def test_random_learners_are_added_behind_the_others():
    base = simulation.copies_with_noise(base_of(), 2, rng=rng())
    made = simulation.random_learners(base, 2, rng=rng(), hint=0.001)
    assert made.votes.learners[-2:] == ("random_1", "random_2")
    assert made.groups.tolist() == [0, 0, 1, 1, 2, 2, 3, 4]
    np.testing.assert_array_equal(made.votes.codes[:, :6], base.votes.codes)
    np.testing.assert_allclose(np.diagonal(made.psi[-1]), 0.001 + 0.999 / 4)


def test_dropped_votes_leave_every_row_one_vote_and_the_others_unchanged():
    base = simulation.condind(20_000, rng=rng(), n_learners=4, n_classes=2)
    made = simulation.drop_votes(base, 0.9, rng=rng(1))
    assert made.votes.votes_per_row.min() == 1
    cast = made.votes.codes >= 0
    np.testing.assert_array_equal(made.votes.codes[cast], base.votes.codes[cast])
    # Binomial(4, 0.1) votes stay, and one where none would.
    assert cast.mean() == pytest.approx((4 * 0.1 + 0.9**4) / 4, abs=0.005)
    assert np.ptp(cast.mean(axis=0)) < 0.02


def test_a_row_without_votes_stays_without_when_votes_are_dropped():
    base = base_of(3)
    empty = replace(base, votes=replace(base.votes, codes=np.full((3, 3), -1)))
    assert (simulation.drop_votes(empty, 0.5, rng=rng()).votes.codes == -1).all()


def test_missing_votes_stay_missing_under_noise_and_expertise():
    base = simulation.drop_votes(base_of(), 0.5, rng=rng())
    made = simulation.with_experts(base, {0: [0, 1]}, rng=rng(), noise=1.0)
    np.testing.assert_array_equal(made.votes.codes == -1, base.votes.codes == -1)


@pytest.mark.parametrize("n_classes", [2, 10, 300])
def test_soft_votes_sum_to_one_and_their_argmax_is_the_vote(n_classes):
    base = simulation.drop_votes(simulation.families(2_000, rng=rng(), n_classes=n_classes), 0.2, rng=rng())
    made = simulation.soften(base, rng=rng())
    cast = base.votes.codes >= 0
    np.testing.assert_array_equal(made.votes.codes, base.votes.codes)
    np.testing.assert_array_equal(made.votes.soft.argmax(axis=-1)[cast], base.votes.codes[cast])
    np.testing.assert_allclose(made.votes.soft.sum(axis=-1), cast, atol=1e-5)
    ordered = np.sort(made.votes.soft[cast], axis=-1)
    assert (ordered[:, -1] - ordered[:, -2]).min() >= 0.0099  # rounding to a few digits cannot turn a vote


def test_softened_learners_are_surer_when_they_are_right():
    base = base_of(20_000)
    right = base.votes.codes == base.truth[:, None]

    def gap(sharpness: float) -> float:
        confidence = simulation.soften(base, rng=rng(), sharpness=sharpness).votes.soft.max(axis=-1)
        return confidence[right].mean() - confidence[~right].mean()

    assert gap(8) > gap(2) > 0.03
    assert gap(1) == pytest.approx(0, abs=0.01)


def test_dropping_soft_votes_empties_their_probabilities():
    made = simulation.drop_votes(simulation.soften(base_of(), rng=rng()), 0.5, rng=rng(1))
    np.testing.assert_array_equal(made.votes.soft.any(axis=-1), made.votes.codes >= 0)


def test_relabel_changes_names_only():
    base = base_of()
    made = simulation.relabel(base, ["a", "b", "c", " d "])
    assert made.votes.classes.tolist() == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(made.votes.codes, base.votes.codes)
    assert made.psi is base.psi


# ---------------------------------------------------------------------- by name


@pytest.mark.parametrize(
    ("name", "learners", "classes"),
    [
        *(("condind", 15, 3), ("tree", 12, 3), ("ampdata", 6, 5), ("copies", 15, 10), ("experts", 15, 10)),
        *(("crowd", 40, 4), ("rules", 8, 2)),
    ],
)
def test_every_name_has_the_numbers_of_the_paper_and_repeats_by_seed(name, learners, classes):
    made = simulation.make(name, 500, 11)
    assert made.votes.codes.shape == (500, learners)
    assert made.votes.n_classes == classes
    assert made.votes.content_hash == simulation.make(name, 500, 11).votes.content_hash
    assert made.votes.content_hash != simulation.make(name, 500, 12).votes.content_hash


@pytest.mark.parametrize(
    ("name", "learners", "classes"),
    [
        *(("condind", 4, 2), ("tree", 3, 5), ("ampdata", 2, 3), ("copies", 6, 2), ("experts", 3, 8)),
        *(("crowd", 5, 2), ("rules", 3, 3)),
    ],
)
def test_every_name_takes_other_numbers(name, learners, classes):
    made = simulation.make(name, 20, 0, learners, classes)
    assert made.votes.codes.shape == (20, learners)
    assert made.votes.n_classes == classes


def test_one_learner_of_each_family_is_the_expert():
    made = simulation.make("experts", 3_000, 0)
    assert dict(made.experts) == dict.fromkeys(("family1_1", "family2_1", "family3_1"), (4, 7))
    mine = np.isin(made.truth, (4, 7))
    assert (made.votes.codes[mine][:, [0, 5, 10]] == made.truth[mine][:, None]).all()
    assert made.groups.tolist() == [0] * 5 + [1] * 5 + [2] * 5


def test_build_is_make_then_relabel_then_drop_then_soften_from_one_generator():
    built = simulation.simulate("tree", 200, 5, 6, labels=["x", "y"], missing=0.3, soft=True)
    one = rng(5)
    expected = simulation.relabel(simulation.make("tree", 200, one, 6, 2), ["x", "y"])
    expected = simulation.soften(simulation.drop_votes(expected, 0.3, rng=one), rng=one)
    assert built.votes.content_hash == expected.votes.content_hash
    plain = simulation.simulate("tree", 200, 5)
    assert plain.votes.content_hash == simulation.make("tree", 200, 5).votes.content_hash


# ---------------------------------------------------------------------- refusals


REFUSALS = {
    "The number of rows is 0; it must be at least 1.": lambda: simulation.tree(0, rng=rng()),
    "The number of rows must be a whole number, not 2.5.": lambda: simulation.tree(2.5, rng=rng()),
    "The number of classes is 1; it must be at least 2.": lambda: simulation.condind(9, rng=rng(), n_classes=1),
    "The number of classes is 6,000; it must be at most 5,000.": lambda: simulation.condind(
        9, rng=rng(), n_classes=6000
    ),
    "The number of learners is 0; it must be at least 1.": lambda: simulation.condind(9, rng=rng(), n_learners=0),
    "4 informative learners cannot be among 3: n_informative is at most n_learners.": lambda: simulation.condind(
        9, rng=rng(), n_learners=3
    ),
    "The prior must be 3 probabilities, one per class, that sum to 1.": lambda: simulation.condind(
        9, rng=rng(), prior=[0.5, 0.4, 0.3]
    ),
    "There is no class 5: the classes go from 0 to 4.": lambda: simulation.ampdata(9, rng=rng(), expert_classes=[5]),
    "An expert class is -1; it must be at least 0.": lambda: simulation.ampdata(9, rng=rng(), expert_classes=[-1]),
    "The expert classes must leave at least one of the 2 classes to the common learners.": lambda: simulation.ampdata(
        9, rng=rng(), n_classes=2
    ),
    "An expert needs at least one class to be an expert on.": lambda: simulation.with_experts(
        base_of(), {0: []}, rng=rng()
    ),
    "There is no learner 'x'; the learners are family1, family2, family3.": lambda: simulation.with_experts(
        base_of(), {"x": [0]}, rng=rng()
    ),
    "An accuracy is 1.2; it must lie between 0 and 1.": lambda: simulation.families(9, rng=rng(), accuracies=[1.2]),
    "There is no learner: at least one column of votes is needed.": lambda: simulation.families(
        9, rng=rng(), accuracies=[]
    ),
    "5 votes per task need at least 5 workers; there are 4.": lambda: simulation.crowd(9, rng=rng(), n_workers=4),
    "copies is 0; it must be at least 1.": lambda: simulation.copies_with_noise(base_of(), 0, rng=rng()),
    "noise is -0.1; it must lie between 0 and 1.": lambda: simulation.copies_with_noise(
        base_of(), 2, rng=rng(), noise=-0.1
    ),
    "hint is nan; it must lie between 0 and 1.": lambda: simulation.random_learners(
        base_of(), 2, rng=rng(), hint=float("nan")
    ),
    "The share of missing votes is 1; it must be at least 0 and below 1.": lambda: simulation.drop_votes(
        base_of(), 1.0, rng=rng()
    ),
    "sharpness is 0.5; it must lie between 1 and 20.": lambda: simulation.soften(base_of(), rng=rng(), sharpness=0.5),
    "These votes carry probabilities, which would no longer fit: soften the ensemble last.": lambda: (
        simulation.copies_with_noise(simulation.soften(base_of(), rng=rng()), 2, rng=rng())
    ),
    "2 labels were given for 4 classes.": lambda: simulation.relabel(base_of(), ["a", "b"]),
    "'NA' cannot be a label: in a file it means that there is no vote.": lambda: simulation.relabel(
        base_of(), ["a", "b", "c", "NA"]
    ),
    "The labels a, 1, 1.0, b are not all different.": lambda: simulation.relabel(base_of(), ["a", "1", "1.0", "b"]),
    "There is no ensemble 'moons'; choose one of condind, tree, ampdata, copies, experts, crowd, rules.": lambda: (
        simulation.make("moons", 9, 0)
    ),
    "The number of rows is 200,000,000; it must be at most 100,000,000.": lambda: simulation.simulate(
        "tree", 200_000_000, 0
    ),
    "The number of learners is -3; it must be at least 1.": lambda: simulation.simulate("crowd", 9, 0, -3),
    "The number of learners must be a whole number, not 2.0.": lambda: simulation.simulate("tree", 9, 0, 2.0),
    "The seed is -1; it must be at least 0.": lambda: simulation.simulate("tree", 9, -1),
    "The seed must be a whole number, not '7'.": lambda: simulation.make("tree", 9, "7"),
    "The share of missing votes is -0.2; it must be at least 0 and below 1.": lambda: simulation.simulate(
        "tree", 9, 0, missing=-0.2
    ),
    "The share of missing votes is nan; it must be at least 0 and below 1.": lambda: simulation.simulate(
        "tree", 9, 0, missing=float("nan")
    ),
    "The tree ensemble has 3 groups of equal size, so the number of learners must be a multiple of 3; "
    "10 were asked for.": lambda: simulation.make("tree", 9, 0, 10),
    "The copies ensemble has 3 groups of equal size, so the number of learners must be a multiple of 3; "
    "1 was asked for.": lambda: simulation.make("copies", 9, 0, 1),
    "The experts ensemble has 3 groups of equal size, so the number of learners must be a multiple of 3; "
    "4 were asked for.": lambda: simulation.make("experts", 9, 0, 4),
    "The condind ensemble has 4 informative learners, so it needs at least 4 learners; 3 were asked for.": (
        lambda: simulation.make("condind", 9, 0, 3)
    ),
    "The ampdata ensemble has an expert beside common learners, so it needs at least 2 learners; "
    "1 was asked for.": lambda: simulation.make("ampdata", 9, 0, 1),
    "The ampdata ensemble has an expert on two classes that no other learner knows, so it needs at least 3 classes; "
    "2 were asked for.": lambda: simulation.make("ampdata", 9, 0, None, 2),
    "The experts ensemble has experts on the classes 4 and 7, so it needs at least 8 classes; 5 were asked for.": (
        lambda: simulation.make("experts", 9, 0, None, 5)
    ),
    "The crowd ensemble has 5 votes per task, so it needs at least 5 learners; 4 were asked for.": (
        lambda: simulation.make("crowd", 9, 0, 4)
    ),
    "In the rules ensemble every class has a rule, so it needs at least 3 learners; 2 were asked for.": (
        lambda: simulation.make("rules", 9, 0, 2, 3)
    ),
    "An ensemble needs the true class of every row.": lambda: replace(
        base_of(), votes=Votes.from_labels([[0, 1, 2], [3, 0, 1]])
    ),
    "3 learners and 4 classes need psi of shape (3, 4, 4) and pi of shape (4,); these have (3, 4, 4) and (3,).": (
        lambda: replace(base_of(), pi=np.ones(3) / 3)
    ),
}


@pytest.mark.parametrize("sentence", REFUSALS)
def test_what_has_no_meaning_is_refused_with_a_sentence(sentence):
    with pytest.raises(InputError) as caught:
        REFUSALS[sentence]()
    assert str(caught.value) == sentence
