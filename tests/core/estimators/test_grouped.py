"""Grouped Dawid-Skene as an estimator: fitted, saved, applied to new rows, without torch."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file
from sklearn.base import clone

from deem_core import DEEM, GroupedDawidSkene, Votes, apply, fuse, load, simulate, train
from deem_core.control import Control, Stopped
from deem_core.errors import InputError
from deem_core.estimators.peek import peek
from deem_core.estimators.summary import TrainingSummary
from deem_core.estimators.verbs import make_model
from deem_core.groups.latent_tree import ROOT
from deem_core.methods import registry
from deem_core.votes import NO_VOTE

ROOT_FOLDER = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def votes():
    return simulate("tree", 1_200, seed=3, labels=["cat", "dog", "bird"]).votes


@pytest.fixture(scope="module")
def model(votes):
    return GroupedDawidSkene(random_state=0).fit(votes)


@pytest.fixture
def file(model, tmp_path):
    path = tmp_path / "model.safetensors"
    model.save(path)
    return path


# ---------------------------------------------------------------------- fitting


def test_the_groups_of_a_tree_are_found_and_named(model, votes):
    assert {frozenset(name[:6] for name in group) for group in model.groups_} == {
        frozenset({"group1"}),
        frozenset({"group2"}),
        frozenset({"group3"}),
    }
    assert model.fits_
    assert model.warnings_ == []
    assert model.model_.groups == tuple(tuple(map(votes.learners.index, group)) for group in model.groups_)
    assert any("same mistakes" in sentence for sentence in model.findings_)


def test_the_truth_is_not_read(model, votes):
    shuffled = replace(votes, truth=np.random.default_rng(0).permutation(votes.truth))
    again = GroupedDawidSkene(random_state=0).fit(shuffled)
    assert np.array_equal(again.predict_proba(votes), model.predict_proba(votes))


def test_the_answer_is_the_methods_own(model, votes):
    rival = registry.aggregate("gds", votes, np.random.default_rng(0))
    assert np.allclose(model.predict_proba(votes), rival.posterior)
    answer = fuse(votes, "gds", random_state=0)
    assert (answer.codes == rival.codes).all()
    assert answer.method == "gds"
    assert set(model.findings_) <= set(answer.notes)


def test_it_is_better_than_the_majority_vote_on_a_tree(model, votes):
    majority = (votes.majority_vote.codes == votes.truth).mean()
    assert model.score(votes) > majority


def test_it_has_the_manners_of_a_scikit_learn_estimator(model, votes):
    assert clone(model).get_params() == model.get_params()
    assert model.predict(votes).tolist() == model.classes_[model.predict_proba(votes).argmax(axis=1)].tolist()
    frame = pd.DataFrame(votes.classes[votes.codes], columns=list(votes.learners))
    assert np.allclose(model.predict_proba(frame), model.predict_proba(votes))
    assert model.restarts_ == []
    assert model.history_ == []
    assert "groups" in model._repr_html_()


def test_settings_have_reasons(model):
    assert {"groups", "label", "iterations"} <= set(model.settings_)
    assert all(set(item) == {"value", "reason"} and item["reason"] for item in model.settings_.values())
    assert model.settings_["groups"]["value"] == 3


def test_the_summary_is_typed_and_survives_json(model):
    summary = model.summary_
    assert (summary.method, summary.restarts, summary.near_copies) == ("gds", (), ())
    assert summary.groups.groups == model.groups_
    assert summary.findings == model.findings_
    back = TrainingSummary.from_dict(json.loads(json.dumps(summary.to_dict())))
    assert back == summary


def test_a_misfit_is_a_warning():
    rng = np.random.default_rng(0)
    truth, hard = rng.integers(3, size=2_000), rng.random(2_000) < 0.4  # everybody errs on the same rows
    right = rng.random((2_000, 7)) < np.where(hard, 0.35, 0.95)[:, None]
    codes = np.where(right, truth[:, None], (truth[:, None] + rng.integers(1, 3, (2_000, 7))) % 3)
    votes = Votes(codes, np.arange(3), tuple(f"m{i}" for i in range(7)))
    model = GroupedDawidSkene(random_state=0).fit(votes)
    assert not model.fits_
    assert not model.summary_.groups.fits
    assert model.grouping_.reason in model.warnings_
    assert model.grouping_.reason not in model.findings_


@pytest.mark.parametrize(
    ("votes", "sentence"),
    [
        (Votes(np.zeros((9, 2), int), np.arange(2), ("a", "b")), "learners"),
        (simulate("condind", 200, seed=0, n_classes=120).votes, "classes"),
    ],
    ids=["two learners", "too many classes"],
)
def test_what_it_cannot_take_it_refuses_with_a_sentence(votes, sentence):
    with pytest.raises(InputError, match=sentence):
        GroupedDawidSkene().fit(votes)


def test_few_rows_are_answered_without_groups():
    votes = simulate("tree", 60, seed=0).votes
    model = GroupedDawidSkene(random_state=0).fit(votes)
    assert model.groups_ == ()
    assert "No search for groups" in model.settings_["groups"]["reason"]
    assert np.isfinite(model.predict_proba(votes)).all()


def test_a_stop_is_heard(votes):
    class Impatient(Control):
        def stopped(self):
            return True

    with pytest.raises(Stopped):
        GroupedDawidSkene().fit(votes, control=Impatient())


def test_settings_of_other_models_are_refused_by_name():
    with pytest.raises(InputError, match="gds has no setting 'restarts'"):
        make_model("gds", restarts=3)
    assert isinstance(make_model("gds", random_state=1), GroupedDawidSkene)


# ---------------------------------------------------------------------- files


def test_a_loaded_model_answers_alike(model, votes, file):
    back = load(file)
    assert isinstance(back, GroupedDawidSkene)
    assert np.array_equal(back.predict_proba(votes), model.predict_proba(votes))
    assert back.summary_ == model.summary_
    assert (back.groups_, back.fits_, back.warnings_) == (model.groups_, model.fits_, model.warnings_)
    assert back.get_params() == model.get_params()


def test_the_label_at_a_groups_latent_is_kept(model, votes, tmp_path):
    turned = clone(model).fit(votes)
    turned._attach(replace(turned.grouping_, model=turned.model_.with_label(1, np.array([2, 0, 1]))))
    turned.save(tmp_path / "m.safetensors")
    back = load(tmp_path / "m.safetensors")
    assert (back.model_.label, back.model_.class_map.tolist()) == (1, [2, 0, 1])
    assert np.array_equal(back.predict_proba(votes), turned.predict_proba(votes))


def test_a_model_without_groups_is_kept(tmp_path):
    votes = simulate("condind", 400, seed=0).votes
    model = GroupedDawidSkene(random_state=0).fit(votes.select_learners(votes.learners[:4]))
    assert model.groups_ == ()
    model.save(tmp_path / "m.safetensors")
    assert np.array_equal(load(tmp_path / "m.safetensors").predict_proba(votes), model.predict_proba(votes))


def test_a_file_is_known_from_outside(file, model):
    told = peek(file)
    assert (told.kind, told.learners, told.n_rows) == ("GroupedDawidSkene", model.learners_, 1_200)
    assert told.classes.tolist() == model.classes_.tolist()


def test_each_kind_reads_its_own_files(file):
    assert isinstance(GroupedDawidSkene.load(file), GroupedDawidSkene)
    with pytest.raises(InputError, match=r"holds a GroupedDawidSkene model, not a DEEM.*deem_core\.load"):
        DEEM.load(file)


def parts_of(file):
    with safe_open(file, framework="np") as opened:
        metadata = opened.metadata()
        return metadata, {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118  # no dictionary


@pytest.mark.parametrize(
    "change",
    [
        {"groups": [[0, 1], [1, 2]]},
        {"groups": [[0, 99]]},
        {"groups": [[0]]},
        {"groups": "all"},
        {"label": 7},
        {"label": 1e400},
        {"class_map": [0, 0, 1]},
        {"grouping": {}},
        {"grouping": {"fits": "yes"}},
        {"learners": ["a"]},
        {"estimator": "os.system"},
        {"estimator": ["DEEM"]},
        {"params": {"no_such": 1}},
    ],
    ids=str,
)
def test_damaged_headers_get_a_sentence(file, change):
    metadata, arrays = parts_of(file)
    metadata["json"] = json.dumps(json.loads(metadata["json"]) | change)
    save_file(arrays, file, metadata=metadata)
    with pytest.raises(InputError, match="damaged or not a DEEM Studio model"):
        load(file)


@pytest.mark.parametrize("name", ["pi", "A", "B", "prior"])
@pytest.mark.parametrize("how", ["missing", "shape", "nan", "kind"])
def test_damaged_parameters_get_a_sentence(file, name, how):
    metadata, arrays = parts_of(file)
    array = arrays.pop(name)
    if how != "missing":
        arrays[name] = {"shape": array[..., :-1].copy(), "nan": array * np.nan, "kind": array.astype(np.int64)}[how]
    save_file(arrays, file, metadata=metadata)
    with pytest.raises(InputError, match="damaged or not a DEEM Studio model"):
        load(file)


def test_parameters_must_be_probabilities(file):
    metadata, arrays = parts_of(file)
    save_file(arrays | {"B": arrays["B"] * 2}, file, metadata=metadata)
    with pytest.raises(InputError, match="damaged"):
        load(file)


# ---------------------------------------------------------------------- new rows


def test_it_labels_new_rows_missing_learners_and_unknown_labels(file, votes):
    frame = pd.DataFrame(votes.classes[votes.codes], columns=list(votes.learners)).astype(object)
    some = frame.drop(columns=list(votes.learners[:2])).head(30)
    some.iloc[0, 0] = "unicorn"
    some.iloc[1] = None
    answer = apply(file, some)
    assert len(answer.labels) == 30
    assert np.allclose(answer.posterior.sum(axis=1), 1)
    assert any("unknown in training" in note for note in answer.notes)
    assert any("No votes from" in note for note in answer.notes)
    model = load(file)
    assert np.allclose(answer.posterior[1], model.model_.prior)
    withheld = votes.codes[2:30].copy()
    withheld[:, :2] = NO_VOTE
    assert np.allclose(answer.posterior[2:], model.model_.posterior(withheld))


def test_it_labels_one_row(file, votes):
    one = votes.select_rows([0])
    assert np.allclose(apply(file, one).posterior, load(file).predict_proba(votes)[:1])


def test_a_row_without_votes_gets_the_prior(model, votes):
    codes = np.full((1, votes.n_learners), NO_VOTE)
    assert np.allclose(model.fuse_codes(codes), model.model_.prior)
    assert model.model_.label == ROOT


# ---------------------------------------------------------------------- without torch


def test_training_saving_loading_applying_and_inspecting_need_no_torch(tmp_path):
    code = (
        "import sys; from deem_core import apply, inspect, simulate, train; "
        "votes = simulate('tree', 400, seed=0).votes; model = train(votes, 'gds', random_state=0); "
        f"path = {str(tmp_path / 'm.safetensors')!r}; model.save(path); apply(path, votes); inspect(model, votes); "
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT_FOLDER, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_train_makes_it_by_name(votes):
    assert isinstance(train(votes, "gds", random_state=0), GroupedDawidSkene)
