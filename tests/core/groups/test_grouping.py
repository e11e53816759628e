"""Grouping in one call: when it fits, which latent is the label, and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest

from deem_core import Votes, simulation
from deem_core.groups.goodness import Goodness, Unexplained
from deem_core.groups.grouping import FITS, _verdict, explain, group_words
from deem_core.groups.latent_tree import ROOT, GroupedModel
from deem_core.groups.search import find_groups
from deem_core.methods.grouped_dawid_skene import alarms_of
from tests.core.groups.helpers import noisy_copies, table


def grouping_of(votes, seed=0):
    return explain(votes, np.random.default_rng(seed))


def accuracy(grouping, ensemble):
    return (grouping.model.posterior(ensemble.votes.codes).argmax(axis=1) == ensemble.truth).mean()


def shared_hard_rows(n=3000, d=8, seed=0):
    """Learners of one accuracy that fail together on hard rows, as real classifiers do."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(4, size=n)
    hardness = rng.beta(0.4, 0.8, n)
    wrong = (truth + 1 + (rng.random(n) < 0.3)) % 4  # most err the same way
    codes = np.where(rng.random((n, d)) < 0.8 * hardness[:, None], wrong[:, None], truth[:, None])
    return table(codes, 4, truth=truth)


@pytest.mark.parametrize("name", ["tree", "ampdata", "condind"])
def test_the_model_fits_what_it_describes_and_beats_the_majority(name):
    ensemble = simulation.make(name, 3000, seed=0)
    grouping = grouping_of(ensemble.votes)
    majority = (ensemble.votes.majority_vote.codes == ensemble.truth).mean()
    assert grouping.fits, grouping.reason
    assert accuracy(grouping, ensemble) > majority


def fits(excess, *, within=None, noise=0.0, within_noise=0.0, d=8, groups=()):
    """Return whether a test with these numbers says that a model of d learners fits."""
    model = GroupedModel(np.full(2, 0.5), groups, np.zeros((len(groups), 2, 2)), np.zeros((d, 2, 2)))
    nothing = Unexplained(None, None)
    return _verdict(Goodness(excess, within, noise, within_noise, nothing, (), 1000), model)[0]


@pytest.mark.parametrize(
    ("below", "above", "rest"),
    [
        (0.0079, 0.0081, {}),
        (0.0079, 0.0081, {"d": 6}),
        (0.00049, 0.00051, {"d": 5}),  # fewer than six learners
        (0.0299, 0.0301, {"noise": 0.01}),  # three standard deviations
        (0.0499, 0.0501, {"noise": 0.03}),  # but no more than 0.05
    ],
)
def test_the_limits_of_a_fit(below, above, rest):
    assert fits(below, **rest)
    assert not fits(above, **rest)
    families = {"groups": ((0, 1, 2, 3),), **rest}
    if rest.get("d", 8) == 8:  # half of the learners in a group that is exact in itself
        assert fits(above, within=0.00049, **families)
        assert not fits(above, within=0.00051, **families)
        assert fits(above, within=0.0029, within_noise=0.001, **families)
        assert not fits(above, within=0.0031, within_noise=0.001, **families)
        assert not fits(above, within=0.0, **{**families, "groups": ((0, 1, 2),)})
        assert not fits(above, within=0.0, **{**families, "groups": ((0, 1), (2, 3))})


def test_learners_that_share_hard_rows_do_not_fit():
    grouping = grouping_of(shared_hard_rows())
    assert not grouping.fits
    assert grouping.excess > FITS
    assert "does not fit" in grouping.reason


def three_families(n=15_000, K=6, seed=0):
    """Three learners in each of three families, whose heads are right on 70, 92 and 80% of the rows."""
    rng = np.random.default_rng(seed)

    def told(signal, right):
        return np.where(rng.random(n) < right, signal, (signal + rng.integers(1, K, n)) % K)

    truth = rng.integers(K, size=n)
    heads = [told(truth, right) for right in (0.7, 0.92, 0.8)]
    return table(np.stack([told(head, 0.8) for head in heads for _ in range(3)], axis=1), K, truth=truth)


FAMILIES = ((0, 1, 2), (3, 4, 5), (6, 7, 8))


def test_the_label_does_not_stay_on_the_strongest_family():
    votes = three_families()
    grouping = grouping_of(votes)
    best = find_groups(votes, np.random.default_rng(0)).best
    assert best.groups == (FAMILIES[0], FAMILIES[2])  # BIC on 5,000 rows would save the parameters of a group
    assert grouping.groups == FAMILIES
    labels = grouping.model.posterior(votes.codes).argmax(axis=1)
    assert (labels == votes.truth).mean() > (votes.majority_vote.codes == votes.truth).mean()
    assert grouping.excess < FITS
    assert grouping.settled  # the refused placement is no rival


@pytest.mark.parametrize(
    ("excess", "noise", "restored"),
    [(0.0001, 0.0001, True), (0.0009, 0.0001, False), (0.0, 0.0004, False), (None, 0.0, False)],
    ids=["chance is left", "more than chance is left", "too few rows to tell", "nothing to test"],
)
def test_a_dissolved_group_comes_back_only_if_it_explains_the_rest(monkeypatch, excess, noise, restored):
    def tested(codes, n_classes, groups, rng, **_):
        left = (excess, noise) if groups == FAMILIES else (0.0023, 0.0001)
        return Goodness(left[0], None, left[1], 0.0, Unexplained(None, None), (), len(codes))

    monkeypatch.setattr("deem_core.groups.grouping.goodness", tested)
    assert (grouping_of(three_families()).groups == FAMILIES) is restored


@pytest.mark.parametrize(("rows", "seed"), [(600, 0), (600, 1), (600, 2), (1200, 0)])
def test_copies_of_a_guesser_never_become_the_label(seed, rows):
    votes = noisy_copies(seed, n=rows)
    truth = simulation.condind(rows, rng=np.random.default_rng(seed)).truth
    grouping = grouping_of(votes)
    assert grouping.fits
    assert (grouping.model.posterior(votes.codes).argmax(axis=1) == truth).mean() > 0.9


def test_a_label_at_a_group_keeps_its_class_names():
    for seed in range(8):  # some draw puts the good learners into a group
        ensemble = simulation.make("condind", 300, seed=seed)
        grouping = grouping_of(ensemble.votes)
        if grouping.model.label != ROOT:
            assert accuracy(grouping, ensemble) > 0.9
            return
    pytest.fail("no draw had its label at a group")


def test_the_truth_plays_no_part():
    votes = simulation.make("tree", 800, seed=0).votes
    other = replace(votes, truth=np.zeros(800, np.int32))
    one, two = grouping_of(votes), grouping_of(other)
    np.testing.assert_array_equal(one.model.B, two.model.B)
    assert one.reason == two.reason


@pytest.mark.parametrize(
    ("votes", "why"),
    [
        (simulation.make("condind", 500, seed=0, n_learners=5).votes, "5 learners are too few"),
        (simulation.make("condind", 200, seed=0).votes, "200 rows are too few"),
        (simulation.make("condind", 400, seed=0, n_learners=41).votes, "41 learners"),
    ],
    ids=["few learners", "few rows", "many learners"],
)
def test_where_groups_are_not_looked_for_a_sentence_says_why(votes, why):
    grouping = grouping_of(votes)
    assert grouping.groups == ()
    assert why in grouping.search_note
    assert grouping.search_note in grouping.sentences(votes.learners)


@pytest.mark.parametrize(
    "votes",
    [
        table([[0, 1], [1, 1]], 2),
        table(np.random.default_rng(0).integers(101, size=(300, 6)), 101),
        table(np.full((5, 4), -1), 2),
    ],
    ids=["two learners", "many classes", "no votes"],
)
def test_what_cannot_be_fitted_is_refused_with_a_reason(votes):
    grouping = grouping_of(votes)
    assert grouping.model is None
    assert not grouping.fits
    assert grouping.reason.endswith(".")


def test_sparse_crowds_are_not_tested():
    votes = simulation.make("crowd", 300, seed=0).votes
    grouping = grouping_of(votes)
    assert grouping.goodness is None
    assert "Too few pairs" in grouping.reason
    assert np.isfinite(grouping.model.posterior(votes.codes)).all()


def test_an_answer_that_hard_rounds_change_is_said_to_be_open():
    grouping = grouping_of(simulation.make("ampdata", 3000, seed=0).votes)
    assert grouping.moved > 0.02
    assert not grouping.settled
    assert "another fit of the model differs on" in grouping.doubt
    (alarm,) = [each for each in alarms_of(grouping) if each.kind == "unsettled"]
    assert alarm.sentence == grouping.doubt
    assert alarm.title not in alarm.sentence
    assert not any("differs on" in sentence for sentence in grouping.sentences(("a",)))  # said once, by the alarm


def test_groups_are_named_by_their_learners():
    assert group_words(((0, 2),), ("a", "b", "c")) == "1 group of learners that make the same mistakes: a, c."
    assert "No groups" in group_words((), ("a", "b"))


def test_a_learner_without_votes_gives_finite_numbers():
    votes = simulation.make("tree", 600, seed=0).votes
    codes = votes.codes.copy()
    codes[:, 3] = -1
    silent = Votes(codes, votes.classes, votes.learners)
    assert np.isfinite(grouping_of(silent).model.posterior(codes)).all()
