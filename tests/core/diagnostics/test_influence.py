"""Importance says whom the model listens to: overall, class by class, and no matter what learners are called."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest

from deem_core import IRBM, InputError, simulation
from deem_core.control import Control, Stopped
from deem_core.diagnostics.influence import Importance, importance
from deem_core.diagnostics.perturbation import Perturbation, draw
from deem_core.model.energy import to_dawid_skene

RNG = np.random.default_rng


def without_parts(model):
    made = copy.copy(model)
    made.parts_, made.fallback_ = [], True
    return made


def hedged(model, other):
    made = copy.copy(model)
    made.parts_, made.hedged_ = [model.parts_[0], other], True
    return made


def test_withholding_a_vote_from_an_exact_irbm_takes_away_its_centred_log_probability(independent):
    model, votes = independent.model, independent.votes
    found = importance(model, votes, rng=RNG(0), how="withheld", rows=10**6)
    log_psi = np.log(to_dawid_skene(model.parts_[0].model)[0][0].double().numpy())  # (d, vote, label)
    fused = model.fuse_codes(votes.codes).argmax(axis=1)
    for i in range(votes.n_learners):
        own = log_psi[i, votes.codes[:, i]]  # (n, K)
        drop = own[np.arange(len(own)), fused] - own.mean(axis=1)
        assert found.overall[i] == pytest.approx(drop.mean(), abs=1e-4)
        for k in range(votes.n_classes):
            assert found.by_class[i, k] == pytest.approx(drop[fused == k].mean(), abs=1e-4)
            error = drop[fused == k].std(ddof=1) / np.sqrt((fused == k).sum())
            assert found.error_by_class[i, k] == pytest.approx(error, rel=1e-3)
    assert not found.noise.any()


def test_good_learners_have_ten_times_the_influence_of_guessers(independent, layered):
    for case in (independent, layered):
        good = [name.startswith("good") for name in case.votes.learners]
        for how in ("permuted", "withheld"):
            found = importance(case.model, case.votes, rng=RNG(0), how=how)
            least = 10 if how == "permuted" else 2  # a blank vote is off the data
            assert found.overall[good].mean() > least * np.abs(found.overall[np.invert(good)]).mean()


def test_a_permutation_swaps_votes_between_rows_and_keeps_how_often_each_class_is_voted(independent):
    votes = independent.votes
    sample = draw(np.arange(votes.n_rows), votes.truth, votes.n_classes, 10**6, RNG(0))
    perturbation = Perturbation(votes.codes, "permuted", 1, RNG(0))
    for _, s, changed in perturbation.changes(sample, [(0,), (1,)]):
        np.testing.assert_array_equal(np.bincount(changed[:, s]), np.bincount(votes.codes[:, s]))
        assert (changed[:, s] != votes.codes[:, s]).any()
        np.testing.assert_array_equal(np.delete(changed, s, 1), np.delete(votes.codes, s, 1))


def test_missing_votes_stay_missing_and_silent_learners_have_no_influence(layered):
    codes = layered.votes.codes.copy()
    codes[:, 3] = -1
    codes[5] = -1
    found = importance(layered.model, replace(layered.votes, codes=codes), rng=RNG(0))
    assert found.overall[3] == 0
    assert found.n_rows == layered.votes.n_rows - 1


def test_small_classes_get_rows_and_every_row_counts_by_its_share(layered):
    made = layered.votes
    fused = layered.model.fuse_codes(made.codes).argmax(axis=1)
    rare = np.flatnonzero(fused == 0)[:25]
    subset = np.concatenate([rare, np.flatnonzero(fused != 0)])
    found = importance(layered.model, made, rng=RNG(0), subset=subset, rows=300)
    assert found.class_rows[0] == 25
    assert found.rows_used <= 300 + 25
    np.testing.assert_allclose(found.overall, found.by_class @ found.class_share, rtol=1e-9)
    assert found.class_share[0] == pytest.approx(25 / len(subset))


def test_a_sample_is_within_a_few_standard_errors_of_all_rows(layered):
    # One permutation of few rows varies by both its rows and its votes: the error and the noise cover that.
    whole = importance(layered.model, layered.votes, rng=RNG(0), repeats=5)
    some = importance(layered.model, layered.votes, rng=RNG(1), rows=300, repeats=5)
    assert (np.abs(whole.overall - some.overall) < 5 * (some.error + some.noise + whole.noise)).all()
    assert (some.error > whole.error).all()


def test_a_subset_of_rows_is_asked_about_with_votes_from_the_whole_table(independent):
    # All rows of the subset hold the same vote of learner 0: permuted among themselves nothing would change.
    votes = independent.votes
    subset = np.flatnonzero(votes.codes[:, 0] == 1)
    assert importance(independent.model, votes, rng=RNG(0), subset=subset).overall[0] > 0.3


def test_renaming_and_reordering_learners_changes_nothing_but_the_order(independent):
    votes, order = independent.votes, np.array([3, 1, 0, 2, 9, 8, 7, 6, 5, 4])
    first = importance(independent.model, votes, rng=RNG(0))
    turned = votes.select_learners(order.tolist())
    # the same model over columns in another order and under other names
    renamed = replace(turned, learners=tuple(f"x{j}" for j in range(10)))
    model = IRBM(random_state=0).fit(renamed.without_truth())
    second = importance(model, renamed, rng=RNG(0))
    np.testing.assert_allclose(second.overall, first.overall[order], atol=1e-4)
    np.testing.assert_allclose(second.by_class, first.by_class[order], atol=1e-4)
    # a fixed model finds its learners by name
    np.testing.assert_array_equal(importance(independent.model, turned, rng=RNG(0)).overall, first.overall)


def test_influence_of_merged_near_copies_is_about_the_learners_of_the_file(merged):
    model, votes = merged.model, merged.votes
    alone = importance(model, votes, rng=RNG(0))
    assert alone.subjects == votes.learners
    members = model.reduction_.members
    together = importance(model, votes, rng=RNG(0), together=members, names=model.reduction_.learners)
    assert together.subjects == model.reduction_.learners
    for group, whole in zip(members, together.overall, strict=True):
        assert whole > 5 * alone.overall[list(group)].max()  # the other three speak for the one perturbation away


def test_a_hedged_model_counts_both_trainings_alike_and_spread_stays_within_a_training(layered):
    first = importance(layered.model, layered.votes, rng=RNG(0))
    part = layered.model.parts_[0]
    twice = importance(hedged(layered.model, part), layered.votes, rng=RNG(0))
    assert twice.per_restart.shape == (4, layered.votes.n_learners)
    np.testing.assert_array_equal(twice.training, [0, 0, 1, 1])
    np.testing.assert_allclose(twice.overall, first.overall, atol=0.05)  # fused labels differ a little
    np.testing.assert_allclose(twice.restart_spread, first.restart_spread, rtol=0.5)


def test_without_a_living_restart_the_majority_vote_is_what_learners_have_a_say_in(layered):
    model = without_parts(layered.model)
    found = importance(model, layered.votes, rng=RNG(0), how="withheld", rows=10**6)
    codes = layered.votes.codes
    fused = layered.votes.majority_vote.codes
    # logits are counts of votes: a vote withheld takes 1 − 1/K from its class and −1/K from the others
    for i in range(layered.votes.n_learners):
        drop = np.where(codes[:, i] < 0, 0, (codes[:, i] == fused) - 1 / 3)
        assert found.overall[i] == pytest.approx(drop.mean())
    assert np.isnan(found.restart_spread).all()


def test_experts_stand_out_on_their_classes_and_nowhere_else():
    rng = RNG(0)
    base = simulation.condind(6_000, rng=rng, n_learners=6, n_classes=6, n_informative=6)
    made = simulation.with_experts(base, {1: (2,), 4: (2, 5)}, rng=rng, noise=0.4)
    model = IRBM(random_state=0).fit(made.votes.without_truth())
    found = importance(model, made.votes, rng=RNG(0))
    names = {(one.learner, one.class_name) for one in found.experts()}
    assert names == {("good_2", "2"), ("good_5", "2"), ("good_5", "5")}
    assert found.ratio([1, 4], [2]) > 1.5 * found.ratio([1, 4], [0, 1, 3, 4])


def table(by_class, *, error=0.01, rows=100):
    """Return importance of learners a, b, … for classes 0, 1, …."""
    by_class = np.asarray(by_class, float)
    d, K = by_class.shape
    return Importance(
        how="permuted",
        subjects=tuple("abcdefgh"[:d]),
        classes=tuple(map(str, range(K))),
        overall=by_class.mean(axis=1),
        by_class=by_class,
        error=np.full(d, error),
        error_by_class=np.full((d, K), error),
        per_restart=by_class.mean(axis=1)[None],
        training=np.zeros(1, np.int64),
        restart_spread=np.full(d, np.nan),
        noise=np.zeros(d),
        class_rows=np.broadcast_to(rows, K).astype(np.int64),
        class_share=np.full(K, 1 / K),
        rows_used=100 * K,
        n_rows=100 * K,
    )


def test_an_expert_leads_the_others_and_itself_and_the_clearest_comes_first():
    leads = [
        [1.0, 1.0, 1.0, 1.7],  # an expert on 3 alone
        [2.0, 2.0, 2.0, 2.0],  # good everywhere: no expert
        [1.5, 1.5, 1.5, 2.4],  # good, and an expert on 3; leads more, but not so much beyond itself
        [1.0, 1.0, 1.0, 1.0],
        [1.0, 1.0, 1.0, 1.0],
        [0.9, 0.9, 0.9, 0.9],
        [0.9, 0.9, 0.9, 0.9],
        [0.9, 0.9, 0.9, 0.9],
    ]
    assert [(one.learner, one.class_name) for one in table(leads).experts()] == [("c", "3"), ("a", "3")]
    assert table(leads).experts()[1].ratio == pytest.approx(1.7)


def test_neither_few_rows_nor_chance_make_an_expert():
    leads = [[1.0, 1.0, 3.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    assert len(table(leads).experts()) == 1
    assert not table(leads, error=0.7).experts()  # within three standard errors of the others
    assert not table(leads, rows=[100, 100, 19]).experts()


def test_no_ratio_is_given_over_numbers_that_are_not_positive(independent):
    found = importance(independent.model, independent.votes, rng=RNG(0))
    odd = replace(found, by_class=np.where(np.arange(10)[:, None] > 3, -0.1, found.by_class))
    assert np.isnan(odd.ratio([0, 1, 2, 3], [0, 1]))


def test_tables_have_a_row_per_learner_and_a_row_per_learner_and_class(independent):
    found = importance(independent.model, independent.votes, rng=RNG(0))
    frame = found.to_frame()
    assert frame["learner"].tolist() == list(independent.votes.learners)
    assert {"importance", "standard_error", "restart_spread", "noise", "importance:0"} <= set(frame.columns)
    assert len(found.class_frame()) == 30
    assert found.to_dict()["rows_used"] == found.rows_used


def test_what_cannot_be_asked_is_refused_in_a_sentence(layered):
    with pytest.raises(InputError, match="permuted, withheld"):
        importance(layered.model, layered.votes, rng=RNG(0), how="guessed")
    silent = replace(layered.votes, codes=np.full_like(layered.votes.codes, -1))
    with pytest.raises(InputError, match="None of these rows has votes"):
        importance(layered.model, silent, rng=RNG(0))


def test_whoever_controls_it_can_stop_it(layered):
    class Stopping(Control):
        def stopped(self) -> bool:
            return True

    with pytest.raises(Stopped):
        importance(layered.model, layered.votes, rng=RNG(0), control=Stopping())


@pytest.mark.slow
def test_good_learners_of_condind_have_ten_times_the_influence_of_guessers(condind):
    found = importance(condind.model, condind.votes, rng=RNG(0))
    assert found.overall[:4].mean() > 10 * found.overall[4:].mean()


@pytest.mark.slow
def test_oracles_of_mniste47_stand_out_on_their_classes_alone(mniste47):
    found = importance(mniste47.model, mniste47.votes, rng=RNG(0))
    experts, classes = [0, 5, 10], [4, 7]
    assert found.ratio(experts, classes) >= 1.7
    assert 0.7 <= found.ratio(experts, [k for k in range(10) if k not in classes]) <= 1.1
