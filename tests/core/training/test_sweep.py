"""Sweeps: one start for all rates, curves of every one of them, and an answer at any time."""

import json
import math

import numpy as np
import pytest
import torch

import deem_core
from deem_core import simulation
from deem_core.control import Control
from deem_core.errors import InputError
from deem_core.groups.latent_tree import GroupedModel
from deem_core.model.config import Shape, TrainConfig
from deem_core.model.energy import initialise
from deem_core.model.records import not_finite
from deem_core.training.guidance import EARLIEST
from deem_core.training.sweep import Sweep, Sweeper, default_rates, sweep
from deem_core.training.sweep.depth import dependence
from deem_core.training.sweep.referee import Referee
from deem_core.training.sweep.trainer import Stack, SweepTrainer

TINY = {"updates": 60, "batch_size": 32, "random_state": 0, "near_copies": "keep", "start": "majority", "device": "cpu"}
RATES = [0.05, 0.5, 2.0]


@pytest.fixture(scope="module")
def votes():
    return simulation.tree(200, rng=np.random.default_rng(0)).votes


@pytest.fixture(scope="module")
def done(votes):
    return sweep(votes, RATES, **TINY)


class StopAfter(Control):
    """Says stop after so many questions."""

    def __init__(self, questions):
        self.left = questions

    def stopped(self):
        self.left -= 1
        return self.left < 0


def test_the_function_is_at_hand_even_after_its_module_was_imported():
    assert deem_core.sweep is sweep
    assert callable(deem_core.sweep)


def test_every_rate_is_measured_at_the_same_sixty_updates_or_more(done):
    assert len(done.updates) >= 60
    assert done.updates[0] == 0
    assert done.updates[-1] == 60
    assert len(set(np.diff(done.updates))) == 1
    assert done.difference.shape == (3, len(done.updates))
    assert np.isfinite(done.difference).all()
    np.testing.assert_allclose(done.difference, done.positive - done.negative)
    assert done.epochs[-1] == pytest.approx(60 * 32 / 200)
    assert done.complete


def test_records_are_evenly_spaced_over_long_sweeps(votes):
    schedule = Sweeper(votes, [0.5], config=TrainConfig(updates=1000)).schedule
    assert 60 <= len(schedule) <= 70
    assert schedule[-1] == 1000
    assert np.diff(schedule).max() - np.diff(schedule).min() <= 1


def test_all_rates_start_from_one_initialisation(done):
    for curve in (done.positive, done.negative, done.difference, done.curves.share_ratio):
        assert len(set(curve[:, 0].tolist())) == 1
    assert len(set(done.difference[:, -1].tolist())) == 3


def test_stacked_models_share_weights_and_batches(votes):
    config = TrainConfig(**{**TINY, "n_layers": 1})
    sweeper = Sweeper(votes, RATES, config=config)
    stack = Stack([0, 1, 2], sweeper.candidates, sweeper.schedule)
    stack.begin(sweeper.votes, torch.tensor(sweeper.votes.codes), seed=3)
    weights = stack.trainer.model.layer_weights[0]
    assert torch.equal(weights[0], weights[2])
    rows = [batches.next() for batches in stack.trainer.batches]
    assert torch.equal(rows[0], rows[2])


def test_the_same_seed_gives_the_same_curves(votes, done):
    again = sweep(votes, RATES, **TINY)
    np.testing.assert_array_equal(again.difference, done.difference)
    other = sweep(votes, RATES, **{**TINY, "random_state": 1})
    assert not np.array_equal(other.difference, done.difference)


def test_the_order_of_the_rates_does_not_matter(votes, done):
    np.testing.assert_array_equal(sweep(votes, RATES[::-1], **TINY).difference, done.difference)


def test_the_default_grid_has_nine_rates_around_the_recipe(votes):
    rates = default_rates(Shape.of(votes))
    assert len(rates) == 9
    assert rates[4] in (0.3, 0.5)
    ratios = np.divide(rates[1:], rates[:-1])
    np.testing.assert_allclose(ratios, 2, rtol=0.01)


@pytest.mark.parametrize(
    ("rates", "said"),
    [
        ([], "no learning rate"),
        ([-1.0], "not a positive number"),
        ([math.nan], "not a positive number"),
        ([0.0], "not a positive number"),
        (["fast"], "not a number"),
        ([0.1, 0.1], "given twice"),
        (np.linspace(0.1, 1, 51), "too many"),
        ([1e6], "at most 100"),
        ("0.1", "a list of numbers"),
        (0.5, "a list of numbers"),
    ],
)
def test_bad_rates_get_a_sentence(votes, rates, said):
    with pytest.raises(InputError, match=said):
        Sweeper(votes, rates)


def test_several_rates_and_several_depths_at_once_are_refused(votes):
    with pytest.raises(InputError, match="not both"):
        Sweeper(votes, [0.1, 0.5], n_layers=[0, 1])
    with pytest.raises(InputError, match="given twice"):
        Sweeper(votes, [0.1], n_layers=[1, 1])
    with pytest.raises(InputError, match="at least one"):
        Sweeper(votes, [0.1], n_layers=[])


def test_progress_counts_up_and_names_every_rate(votes):
    seen = []
    sweep(votes, RATES, watch=seen.append, **TINY)
    assert {progress.learning_rate for progress in seen} == set(RATES)
    assert [progress.share for progress in seen] == sorted(progress.share for progress in seen)
    assert seen[-1].share == 1
    assert seen[-1].record.shares.sum() == pytest.approx(1)


def test_a_stopped_sweep_has_a_usable_partial_result(votes):
    part = sweep(votes, RATES, control=StopAfter(60), **TINY)
    assert not part.complete
    reached = np.isfinite(part.difference).sum(axis=1)
    assert 0 < reached.sum() < part.difference.size
    assert len(part.verdicts) == 3
    assert part.recommendation.why
    assert Sweep.from_dict(part.to_dict()).to_dict() == part.to_dict()


def test_verdicts_are_provisional_until_the_sweep_is_complete(votes):
    sweeper = Sweeper(votes, RATES, config=TrainConfig(**TINY))
    for progress in sweeper:
        part = sweeper.result()
        assert part.share == pytest.approx(progress.share, abs=0.05)
        if not part.complete:
            assert all(verdict.provisional or verdict.kind == "not finite" for verdict in part.verdicts)
            assert Sweep.from_dict(part.to_dict()).verdicts == part.verdicts
            if part.share < EARLIEST:
                assert {verdict.kind for verdict in part.verdicts} <= {"open", "not finite"}
                assert part.recommendation.index is None
    assert not any(verdict.provisional for verdict in sweeper.result().verdicts)


def test_a_sweep_that_is_left_midway_ends_its_threads_and_still_answers(votes):
    sweeper = Sweeper(votes, RATES, config=TrainConfig(**TINY))
    for progress in sweeper:
        if progress.share > 0.2:
            break
    assert not sweeper.result().complete
    assert sweeper.result().recommendation.why


def test_a_result_before_the_start_says_that_nothing_is_known(votes):
    empty = Sweeper(votes, RATES, config=TrainConfig(**TINY)).result()
    assert empty.recommendation.kind == "no rate is safe"
    assert {verdict.kind for verdict in empty.verdicts} == {"open"}


def test_a_sweep_runs_once(votes):
    sweeper = Sweeper(votes, [0.5], config=TrainConfig(**{**TINY, "updates": 2}))
    list(sweeper)
    with pytest.raises(InputError, match="has run already"):
        list(sweeper)


def test_a_rate_that_is_no_longer_finite_is_abandoned_and_costs_nothing_more(votes, monkeypatch):
    sizes = []
    step = SweepTrainer.step

    def breaking(trainer):
        if trainer.update == 10:
            with torch.no_grad():
                trainer.model.weights[trainer.rates == 2.0] = math.nan
        sizes.append(trainer.model.n_models)
        return step(trainer)

    monkeypatch.setattr(SweepTrainer, "step", breaking)
    result = sweep(votes, RATES, **TINY)
    assert sizes[0] == 3
    assert sizes[-1] == 2
    assert result.verdicts[2].kind == "not finite"
    assert "at update 11" in result.verdicts[2].reason
    assert np.isnan(result.difference[2, -1])
    assert np.isfinite(result.difference[:2]).all()
    assert result.complete


def test_the_update_at_which_a_candidate_broke_is_known_though_it_is_looked_at_later(votes, monkeypatch):
    step = SweepTrainer.step

    def breaking(trainer):
        if trainer.update == 7:
            with torch.no_grad():
                trainer.model.weights[trainer.rates == 2.0] = math.nan
        return step(trainer)

    monkeypatch.setattr(SweepTrainer, "step", breaking)
    sweeper = Sweeper(votes, RATES, config=TrainConfig(**TINY))
    stack = Stack(range(3), sweeper.candidates, np.array([20]))
    stack.begin(sweeper.votes, torch.tensor(sweeper.votes.codes), 0)
    looks = stack.advance(sweeper.measure, lambda: False)
    assert [at for at, _ in looks] == [0, 1]
    assert stack.failures == {2: not_finite(8)}


def test_near_copies_are_swept_as_training_would_see_them():
    rng = np.random.default_rng(0)
    made = simulation.condind(600, rng=rng)
    codes = np.concatenate([made.votes.codes, np.repeat(made.votes.codes[:, -1:], 4, axis=1)], axis=1)
    guarded = Sweeper(codes, [0.5], config=TrainConfig(random_state=0))
    assert guarded.votes.n_learners < codes.shape[1]
    assert any("ear-copies" in sentence for sentence in guarded.result().notes)
    kept = Sweeper(codes, [0.5], config=TrainConfig(random_state=0, near_copies="keep"))
    assert kept.votes.n_learners == codes.shape[1]


def test_truth_is_not_read(votes):
    assert Sweeper(votes, [0.5]).votes.truth is None


def test_depths_are_compared_by_dependence_and_living_classes(votes):
    result = sweep(votes, [0.3], n_layers=[0, 1, 2], **{**TINY, "updates": 20})
    assert result.by_depth
    assert result.n_layers.tolist() == [0, 1, 2]
    assert np.isfinite(result.dependence).all()
    assert result.to_dict()["swept"] == "n_layers"
    assert all(verdict.reason for verdict in result.verdicts)


def test_dependence_is_nought_for_independent_votes_and_the_entropy_for_copies():
    rng = np.random.default_rng(0)
    coin = rng.integers(0, 2, 20_000)
    other = rng.integers(0, 2, 20_000)
    fixed = np.zeros_like(coin)
    model = initialise(4, 2, 0, [torch.Generator().manual_seed(0)])
    model.weights.zero_()
    model.weights.view(1, 4, 2, 2)[0, 2:, 0, 0] = 9.0  # the label follows learners 2 and 3, who never change
    found = dependence(model, torch.tensor(np.stack([coin, coin, fixed, fixed], axis=1))[None])
    assert found.mean == pytest.approx(math.log(2) / 6, abs=1e-3)  # one of six pairs
    assert found.frobenius == pytest.approx(math.log(2) * math.sqrt(2), abs=1e-3)
    apart = dependence(model, torch.tensor(np.stack([coin, other, fixed, fixed], axis=1))[None])
    assert apart.mean == pytest.approx(0, abs=1e-4)


def test_the_result_survives_json_and_keeps_the_contract(done):
    content = json.loads(json.dumps(done.to_dict(), allow_nan=False))
    assert {"rates", "recommended", "why", "updates", "rows_measured", "how", "seconds", "complete"} <= set(content)
    for item in content["rates"]:
        assert {"learning_rate", "verdict", "reason", "positive", "negative", "difference"} <= set(item)
        assert len(item["difference"]) == len(content["updates"])
    back = Sweep.from_dict(content)
    assert back.to_dict() == done.to_dict()
    assert back.recommendation == done.recommendation
    with pytest.raises(InputError, match="not a sweep"):
        Sweep.from_dict({"rates": []})


def test_curves_come_as_a_tidy_table(done):
    frame = done.to_frame()
    assert len(frame) == done.difference.size
    one = frame[frame["learning_rate"] == 0.5]
    np.testing.assert_array_equal(one["difference"], done.difference[1])
    assert {"update", "epoch", "positive", "negative", "acceptance", "moved", "share_ratio"} <= set(frame)


def test_where_the_grouped_model_fits_its_likelihood_of_the_labels_is_a_further_curve():
    made = simulation.tree(1500, rng=np.random.default_rng(3)).votes
    result = sweep(made, [0.1, 0.5], **{**TINY, "updates": 10, "start": "auto"})
    assert result.training_start == "groups"
    assert result.grouped_likelihood.shape == result.difference.shape
    assert np.isfinite(result.grouped_likelihood).all()
    assert (result.grouped_likelihood <= 0).all()
    assert result.to_frame()["grouped_likelihood"].tolist() == result.grouped_likelihood.ravel().tolist()
    back = Sweep.from_dict(json.loads(json.dumps(result.to_dict())))
    np.testing.assert_array_equal(back.grouped_likelihood, result.grouped_likelihood)
    assert result.verdicts[1].numbers.grouped_likelihood == pytest.approx(result.grouped_likelihood[1, -1], abs=0.1)


def test_a_sweep_without_a_grouped_model_has_no_such_curve(done):
    assert done.grouped_likelihood is None
    assert done.to_frame()["grouped_likelihood"].isna().all()
    content = done.to_dict()
    for item in content["rates"]:
        del item["grouped_likelihood"]  # as in a file of an earlier version
    assert Sweep.from_dict(content).grouped_likelihood is None


def test_the_referee_is_the_mean_log_posterior_of_labels_and_no_row_counts_more_than_its_least():
    half, sure = 0.5, 1 - 1e-9
    prior = np.array([half, half])
    follows = np.array([[[sure, 1 - sure], [1 - sure, sure]]])
    referee = Referee.of(GroupedModel(prior, (), np.zeros((0, 2, 2)), follows), np.array([[0], [1], [-1]]))
    right, least = math.log(1 / (1 + 1e-4)), math.log(1e-4 / (1 + 1e-4))
    assert referee(np.array([0, 1, 0])) == pytest.approx((2 * right + math.log(half)) / 3, abs=1e-6)
    assert referee(np.array([1, 1, 1])) == pytest.approx((least + right + math.log(half)) / 3, abs=1e-6)


def test_verdicts_can_be_drawn_again_with_another_smoothing(done):
    verdicts, chosen = done.judged(0.9)
    assert len(verdicts) == 3
    assert chosen.why


def test_missing_votes_are_swept(votes):
    made = simulation.drop_votes(simulation.tree(200, rng=np.random.default_rng(0)), 0.5, rng=np.random.default_rng(1))
    result = sweep(made.votes, [0.3, 0.6], **{**TINY, "updates": 8})
    assert np.isfinite(result.difference).all()


def test_the_cost_is_known_beforehand(votes):
    short = Sweeper(votes, RATES, config=TrainConfig(**TINY)).estimate_seconds()
    assert 0 < short < 60
    assert Sweeper(votes, RATES, config=TrainConfig(**{**TINY, "updates": 6000})).estimate_seconds() > short


def test_an_unlucky_start_is_repeated_once_from_another(votes, monkeypatch):
    from deem_core.training.sweep import sweeper as module

    answers = iter([True])
    monkeypatch.setattr(module.guidance, "unlucky_start", lambda verdicts: next(answers))
    sweeper = Sweeper(votes, [0.5], config=TrainConfig(**{**TINY, "updates": 10}))
    seed, seen = sweeper.seed, list(sweeper)
    assert len(seen) == 2 * 11
    assert sweeper.seed != seed
    assert module.UNLUCKY in sweeper.result().notes
    assert sweeper.result().complete
