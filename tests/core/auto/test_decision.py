"""Auto: which step answers for which votes, and what it says."""

from dataclasses import replace

import numpy as np
import pytest

from deem_core import Votes, fuse, simulation
from deem_core.auto import decide, fuse_run
from deem_core.auto.decision import is_crowd
from deem_core.control import Stopped, StopWhen
from deem_core.errors import InputError
from deem_core.estimators.verbs import apply
from tests.core.groups.helpers import noisy_copies, table
from tests.core.groups.test_grouping import shared_hard_rows


def decision(votes, seed=0):
    return decide(votes, np.random.default_rng(seed))


def rules(n=600, seed=0):
    """Rules that know one class each and abstain elsewhere."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n)
    codes = np.full((n, 8), -1)
    for j in range(8):
        known = j % 2
        fires = rng.random(n) < np.where(truth == known, 0.35, 0.08)
        codes[fires, j] = known
    return table(codes, 2, truth=truth)


def two_camps(n=800, seed=0):
    """Ten learners that follow the truth, and ten that follow something else."""
    rng = np.random.default_rng(seed)
    truth, other = rng.integers(2, size=n), rng.integers(2, size=n)
    followed = np.repeat([truth, other], 10, axis=0).T
    codes = np.where(rng.random((n, 20)) < 0.85, followed, 1 - followed)
    return table(codes, 2, truth=truth)


CASES = {
    "two learners": (table(np.random.default_rng(0).integers(2, size=(50, 2)), 2), "few", "mv"),
    "rules": (rules(), "rules", "rules"),
    "camps": (two_camps(), "camps", "mv"),
    "tree": (simulation.make("tree", 1500, seed=0).votes, "fit", "gds"),
    "experts": (simulation.make("ampdata", 2000, seed=1).votes, "fit", "gds"),
    "copies": (noisy_copies(0, n=1500), "fit", "gds"),
    "crowd": (simulation.make("crowd", 400, seed=0).votes, "crowd", "safe"),
    "hard rows": (shared_hard_rows(), "dense", "mv"),
    "hard rows, votes missing": (None, "crowd", "safe"),
    "hard rows, probabilities": (None, "soft", "cal_pool"),
    "many classes": (table(np.random.default_rng(0).integers(150, size=(400, 5)), 150), "dense", "mv"),
}


def votes_of(case):
    votes, *_ = CASES[case]
    if isinstance(votes, Votes):
        return votes
    whole = shared_hard_rows()
    if case == "hard rows, probabilities":
        sure = np.random.default_rng(0).uniform(0.6, 0.99, whole.codes.shape)[..., None]
        hot = np.eye(whole.n_classes)[whole.codes]
        soft = hot * sure + (1 - hot) * (1 - sure) / (whole.n_classes - 1)
        return Votes.from_soft(soft, classes=whole.classes.tolist(), learners=whole.learners)
    gone = np.random.default_rng(1).random(whole.codes.shape) < 0.2
    return replace(whole, codes=np.where(gone, -1, whole.codes))


@pytest.mark.parametrize("case", CASES)
def test_every_kind_of_votes_has_its_step_and_its_sentence(case):
    votes, (_, branch, method) = votes_of(case), CASES[case]
    made = decision(votes)
    assert (made.branch, made.answered_by) == (branch, method), made.sentences
    assert made.sentences[0].startswith("Answered by ")
    assert all(sentence.endswith(".") for sentence in made.aggregate.notes)
    said = " ".join(made.aggregate.notes).lower()
    assert all(said.count(note.lower()) == 1 for note in made.aggregate.notes)
    if made.grouping is not None:
        assert said.count(made.grouping.reason.lower()) == 1
    assert np.isfinite(made.aggregate.posterior).all()
    assert made.aggregate.answered_by == method


@pytest.mark.parametrize("name", ["tree", "ampdata", "condind"])
@pytest.mark.parametrize("seed", [20, 21])
def test_it_beats_the_majority_vote_where_the_model_is_true(name, seed):
    ensemble = simulation.make(name, 3000, seed=seed)
    labels = decision(ensemble.votes).aggregate.codes
    assert (labels == ensemble.truth).mean() > (ensemble.votes.majority_vote.codes == ensemble.truth).mean()


@pytest.mark.parametrize("share", [0.001, 0.01, 0.05])
def test_a_few_missing_votes_change_next_to_nothing(share):
    ensemble = simulation.make("tree", 3000, seed=0)
    rng = np.random.default_rng(5)
    blanked = replace(
        ensemble.votes, codes=np.where(rng.random(ensemble.votes.codes.shape) < share, -1, ensemble.votes.codes)
    )
    whole, part = decision(ensemble.votes), decision(blanked)
    assert (whole.branch, part.branch) == ("fit", "fit")
    accuracies = [(made.aggregate.codes == ensemble.truth).mean() for made in (whole, part)]
    assert abs(accuracies[0] - accuracies[1]) <= 0.005


def test_ties_of_a_majority_that_nothing_explains_are_broken_by_dawid_skene():
    votes = shared_hard_rows()
    made = decision(votes)
    assert made.answered_by == "mv"
    clear = ~votes.majority_vote.tied
    np.testing.assert_array_equal(made.aggregate.codes[clear], votes.majority_vote.codes[clear])
    assert (made.aggregate.codes != votes.majority_vote.codes).any()
    assert any("broken by Dawid-Skene" in note for note in made.aggregate.notes)


def test_the_truth_plays_no_part_and_the_seed_decides():
    votes = simulation.make("tree", 800, seed=0).votes
    one, other = decision(votes), decision(replace(votes, truth=np.zeros(800, np.int32)))
    np.testing.assert_array_equal(one.aggregate.posterior, other.aggregate.posterior)


@pytest.mark.parametrize("case", ["tree", "crowd", "rules"])
def test_a_method_answers_as_it_would_by_name_from_the_same_seed(case):
    votes = votes_of(case)
    answer = fuse(votes, random_state=7)
    np.testing.assert_allclose(
        answer.posterior, fuse(votes, method=answer.answered_by, random_state=7).posterior, atol=1e-12
    )


def test_looking_at_a_large_panel_does_not_change_how_a_method_answers():
    votes = shared_hard_rows(n=300, d=80)  # so many pairs that some are drawn
    answer = fuse(votes, random_state=7)
    assert answer.answered_by == "safe"
    np.testing.assert_array_equal(answer.posterior, fuse(votes, method="safe", random_state=7).posterior)


def test_the_limits_of_a_crowd():
    """Below 95% of the votes, or from 20 learners on."""
    codes = np.zeros((100, 10), int)
    codes[:49, 0] = -1
    assert not is_crowd(table(codes, 2))
    codes[49:51, 0] = -1
    assert is_crowd(table(codes, 2))
    assert not is_crowd(table(np.zeros((10, 19), int), 2))
    assert is_crowd(table(np.zeros((10, 20), int), 2))


def test_it_can_be_stopped():
    with pytest.raises(Stopped):
        decide(simulation.make("tree", 800, seed=0).votes, np.random.default_rng(0), control=StopWhen(lambda: True))


def test_learners_that_never_disagree_are_not_said_to_err_independently():
    votes = table(np.repeat(np.random.default_rng(0).integers(3, size=(600, 1)), 8, axis=1), 3)
    assert "never disagree" in decision(votes).sentences[0]
    assert "independent" not in " ".join(decision(votes).aggregate.notes)


def test_a_rare_class_is_not_given_to_every_row():
    rng = np.random.default_rng(0)
    truth = rng.random(8000) < 0.004
    codes = np.where(truth[:, None], rng.random((8000, 8)) < 0.8, rng.random((8000, 8)) < 0.0005)
    assert (decision(table(codes.astype(int), 2)).aggregate.codes == truth).mean() > 0.999


# ---------------------------------------------------------------------- as the default


def test_it_is_the_default_and_says_who_answered():
    answer = fuse(simulation.make("tree", 800, seed=0).votes, random_state=0)
    assert (answer.method, answer.answered_by) == ("auto", "gds")
    assert answer.notes[0].startswith("Answered by ")


def test_camps_are_an_alarm_and_a_fitting_model_is_not_accused():
    assert "camps" in {alarm.kind for alarm in fuse(two_camps()).alarms}
    fitting = fuse(simulation.make("condind", 2000, seed=0).votes)
    assert not {alarm.kind for alarm in fitting.alarms} & {"capture", "overturned", "misfit"}


def test_settings_of_a_training_are_refused_with_a_sentence():
    with pytest.raises(InputError, match=r"trains nothing and has no setting 'restarts'.*method='deem'"):
        fuse(simulation.make("tree", 100, seed=0).votes, restarts=3)


def test_where_the_grouped_model_answers_it_can_be_kept_and_applied(tmp_path):
    votes = simulation.make("tree", 1500, seed=0).votes
    made = fuse_run(votes, "auto", 0)
    assert made.summary.answered_by == "gds"
    assert made.summary.groups is not None
    made.model.save(tmp_path / "model.safetensors")
    np.testing.assert_allclose(apply(tmp_path / "model.safetensors", votes).posterior, made.answer.posterior)


def test_where_a_vote_answers_there_is_no_model():
    made = fuse_run(shared_hard_rows(), "auto", 0)
    assert made.model is None
    assert made.summary.to_dict()["answered_by"] == "mv"


def test_a_fuse_run_by_name_takes_methods_that_train_nothing():
    votes = simulation.make("tree", 200, seed=0).votes
    assert fuse_run(votes, "ds", 0).answer.method == "ds"
    with pytest.raises(InputError, match="trains a model"):
        fuse_run(votes, "deem", 0)
