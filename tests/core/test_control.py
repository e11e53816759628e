"""Computations can be stopped, watched, and resumed as if nothing had happened."""

import contextlib
import json
from dataclasses import replace

import numpy as np
import pytest

from deem_core import DEEM, IRBM
from deem_core.control import NO_CONTROL, Control, Saved, Stopped, StopWhen
from deem_core.model.config import resolve
from deem_core.model.records import Record
from deem_core.simulation import make
from deem_core.training import restarts


class Heard(Control):
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, float, object]] = []

    def tell(self, step, share, record=None) -> None:
        self.told.append((step, share, record))


class Kept(Heard):
    """Stops after so many questions and keeps places in memory, their notes as JSON."""

    def __init__(self, patience: int = 10**9, every: int = 7) -> None:
        super().__init__()
        self.patience, self.every, self.asked = patience, every, 0
        self.places: dict[str, tuple[dict, str]] = {}

    def stopped(self) -> bool:
        self.asked += 1
        return self.asked > self.patience

    def due(self, key: str) -> bool:
        return self.asked % self.every == 0

    def save(self, key: str, saved: Saved) -> None:
        self.places[key] = ({name: tensor.clone() for name, tensor in saved.tensors.items()}, json.dumps(saved.notes))

    def load(self, key: str) -> Saved | None:
        if key not in self.places:
            return None
        tensors, notes = self.places[key]
        return Saved(tensors, json.loads(notes))


@pytest.fixture(scope="module")
def votes():
    return make("tree", 400, 0).votes


FOUR = {"updates": 40, "batch_size": 64, "restarts": 4, "random_state": 0, "momentum": 0.5}


@pytest.fixture(scope="module")
def whole(votes):
    """A training that nobody stopped."""
    return DEEM(**FOUR).fit(votes)


@pytest.mark.parametrize("patience", [1, 23, 70, 131])
def test_a_stopped_training_goes_on_to_the_same_labels_and_records(votes, whole, patience):
    control = Kept(patience)
    with contextlib.suppress(Stopped):
        DEEM(**FOUR).fit(votes, control=control)
    control.patience = 10**9
    resumed = DEEM(**FOUR).fit(votes, control=control)
    assert np.array_equal(resumed.fuse_codes(votes.codes), whole.fuse_codes(votes.codes))
    assert [(r.restart, r.update, r.difference) for r in resumed.history_] == [
        (r.restart, r.update, r.difference) for r in whole.history_
    ]
    assert resumed.restarts_ == whole.restarts_


def test_a_training_begun_in_small_stacks_goes_on_where_stacks_are_large(votes, monkeypatch):
    """A CPU trains three restarts side by side, a GPU all of them."""
    settings = {"updates": 40, "batch_size": 64, "restarts": 5, "random_state": 0}
    settings |= {"near_copies": "keep", "start": "majority"}
    whole = DEEM(**settings).fit(votes)
    control = Kept(50)
    with contextlib.suppress(Stopped):
        DEEM(**settings).fit(votes, control=control)
    control.patience = 10**9
    monkeypatch.setattr(restarts, "stack_size", lambda asked, *_: asked)
    resumed = DEEM(**settings).fit(votes, control=control)
    assert np.array_equal(resumed.fuse_codes(votes.codes), whole.fuse_codes(votes.codes))
    assert resumed.restarts_ == whole.restarts_


def test_stopping_says_so(votes):
    with pytest.raises(Stopped, match="Stopped"):
        DEEM(updates=40, random_state=0).fit(votes, control=Kept(5))


def test_a_training_that_was_finished_is_not_trained_again(votes):
    settings = {"updates": 10, "batch_size": 64, "restarts": 2, "random_state": 0, "method": "cd"}
    control = Kept()
    first = IRBM(**settings).fit(votes, control=control)
    seen: list[object] = []
    asked = control.asked
    again = IRBM(**settings).fit(votes, control=control, watch=seen.append)
    assert not seen
    assert control.asked <= asked + 1  # before its only stack, and before no update
    assert np.array_equal(first.predict(votes), again.predict(votes))


def test_an_early_stop_is_not_gone_past_when_training_is_taken_up_again(votes):
    settings = {"updates": 600, "batch_size": 64, "restarts": 2, "random_state": 0, "early_stop": True}
    control = Kept()
    first = DEEM(**settings).fit(votes, control=control)
    again = DEEM(**settings).fit(votes, control=control)
    assert len(again.history_) == len(first.history_)
    assert np.array_equal(first.fuse_codes(votes.codes), again.fuse_codes(votes.codes))


def test_records_come_back_from_json_with_numbers_that_are_not_finite():
    values = dict.fromkeys(("restart", "update"), 1) | {"shares": [0.5, 0.5]}
    numbers = ("epoch", "positive", "negative", "difference", "energy_positive", "energy_negative")
    values |= dict.fromkeys((*numbers, "energy_difference", "acceptance", "moved", "seconds"), None)
    record = Record.from_dict(values)
    assert np.isnan(record.positive)
    assert record.shares.tolist() == [0.5, 0.5]


def test_the_plain_control_stops_nothing_and_keeps_nothing():
    NO_CONTROL.save("key", Saved({}, {}))
    NO_CONTROL.check()
    assert NO_CONTROL.load("key") is None
    assert not NO_CONTROL.due("key")


def test_a_callable_becomes_a_control():
    pressed = []
    control = StopWhen(lambda: bool(pressed))
    control.check()
    pressed.append(True)
    assert control.stopped()
    with pytest.raises(Stopped, match="Stopped as requested"):
        control.check()


def test_a_part_tells_its_share_of_the_whole_and_leaves_its_checkpoints_there():
    whole, record = Kept(patience=1), object()
    half = whole.part(0.5, 1.0)
    half.part(0.0, 0.5).tell("Deep inside", 0.5, record)
    assert whole.told == [("Deep inside", 0.625, record)]
    half.save("key", Saved({}, {"a": 1}))
    assert whole.load("key").notes == half.load("key").notes == {"a": 1}
    assert not half.stopped()
    assert half.stopped()


def test_a_part_that_is_one_step_keeps_its_own_steps_and_records_to_itself():
    whole = Heard()
    whole.part(0.0, 0.5, "Choosing").tell("Sweeping", 1.0, object())
    assert whole.told == [("Choosing", 0.5, None)]


def test_a_fit_tells_how_far_all_restarts_have_come_together(votes):
    control, seen = Heard(), []
    DEEM(updates=10, batch_size=64, restarts=4, random_state=0, start="majority").fit(
        votes, control=control, watch=seen.append
    )
    assert [record for _, _, record in control.told] == seen
    assert {step for step, _, _ in control.told} == {"Training"}
    shares = [share for _, share, _ in control.told]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert {"restart", "training", "share", "positive"} <= set(seen[0].to_dict())


def test_what_was_trained_before_counts_when_a_fit_is_resumed(votes):
    settings = {"updates": 40, "batch_size": 64, "restarts": 2, "random_state": 0}
    settings |= {"near_copies": "keep", "start": "majority"}
    control = Kept(30)
    with contextlib.suppress(Stopped):
        DEEM(**settings).fit(votes, control=control)
    control.patience, control.told = 10**9, []
    DEEM(**settings).fit(votes, control=control)
    assert control.told[0][1] > 0.7
    assert control.told[-1][1] == 1


def test_choosing_the_rate_is_the_first_half_of_a_fit(votes, monkeypatch):
    from deem_core.training.sweep import candidates

    monkeypatch.setattr(candidates, "DOUBLINGS", range(-1, 1))
    monkeypatch.setattr(candidates, "resolve", lambda config, shape: resolve(replace(config, updates=12), shape))
    control = Heard()
    settings = {"updates": 10, "batch_size": 64, "restarts": 2, "random_state": 0, "start": "majority"}
    DEEM(learning_rate="auto", **settings).fit(votes, control=control)
    steps = list(dict.fromkeys(step for step, _, _ in control.told))
    assert steps == ["Choosing the learning rate", "Training"]
    sweep = [share for step, share, _ in control.told if step == steps[0]]
    assert sweep[0] == 0
    assert max(sweep) == 0.5
    assert min(share for step, share, _ in control.told if step == "Training") >= 0.5
