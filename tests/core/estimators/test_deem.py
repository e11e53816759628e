import copy
import json
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from safetensors.torch import save_file
from sklearn.base import clone

import deem_core
from deem_core import DEEM, IRBM, InputError, Votes, simulation
from deem_core.groups.cliques import Clique
from deem_core.training import restarts
from deem_core.training.near_copies import Reduction
from deem_core.votes.describe import accuracy

QUICK = {"random_state": 0, "restarts": 2, "updates": 40, "batch_size": 256, "start": "majority"}


@pytest.fixture(scope="module")
def ensemble():
    return simulation.tree(1500, rng=np.random.default_rng(0))


@pytest.fixture(scope="module")
def fitted(ensemble):
    return DEEM(**QUICK, near_copies="keep").fit(ensemble.votes)


def test_parameters_follow_scikit_learn():
    model = DEEM(n_layers=2, random_state=3)
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(restarts=7).restarts == 7
    assert IRBM(method="cd").get_params()["method"] == "cd"
    assert "n_layers" not in IRBM().get_params()


def test_prediction_comes_in_original_labels(ensemble, fitted):
    labelled = simulation.relabel(ensemble, ["no", "maybe", "yes"])
    model = DEEM(**QUICK, near_copies="keep").fit(labelled.votes)
    assert set(model.predict(labelled.votes)) <= {"no", "maybe", "yes"}
    probabilities = fitted.predict_proba(ensemble.votes)
    assert probabilities.shape == (1500, 3)
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert (fitted.classes_[probabilities.argmax(axis=1)] == fitted.predict(ensemble.votes)).all()


def test_votes_arrays_and_frames_give_the_same_model(ensemble):
    votes = ensemble.votes
    array = np.array(votes.codes)
    expected = DEEM(**QUICK).fit(votes).predict_proba(votes)
    assert np.array_equal(DEEM(**QUICK).fit(array).predict_proba(array), expected)
    frame = pd.DataFrame(array, columns=votes.learners)
    assert np.array_equal(DEEM(**QUICK).fit(frame).predict_proba(frame[list(frame.columns[::-1])]), expected)


def test_soft_votes_are_trained_on_their_most_probable_classes(ensemble):
    soft = simulation.soften(ensemble, rng=np.random.default_rng(0)).votes
    expected = DEEM(**QUICK).fit(np.array(soft.codes)).predict_proba(np.array(soft.codes))
    assert np.array_equal(DEEM(**QUICK).fit(np.array(soft.soft)).predict_proba(np.array(soft.soft)), expected)


def test_the_same_seed_gives_the_same_labels(ensemble, fitted):
    again = DEEM(**QUICK, near_copies="keep").fit(ensemble.votes)
    assert np.array_equal(again.predict_proba(ensemble.votes), fitted.predict_proba(ensemble.votes))
    other = DEEM(**{**QUICK, "random_state": 1}, near_copies="keep").fit(ensemble.votes)
    assert not np.array_equal(other.predict_proba(ensemble.votes), fitted.predict_proba(ensemble.votes))


def test_truth_never_reaches_training(ensemble, fitted):
    votes = ensemble.votes
    shuffled = np.random.default_rng(1).permutation(votes.truth)
    lied_to = Votes(votes.codes, votes.classes, votes.learners, votes.ids, shuffled)
    found = DEEM(**QUICK, near_copies="keep").fit(lied_to, shuffled).predict_proba(votes)
    assert np.array_equal(found, fitted.predict_proba(votes))


def test_what_training_did_is_told(fitted):
    assert fitted.settings_["n_layers"] == {"value": 1, "reason": "42 rows per input unit are enough for a layer"}
    expected = np.random.SeedSequence([fitted.seed_, 0]).generate_state(2).tolist()
    assert [restart["seed"] for restart in fitted.restarts_] == expected
    assert [(restart["training"], restart["kept"], restart["reason"]) for restart in fitted.restarts_] == [
        (0, True, "")
    ] * 2
    assert all(0.5 <= restart["share_ratio"] <= 1.5 for restart in fitted.restarts_)
    updates = [[record.update for record in fitted.history_ if record.restart == r] for r in (0, 1)]
    assert updates == [list(range(1, 41))] * 2
    assert fitted.class_map_.shape == (2, 3)
    assert fitted.seconds_ > 0
    assert fitted.device_ in ("cpu", "cuda", "mps")


def test_early_stopping_ends_a_run_that_has_settled(ensemble):
    model = DEEM(
        random_state=0, restarts=1, updates=1500, batch_size=128, n_layers=0, early_stop=True, near_copies="keep"
    )
    model.fit(ensemble.votes)
    assert model.history_[-1].update < 1500


def test_progress_is_told_while_training(ensemble):
    seen = []
    DEEM(**QUICK, near_copies="keep").fit(ensemble.votes, watch=seen.append)
    assert max(progress.share for progress in seen) == 1
    assert {progress.restart for progress in seen} == {0, 1}
    assert seen[0].restarts == 2


class TestFurtherRestarts:
    """Where too few restarts survive, as many again are trained."""

    @staticmethod
    def collapse(monkeypatch, lost):
        """Let restarts with these numbers fail, whatever they learnt."""

        def judged(task, model, failures):
            failed = ["it was told to" if r in lost else failure for r, failure in enumerate(failures)]
            return real(task, model, failed)

        real = restarts.LabelTask.judge
        monkeypatch.setattr(restarts.LabelTask, "judge", judged)

    def test_they_replace_the_lost_ones(self, ensemble, monkeypatch):
        self.collapse(monkeypatch, {0, 1, 3})
        seen = []
        model = DEEM(**QUICK, near_copies="keep").fit(ensemble.votes, watch=seen.append)
        assert [restart["kept"] for restart in model.restarts_] == [False, False, True, False, True, True]
        assert not model.fallback_
        assert len(model.class_map_) == 3
        assert len({restart["seed"] for restart in model.restarts_}) == 6
        assert "too few of the first 2 survived, so 4 more were trained" in model.warnings_[0]
        assert {progress.restart for progress in seen} == set(range(6))
        assert [seen[0].restarts, seen[-1].restarts] == [2, 6]

    def test_a_hedged_training_numbers_them_after_the_hedge(self, monkeypatch):
        votes = simulation.make("copies", 600, 0, n_learners=9, n_classes=3).votes
        self.collapse(monkeypatch, {0, 1})
        seen = []
        model = DEEM(**QUICK | {"updates": 4}, near_copies="guard").fit(votes, watch=seen.append)
        trainings = [restart["training"] for restart in model.restarts_]
        assert {(one.restart, one.training) for one in seen} == set(enumerate(trainings))

    def test_without_need_nothing_changes(self, ensemble, fitted, monkeypatch):
        self.collapse(monkeypatch, set())
        again = DEEM(**QUICK, near_copies="keep").fit(ensemble.votes)
        assert len(again.restarts_) == 2
        assert np.array_equal(again.predict_proba(ensemble.votes), fitted.predict_proba(ensemble.votes))

    def test_where_all_collapse_the_majority_vote_answers_soon(self, ensemble, monkeypatch):
        self.collapse(monkeypatch, set(range(100)))
        model = DEEM(**QUICK, near_copies="keep").fit(ensemble.votes)
        assert model.fallback_
        assert len(model.restarts_) == 4  # four without a survivor: the third try is not made


class TestDraws:
    """E(Y|X) by drawn layers."""

    def test_draws_are_a_setting_of_the_run_and_come_back_from_its_file(self, ensemble, tmp_path):
        model = DEEM(**QUICK | {"updates": 20}, n_layers=1, draws=3).fit(ensemble.votes)
        assert model.settings_["draws"] == {"value": 3, "reason": "given"}
        model.save(tmp_path / "model.safetensors")
        again = deem_core.load(tmp_path / "model.safetensors")
        assert np.array_equal(again.predict_proba(ensemble.votes), model.predict_proba(ensemble.votes))

    def test_draws_change_probabilities_and_are_repeatable(self, ensemble, fitted):
        one, same, other = (deem_core.apply(fitted, ensemble.votes, draws=n).posterior for n in (5, 5, 0))
        assert np.array_equal(one, same)
        assert not np.allclose(one, other)
        assert np.array_equal(other, fitted.predict_proba(ensemble.votes))  # the model itself is left alone

    def test_the_answer_for_a_row_does_not_depend_on_the_rows_beside_it(self, ensemble, fitted):
        whole = deem_core.apply(fitted, ensemble.votes, draws=5).posterior
        part = deem_core.apply(fitted, ensemble.votes.select_rows(slice(100, 140)), draws=5).posterior
        assert np.allclose(part, whole[100:140], atol=1e-6)

    def test_a_model_without_layers_says_that_there_is_nothing_to_draw(self, ensemble):
        model = DEEM(**QUICK | {"updates": 20}, n_layers=0, draws=3).fit(ensemble.votes)
        assert any("no layers to draw from" in warning for warning in model.warnings_)
        with pytest.raises(InputError, match="no layers to draw from"):
            deem_core.apply(deem_core.IRBM().fit(ensemble.votes), ensemble.votes, draws=3)


def test_rows_without_votes_get_the_prior(fitted):
    found = fitted.predict_proba(np.full((1, 12), np.nan))
    assert found[0] == pytest.approx(fitted.prior_)


def test_score_is_evaluation(ensemble, fitted):
    votes = ensemble.votes
    expected = accuracy(fitted.predict_proba(votes).argmax(axis=1), votes.truth)
    assert fitted.score(votes) == pytest.approx(expected)
    assert fitted.score(np.array(votes.codes), votes.truth) == pytest.approx(expected)
    with pytest.raises(InputError, match="no truth to score against"):
        fitted.score(votes.without_truth())


def test_a_hedged_answer_is_the_mean_of_both_trainings_and_the_vote_shares(fitted):
    """One voice for the first two learners, so that the shares are not those of the file."""

    class Says:
        def __init__(self, *shares):
            self.shares = np.array(shares)

        def posteriors(self, codes, *_):
            return np.tile(self.shares, (len(codes), 1))

    model = copy.copy(fitted)
    model.parts_, model.hedged_ = [Says(0.9, 0.1, 0.0), Says(0.2, 0.2, 0.6)], True
    model.reduction_ = Reduction.of(model.learners_, [Clique(model.learners_[:2], 1.0, "tight")])
    codes = np.array([[0, 0, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2]], np.int32)  # 1, 2 and 8 of 11 voices
    expected = (np.array([0.9, 0.1, 0.0]) + [0.2, 0.2, 0.6] + np.array([1, 2, 8]) / 11) / 3
    np.testing.assert_allclose(model.fuse_codes(codes), expected[None])
    model.hedged_ = False
    np.testing.assert_allclose(model.fuse_codes(codes), [[0.9, 0.1, 0.0]])


class TestNewRows:
    def test_unknown_labels_are_counted_and_count_as_not_cast(self, fitted):
        rows = np.array([[0] * 12, [1] * 11 + [9]])
        assert fitted.recoded(rows).unknown == {"9": 1}
        missing = np.array([[0] * 12, [1] * 11 + [-1]])
        assert np.array_equal(fitted.predict_proba(rows), fitted.predict_proba(missing))

    def test_learners_are_matched_by_name(self, ensemble, fitted):
        votes = ensemble.votes
        turned = votes.select_learners(votes.learners[::-1])
        assert np.array_equal(fitted.predict_proba(turned), fitted.predict_proba(votes))
        recoded = fitted.recoded(votes.select_learners(votes.learners[:5]))
        assert recoded.absent == votes.learners[5:]
        assert "; treated as missing" in recoded.sentences()[0]

    def test_rows_of_one_class_can_be_labelled(self, fitted):
        assert fitted.predict(np.full((3, 12), 2)).tolist() == [2, 2, 2]

    def test_votes_of_strangers_are_refused(self, fitted):
        with pytest.raises(InputError, match="None of the model's learners"):
            fitted.predict(Votes.from_labels([[0, 1], [1, 0]]))
        with pytest.raises(InputError, match="knows 12 learners; these votes have 2"):
            fitted.predict([[0, 1], [1, 0]])


class TestRobustness:
    def test_fewer_than_three_learners_are_refused_with_the_reason(self):
        labels = [[0, 1], [1, 1], [0, 0]] * 20
        with pytest.raises(InputError, match="not identifiable"):
            DEEM(**QUICK).fit(labels)
        assert DEEM(**QUICK, allow_few_learners=True).fit(labels).predict(labels).shape == (60,)

    def test_impossible_settings_are_refused_when_fitting(self):
        with pytest.raises(InputError, match="learning_rate is -1"):
            DEEM(learning_rate=-1).fit([[0, 1, 1], [1, 1, 0]])

    def test_votes_that_are_all_missing_are_refused(self):
        with pytest.raises(InputError, match="every vote is missing"):
            DEEM().fit(Votes(np.full((3, 3), -1), np.arange(2), ["a", "b", "c"]))

    def test_a_forced_collapse_is_noticed_and_the_majority_vote_returned(self, ensemble):
        votes = ensemble.votes
        model = DEEM(random_state=0, restarts=3, updates=30, learning_rate=100, near_copies="keep").fit(votes)
        assert model.fallback_
        assert not any(restart["kept"] for restart in model.restarts_)
        assert any("These labels are the plain majority vote." in warning for warning in model.warnings_)
        assert (model.predict_proba(votes).argmax(axis=1) == votes.majority_vote.codes).all()

    def test_near_copies_of_a_guesser_do_not_capture_the_label(self):
        rng = np.random.default_rng(3)
        base = simulation.condind(2000, rng=rng)
        guesser = base.votes.codes[:, -1]
        copies = [np.where(rng.random(2000) < 0.05, rng.integers(0, 3, 2000), guesser) for _ in range(2)]
        codes = np.column_stack([base.votes.codes, *copies])
        votes = Votes(codes, np.arange(3), [*base.votes.learners, "copy_1", "copy_2"], truth=base.truth)
        quick = {"random_state": 0, "restarts": 2, "updates": 100, "start": "majority"}
        model = DEEM(**quick).fit(votes)
        assert any({"copy_1", "copy_2"} <= set(clique.learners) for clique in model.near_copies_.cliques)
        assert accuracy(model.fuse_codes(votes.codes).argmax(axis=1), votes.truth) > 0.9
        captured = DEEM(**quick, near_copies="keep").fit(votes)
        majority = accuracy(votes.majority_vote.codes, votes.truth)
        assert accuracy(captured.fuse_codes(votes.codes).argmax(axis=1), votes.truth) < majority - 0.05

    def test_missing_votes_work_throughout(self):
        made = simulation.drop_votes(
            simulation.tree(800, rng=np.random.default_rng(0)), 0.4, rng=np.random.default_rng(1)
        )
        for model in (DEEM(**QUICK), DEEM(**QUICK, n_layers=0), IRBM(), IRBM(method="cd", **QUICK)):
            found = model.fit(made.votes).predict_proba(made.votes)
            assert np.isfinite(found).all()
            assert accuracy(found.argmax(axis=1), made.truth) > 0.8

    def test_default_settings_beat_the_majority_on_a_draw_with_an_expert(self):
        made = simulation.ampdata(4000, rng=np.random.default_rng(0))
        votes = made.votes
        model = DEEM(random_state=0, restarts=3).fit(votes)
        majority = accuracy(votes.majority_vote.codes, made.truth)
        assert accuracy(model.fuse_codes(votes.codes).argmax(axis=1), made.truth) > majority + 0.05


class TestFiles:
    def test_class_maps_that_are_no_identity_survive_a_file(self, tmp_path, ensemble, fitted):
        """Hidden states are renamed in a cycle, which is not its own inverse: no answer may change."""
        model, cycle = copy.copy(fitted), [1, 2, 0]
        (part,) = fitted.parts_
        weights, visible, hidden, *layers = part.model.parameters()
        renamed = part.model.with_parameters([weights[..., cycle], visible, hidden[..., cycle], *layers])
        model.parts_ = [replace(part, model=renamed, maps=part.maps[:, cycle])]
        expected = fitted.predict_proba(ensemble.votes)
        np.testing.assert_allclose(model.predict_proba(ensemble.votes), expected, atol=1e-6)
        model.save(tmp_path / "m.safetensors")
        again = DEEM.load(tmp_path / "m.safetensors")
        assert (again.class_map_ == part.maps[:, cycle]).all()
        np.testing.assert_allclose(again.predict_proba(ensemble.votes), expected, atol=1e-6)

    def test_a_saved_model_answers_as_before(self, tmp_path, ensemble, fitted):
        fitted.save(tmp_path / "m.safetensors")
        again = DEEM.load(tmp_path / "m.safetensors")
        assert np.array_equal(again.predict_proba(ensemble.votes), fitted.predict_proba(ensemble.votes))
        assert again.settings_ == fitted.settings_
        assert again.restarts_ == fitted.restarts_
        assert len(again.history_) == len(fitted.history_)
        assert again.get_params() == fitted.get_params()

    def test_exact_and_guarded_models_are_saved_too(self, tmp_path):
        made = simulation.simulate("copies", 600, 0, 6, 4)
        for model in (IRBM(random_state=0), DEEM(**QUICK, near_copies="collapse")):
            model.fit(made.votes).save(tmp_path / "m.safetensors")
            again = type(model).load(tmp_path / "m.safetensors")
            assert np.array_equal(again.predict_proba(made.votes), model.predict_proba(made.votes))

    def test_a_model_of_another_kind_is_refused(self, tmp_path, fitted):
        fitted.save(tmp_path / "m.safetensors")
        with pytest.raises(InputError, match="holds a DEEM model, not a IRBM"):
            IRBM.load(tmp_path / "m.safetensors")

    @pytest.mark.parametrize("kind", ["missing", "empty", "text", "pickle", "truncated", "foreign", "newer", "lying"])
    def test_damaged_foreign_and_hostile_files_are_refused(self, tmp_path, fitted, kind):
        path = tmp_path / "m.safetensors"
        fitted.save(path)
        content = path.read_bytes()
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        if kind == "missing":
            path.unlink()
        elif kind == "truncated":
            path.write_bytes(content[: len(content) // 2])
        elif kind in ("empty", "text", "pickle"):
            path.write_bytes({"empty": b"", "text": b"hello", "pickle": pickle.dumps(print)}[kind])
        elif kind == "foreign":
            import torch

            save_file({"weight": torch.zeros(2)}, path)
        else:
            metadata = header["__metadata__"]
            if kind == "newer":
                metadata["version"] = "99"
            else:
                story = json.loads(metadata["json"])
                story["classes"] = story["classes"][:2]
                metadata["json"] = json.dumps(story)
            text = json.dumps(header).encode()
            rest = content[8 + int.from_bytes(content[:8], "little") :]
            path.write_bytes(len(text).to_bytes(8, "little") + text + rest)
        with pytest.raises(InputError, match=r"DEEM Studio|no model file"):
            DEEM.load(path)


def test_the_irbm_by_both_methods_beats_the_majority_on_independent_learners():
    made = simulation.condind(3000, rng=np.random.default_rng(5))
    majority = accuracy(made.votes.majority_vote.codes, made.truth)
    for model in (IRBM(random_state=0), IRBM(method="cd", random_state=0, restarts=2)):
        assert model.fit(made.votes).score(made.votes) > majority + 0.1
    with pytest.raises(InputError, match="one of exact, cd"):
        IRBM(method="magic").fit(made.votes)
