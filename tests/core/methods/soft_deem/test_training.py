import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from deem_core import InputError, Votes
from deem_core.comparison import METHODS
from deem_core.control import Stopped, StopWhen
from deem_core.estimators.as_methods import deem_soft
from deem_core.methods.pools import log_pool, mean_prob
from deem_core.methods.soft_deem.training import EvidenceTrainer, SoftTask, settings_for
from deem_core.methods.soft_deem.weighing import SoftRows
from deem_core.model import config as model_config
from deem_core.model.trainer import Trainer
from deem_core.votes.arrays import one_hot
from deem_core.votes.describe import accuracy
from tests.core.methods.helpers import DEGENERATE, check_sound, make_votes, soften
from tests.core.methods.soft_deem.helpers import soft_ensemble


def run(votes, seed=0, **options):
    return deem_soft(votes, np.random.default_rng(seed), **options)


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setattr(model_config, "SOFT_TIME", 6.0)


def test_it_is_in_the_registry():
    entry = METHODS["deem_soft"]
    assert entry.load() is deem_soft
    assert (entry.soft, entry.stochastic, entry.slow, entry.whole, entry.trained) == (True,) * 5


def test_hard_votes_are_refused():
    with pytest.raises(
        InputError, match=r"^deem_soft takes probabilities as evidence, and these votes are labels only"
    ):
        run(make_votes([[0, 1, 1]], 2))


@pytest.mark.parametrize("case", DEGENERATE)
def test_degenerate_votes_are_fused_soundly_or_refused_with_a_sentence(case):
    votes = soften(np.random.default_rng(0), DEGENERATE[case])
    if votes.n_learners < 3 or votes.coverage == 0:
        with pytest.raises(InputError, match=r"^[A-Z0-9].*\.$"):
            run(votes)
        return
    made = run(votes)
    check_sound(made, votes)
    assert (np.isnan(made.skills) == (votes.learner_coverage == 0)).all()


@pytest.mark.parametrize(("d", "K"), [(3, 2), (6, 3)])
def test_calibrated_learners_are_fused_as_well_as_by_the_pools(d, K):
    votes, truth = soft_ensemble(n=900, d=d, K=K)
    assert settings_for(votes).config.n_layers == 1
    made = run(votes)
    check_sound(made, votes)
    assert made.converged
    assert made.notes == ()
    assert accuracy(made.codes, truth) > accuracy(votes.majority_vote.codes, truth) - 0.01
    assert accuracy(made.codes, truth) > accuracy(log_pool(votes, np.random.default_rng(0)).codes, truth) - 0.03


def test_few_rows_and_missing_votes_are_taken():
    votes, truth = soft_ensemble(n=40, coverage=0.6)
    assert settings_for(votes).config.n_layers == 0
    made = run(votes)
    check_sound(made, votes)
    assert accuracy(made.codes, truth) > 0.75


def test_rows_without_votes_hold_the_mean_of_the_others():
    votes, _ = soft_ensemble(n=60)
    soft = votes.soft.copy()
    soft[7] = 0
    made = run(Votes.from_soft(soft))
    np.testing.assert_allclose(made.posterior[7], np.delete(made.posterior, 7, axis=0).mean(axis=0), atol=1e-6)
    assert made.notes == ("1 row has no vote and gets no label.",)


def test_the_same_seed_gives_the_same_answer_and_the_truth_plays_no_part():
    votes, truth = soft_ensemble(n=200)
    one = run(votes).posterior
    np.testing.assert_array_equal(one, run(Votes.from_soft(votes.soft, truth=truth)).posterior)
    assert np.abs(one - run(votes, seed=1).posterior).max() > 0


def test_unnormalised_probabilities_are_the_same_evidence():
    votes, _ = soft_ensemble(n=200)
    with pytest.warns(UserWarning, match="renormalised"):
        other = Votes.from_soft(votes.soft / 4)
    np.testing.assert_allclose(run(votes).posterior, run(other).posterior, atol=0.02)


@pytest.mark.parametrize("new", [[1, 2, 0], [2, 1, 0]])
def test_new_names_for_the_classes_hardly_change_the_labels(new):
    votes, _ = soft_ensemble(n=400)
    one, other = run(votes).codes, run(Votes.from_soft(votes.soft[..., new])).codes
    assert (np.array(new)[other] == one).mean() > 0.97


@pytest.fixture
def kill(monkeypatch):
    """Make so many restarts of all that are trained answer the same class everywhere."""
    make = SoftTask.trainer
    made = []

    def killed(self, config, seeds, *, lost, **more):
        trainer = make(self, replace(config, backend="torch"), seeds, **more)
        finished = trainer.finished
        dead = torch.tensor([len(made) + r < lost for r in range(len(seeds))])
        made.extend(seeds)

        def with_dead():
            model = finished()
            one_class = torch.tensor([100.0, 0.0, 0.0])
            return replace(model, hidden_bias=torch.where(dead.unsqueeze(1), one_class, model.hidden_bias))

        trainer.finished = with_dead
        return trainer

    return lambda lost: monkeypatch.setattr(
        SoftTask, "trainer", lambda self, config, seeds, **more: killed(self, config, seeds, lost=lost, **more)
    )


def test_collapsed_restarts_are_left_out(kill):
    votes, truth = soft_ensemble(n=300)
    kill(2)
    made = run(votes)
    assert made.converged
    pattern = r"^2 of 5 restarts were left out: Class '\d' died: 0 rows where the mean probability has \d+ \(share"
    assert re.match(pattern, made.notes[0])
    assert accuracy(made.codes, truth) > 0.85


def test_further_restarts_are_trained_if_too_few_survive(kill):
    votes, _ = soft_ensemble(n=300)
    kill(3)
    made = run(votes)
    assert made.converged
    assert made.notes[0].startswith("3 of 10 restarts were left out (too few of the first 5 survived, so 5 more were")


def test_without_survivors_the_answer_is_the_mean_of_probabilities(kill):
    votes, _ = soft_ensemble(n=300)
    kill(100)
    made = run(votes)
    assert not made.converged
    assert any("Training failed" in note and "mean" in note for note in made.notes)
    plain = mean_prob(votes, np.random.default_rng(0)).posterior
    np.testing.assert_allclose(made.posterior, plain, atol=1e-6)


@pytest.mark.parametrize("after", [0, 10, 20])
def test_it_stops_when_told_and_half_a_training_is_no_answer(after):
    votes, _ = soft_ensemble(n=200)
    asked = iter(range(10**9))
    with pytest.raises(Stopped):
        run(votes, control=StopWhen(lambda: next(asked) >= after))


def test_the_start_takes_hidden_votes_as_right_with_ninety_percent():
    votes, _ = soft_ensemble(n=400, K=4)
    weight = np.exp(settings_for(votes).config.init_scale)
    assert weight / (weight + 3) == pytest.approx(0.9)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "expected"), [("uci_artchars", 0.909), ("uci_gesture", 0.621)])
def test_accuracy_on_real_soft_votes(large_data, monkeypatch, name, expected):
    monkeypatch.setattr(model_config, "SOFT_TIME", 30.0)
    with np.load(large_data / f"{name}_soft.npz") as file:
        votes, truth = Votes.from_soft(file["P"]), file["y"]
    assert accuracy(run(votes).codes, truth) == pytest.approx(expected, abs=0.01)


# ---------------------------------------------------------------------- its trainer

CPU = torch.device("cpu")


def trained(trainer):
    for _ in trainer:
        pass
    return trainer.finished().parameters()


def soft_trainer(votes, config, seeds=(1, 2)):
    rows = SoftRows(votes.soft, np.arange(votes.n_rows), torch.ones(votes.n_learners))
    return EvidenceTrainer(rows, votes.codes, config, seeds, device=CPU)


@pytest.fixture(scope="module")
def votes():
    return soft_ensemble(n=400, coverage=0.9)[0]


@pytest.fixture(scope="module")
def config(votes):
    return replace(settings_for(votes).config, updates=12, batch_size=64)


def test_with_one_hot_probabilities_the_training_is_that_of_deem(votes, config):
    hard = Votes.from_soft(one_hot(votes.codes, votes.n_classes).astype(np.float32))
    plain = Trainer(hard.codes, hard.n_classes, config, [1, 2], device=CPU)
    for one, other in zip(trained(soft_trainer(hard, config)), trained(plain), strict=True):
        assert torch.equal(one, other)


def test_soft_votes_train_otherwise_than_their_most_probable_classes(votes, config):
    plain = Trainer(votes.codes, votes.n_classes, config, [1, 2], device=CPU)
    assert not torch.equal(trained(soft_trainer(votes, config))[0], trained(plain)[0])


def test_the_same_seeds_give_the_same_models_and_a_training_can_go_on_later(votes, config):
    whole = trained(soft_trainer(votes, config))
    first = soft_trainer(votes, config)
    for _ in range(5):
        first.step()
    second = soft_trainer(votes, config)
    second.restore(first.state())
    for one, other in zip(trained(second), whole, strict=True):
        assert torch.equal(one, other)
