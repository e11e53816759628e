"""Where training starts: chosen once, with a reason, kept, and in step with the near-copy guard."""

import numpy as np
import pytest

from deem_core.control import Control
from deem_core.groups.em import fit
from deem_core.groups.grouping import Grouping
from deem_core.model.config import TrainConfig
from deem_core.simulation import make
from deem_core.training import start as module
from deem_core.training.start import choose_start, plan_sweep, plan_training
from deem_core.votes import Votes
from deem_core.votes.patterns import Table

TREE_GROUPS = ((0, 1, 2, 3), (4, 5, 6, 7), (8, 9, 10, 11))


@pytest.fixture(scope="module")
def votes():
    return make("tree", 1500, seed=5).votes


@pytest.fixture
def looked(monkeypatch):
    """Answers of `explain`, and the votes that it was asked about."""

    class Looked:
        def __init__(self):
            self.asked = []
            self.answer = Grouping(None, False, "Nothing was found.")

        def fits(self, votes, groups=TREE_GROUPS, *, fits=True, **more):
            model = fit(Table.of(votes.codes, votes.n_classes), groups).model
            self.answer = Grouping(model, fits, "It fits." if fits else "It does not fit.", **more)

    looked = Looked()

    def explain(votes, rng, *, control):
        looked.asked.append(votes)
        return looked.answer

    monkeypatch.setattr(module, "explain", explain)
    return looked


def chosen(votes, **settings):
    return choose_start(votes, TrainConfig(**settings), np.random.default_rng(0))


def test_auto_starts_from_groups_that_explain_the_votes(votes, looked):
    looked.fits(votes)
    start = chosen(votes)
    assert (start.kind, start.tree.groups, start.warning) == ("groups", TREE_GROUPS, "")
    assert start.reason.startswith("3 groups of learners")
    assert start.reason.endswith("It fits.")
    assert looked.asked[0].truth is None


def test_auto_starts_from_the_majority_vote_where_groups_do_not_explain_the_votes(votes, looked):
    looked.fits(votes, fits=False)
    start = chosen(votes)
    assert (start.kind, start.tree) == ("majority", None)
    assert "It does not fit." in start.reason


def test_auto_does_not_trust_a_model_whose_groups_nobody_looked_for(votes, looked):
    looked.fits(votes, (), search_note="Too few rows.")
    start = chosen(votes)
    assert start.kind == "majority"
    assert "Too few rows." in start.reason


def test_groups_need_a_layer_and_single_learners_do_not(votes, looked):
    looked.fits(votes)
    without = chosen(votes, n_layers=0)
    assert without.kind == "majority"
    assert "layer" in without.reason
    looked.fits(votes, ())
    assert chosen(votes, n_layers=0).kind == "groups"


def test_a_start_that_says_something_else_than_the_groups_is_not_taken(votes, looked, monkeypatch):
    looked.fits(votes)
    monkeypatch.setattr(module, "AGREEMENT", 1.01)
    start = chosen(votes)
    assert start.kind == "majority"
    assert "of the rows" in start.reason


def test_groups_that_were_asked_for_are_taken_with_a_warning_if_they_do_not_fit(votes, looked):
    looked.fits(votes, fits=False)
    start = chosen(votes, start="groups")
    assert start.kind == "groups"
    assert "as requested" in start.warning
    assert "It does not fit." in start.warning


def test_groups_that_were_asked_for_and_do_not_exist_leave_the_majority_vote_with_a_warning(votes, looked):
    start = chosen(votes, start="groups")
    assert start.kind == "majority"
    assert start.warning == "Training could not start from the grouped model. Nothing was found."


def test_the_majority_vote_that_was_asked_for_looks_for_nothing(votes, looked):
    start = chosen(votes, start="majority")
    assert (start.kind, start.reason, looked.asked) == ("majority", "given", [])


def test_settings_say_where_training_starts_and_what_follows(votes, looked):
    looked.fits(votes)
    start = chosen(votes)
    settings = start.settings(TrainConfig(), votes).to_dict()
    assert settings["start"] == {"value": "groups", "reason": start.reason}
    assert (settings["learning_rate"]["value"], settings["updates"]["value"]) == (0.05, 300)
    assert settings["n_layers"] == {"value": 1, "reason": "a layer holds the groups that training starts from"}
    assert "only reported" in settings["near_copies"]["reason"]
    usual = module.MAJORITY.settings(TrainConfig(), votes).to_dict()
    assert (usual["start"]["value"], usual["learning_rate"]["value"]) == ("majority", 0.5)


# ---------------------------------------------------------------------- near-copies


@pytest.fixture(scope="module")
def copied():
    """Six independent learners, the last of which has two near-copies."""
    base = make("condind", 800, seed=0).votes.codes[:, :6]
    rng = np.random.default_rng(0)
    copies = [np.where(rng.random(800) < 0.05, rng.integers(3, size=800), base[:, 5]) for _ in range(2)]
    return Votes.from_labels(np.column_stack([base, *copies]))


def test_from_groups_the_guard_only_reports(copied, looked):
    votes = copied
    looked.fits(votes, ((5, 6, 7),))
    plan = plan_training(votes, TrainConfig(), 0)
    assert plan.near_copies.cliques
    assert plan.near_copies.base.is_identity
    assert plan.near_copies.hedge is None
    assert "training starts from the grouped model" in plan.near_copies.sentences[0]
    looked.fits(votes, ((5, 6, 7),), fits=False)
    assert len(plan_training(votes, TrainConfig(), 0).near_copies.base.members) == 6


def test_cliques_that_are_to_be_collapsed_are_so_before_groups_are_looked_for(copied, looked):
    plan = plan_training(copied, TrainConfig(near_copies="collapse"), 0)
    assert len(plan.near_copies.base.members) < 8
    assert looked.asked[0].learners == plan.near_copies.base.learners


# ---------------------------------------------------------------------- sweeps and checkpoints


def test_a_sweep_starts_from_the_majority_vote_and_knows_where_training_would(votes, looked):
    looked.fits(votes)
    plan = plan_sweep(votes, TrainConfig(), 0)
    assert (plan.start.kind, plan.training_start) == ("majority", "groups")
    assert "training would start from the grouped model" in plan.start.reason
    looked.fits(votes, fits=False)
    assert plan_sweep(votes, TrainConfig(), 0).training_start == "majority"


@pytest.mark.parametrize("fits", [True, False])
def test_a_start_is_chosen_once_and_kept(votes, looked, fits):
    class Keeping(Control):
        def __init__(self):
            self.kept = {}

        def save(self, key, saved):
            self.kept[key] = saved

        def load(self, key):
            return self.kept.get(key)

    looked.fits(votes, fits=fits)
    control = Keeping()
    first = plan_training(votes, TrainConfig(), 0, control).start
    again = plan_training(votes, TrainConfig(), 0, control).start
    assert len(looked.asked) == 1
    assert (again.kind, again.reason, again.warning) == (first.kind, first.reason, first.warning)
    if fits:
        assert again.tree.groups == first.tree.groups
        np.testing.assert_array_equal(again.tree.posterior(votes.codes), first.tree.posterior(votes.codes))
