"""An inspection holds everything that needs no choice, keeps the truth apart, and survives being saved."""

from __future__ import annotations

import copy
import json
from dataclasses import replace

import numpy as np
import pytest

from deem_core import InputError, Votes
from deem_core.control import Control, Stopped
from deem_core.diagnostics.inspection import Inspection, inspect
from deem_core.diagnostics.unanimity import overruled_rows
from deem_core.training.health import share_ratio
from deem_core.votes.describe import describe

RNG = np.random.default_rng


@pytest.fixture(scope="module")
def found(layered):
    return inspect(layered.model, layered.votes, rng=RNG(0), rows=400)


def test_truth_serves_the_evaluation_and_nothing_else(layered, found):
    blind = inspect(layered.model, layered.votes.without_truth(), rng=RNG(0), rows=400)
    assert blind.evaluation is None
    seen, unseen = found.to_dict(), blind.to_dict()
    assert seen.pop("evaluation") is not None
    assert unseen.pop("evaluation") is None
    assert seen == unseen


def test_the_evaluation_scores_labels_by_the_truth(layered, found):
    own = found.evaluation
    assert own.accuracy == pytest.approx(layered.model.score(layered.votes))
    assert own.majority_accuracy == pytest.approx(describe(layered.votes).majority_accuracy)
    assert own.ceiling >= own.accuracy
    assert own.dependence.given == "truth"
    assert own.temperature.n_rows == layered.votes.n_rows
    assert own.by_confidence.accuracy[-1] == pytest.approx(own.accuracy)


def test_little_truth_is_used_without_a_temperature(layered):
    truth = layered.votes.truth.copy()
    truth[50:] = -1
    own = inspect(layered.model, replace(layered.votes, truth=truth), rng=RNG(0), rows=100).evaluation
    assert own.n_truth == 50
    assert own.temperature is None


def test_what_is_saved_is_what_is_loaded(tmp_path, merged, found):
    for at, made in enumerate((found, inspect(merged.model, merged.votes, rng=RNG(0), rows=200))):
        made.save(tmp_path / str(at))
        back = Inspection.load(tmp_path / str(at))
        assert back.to_dict() == made.to_dict()
        assert back.influence.by_class.dtype == np.float64
        for name, frame in made.frames().items():
            assert frame.equals(back.frames()[name]), name
    assert sorted(path.name for path in (tmp_path / "0").iterdir()) == ["inspection.json", "inspection.npz"]


def test_plain_values_are_json_and_tables_are_parquet(tmp_path, found):
    json.dumps(found.to_dict(), allow_nan=False)
    for name, frame in found.frames().items():
        frame.to_parquet(tmp_path / f"{name}.parquet")
        assert len(frame.to_csv(index=False).splitlines()) == len(frame) + 1, name


def test_a_damaged_or_missing_inspection_is_told_in_a_sentence(tmp_path, found):
    with pytest.raises(InputError, match="Compute it first"):
        Inspection.load(tmp_path)
    found.save(tmp_path)
    (tmp_path / "inspection.npz").write_bytes(b"nothing")
    with pytest.raises(InputError, match="damaged"):
        Inspection.load(tmp_path)
    found.save(tmp_path)
    (tmp_path / "inspection.json").write_text('{"version": 1, "result": {"kind": "Popen", "fields": {}}}')
    with pytest.raises(InputError, match="damaged"):
        Inspection.load(tmp_path)
    (tmp_path / "inspection.json").write_text('{"version": 99}')
    with pytest.raises(InputError, match="newer"):
        Inspection.load(tmp_path)


def test_merged_near_copies_have_an_influence_together(merged):
    made = inspect(merged.model, merged.votes, rng=RNG(0), rows=200)
    assert made.voices.subjects == merged.model.reduction_.learners
    assert made.influence.subjects == merged.votes.learners


def test_all_kinds_of_models_can_be_inspected(independent, layered):
    exact = inspect(independent.model, independent.votes, rng=RNG(0), rows=200)
    assert exact.exact_confusion.source == "exact"
    hedged, fallen = copy.copy(layered.model), copy.copy(layered.model)
    hedged.parts_, hedged.hedged_ = layered.model.parts_ * 2, True
    fallen.parts_ = []
    for model in (hedged, fallen):
        made = inspect(model, layered.votes, rng=RNG(0), rows=200)
        assert np.isfinite(made.influence.overall).all()
        # learners are judged by the trainings, not by their own votes in the shares
        assert np.abs(made.reliability.accuracy - made.evaluation.reliability.accuracy).mean() < 0.1


def test_rows_without_votes_and_unknown_labels_do_not_disturb(layered):
    labels = np.array([["0", "1", "2", "never seen"]], object).repeat(2, axis=0).T
    labels = np.tile(labels, (50, 4))
    labels[7] = None
    votes = Votes.from_labels(labels, learners=layered.votes.learners, truth=["0", "1", "2", "never seen"] * 50)
    made = inspect(layered.model, votes, rng=RNG(0), rows=100)
    assert made.confidence.n_silent == 50  # all votes of every fourth row are for an unknown label
    assert made.confidence.confidence.sum() == 150
    assert made.evaluation.accuracy == 1


def test_steps_are_told_and_it_can_be_stopped(layered):
    shares = []

    class Listening(Control):
        def tell(self, step, share, record=None) -> None:
            shares.append(share)

    inspect(layered.model, layered.votes, rng=RNG(0), rows=50, control=Listening())
    assert shares == sorted(shares)
    assert shares[-1] == 1

    class Stopping(Control):
        def stopped(self) -> bool:
            return True

    with pytest.raises(Stopped):
        inspect(layered.model, layered.votes, rng=RNG(0), control=Stopping())


def test_the_health_of_the_answer_is_told(layered, found):
    labels = layered.model.fuse_codes(layered.votes.codes).argmax(axis=1)
    assert found.health.share_ratio == share_ratio(labels, layered.votes.majority_vote.codes, 3)
    assert not found.health.alarm
    assert found.health.restart_agreement.shape == (2,)


def test_a_forced_collapse_is_an_alarm(layered):
    model, part = copy.copy(layered.model), layered.model.parts_[0]
    biased = part.model.hidden_bias.clone()
    hidden = [int(np.flatnonzero(own == 2)[0]) for own in part.maps]
    for r, state in enumerate(hidden):
        biased[r, state] -= 100  # no row can be of class 2 any more
    model.parts_ = [replace(part, model=replace(part.model, hidden_bias=biased))]
    made = inspect(model, layered.votes, rng=RNG(0), rows=50)
    assert made.health.share_ratio < 0.1
    assert made.health.alarm
    assert made.overruled.n_overruled == made.overruled.rows.size > 0
    assert set(made.overruled.voted) == {"2"}


def test_unanimous_votes_that_were_overruled_are_listed_those_with_most_votes_first():
    votes = Votes.from_labels(
        [["a", "a", None], ["a", "a", "a"], ["b", "b", "b"], ["a", None, None], ["a", "b", "a"]],
        classes=["a", "b"],
        ids=list("vwxyz"),
    )
    found = overruled_rows(votes, np.array([1, 1, 1, 1, 1]))
    assert (found.n_unanimous, found.n_overruled) == (3, 2)
    assert found.ids == ("w", "v")
    assert found.share == pytest.approx(2 / 3)
    assert found.to_frame()["row"].tolist() == [2, 1]
    assert overruled_rows(votes, np.array([1, 1, 1, 1, 1]), most=1).n_overruled == 2
