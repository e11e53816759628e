"""Training can be stopped at any update and goes on later as if nothing had happened."""

import contextlib
import json

import numpy as np
import pytest

from deem_core import DEEM, IRBM
from deem_core.control import Control, Saved, Stopped
from deem_core.records import Record
from deem_core.simulate import make


class Kept(Control):
    """Stops after so many questions and keeps places in memory, their notes as JSON."""

    def __init__(self, patience: int = 10**9, every: int = 7) -> None:
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


@pytest.mark.parametrize("patience", [1, 23, 70, 131])
def test_a_stopped_training_goes_on_to_the_same_labels_and_records(votes, patience):
    settings = {"updates": 40, "batch_size": 64, "restarts": 4, "random_state": 0, "momentum": 0.5}
    whole = DEEM(**settings).fit(votes)
    control = Kept(patience)
    with contextlib.suppress(Stopped):
        DEEM(**settings).fit(votes, control=control)
    control.patience = 10**9
    resumed = DEEM(**settings).fit(votes, control=control)
    assert np.array_equal(resumed.fuse_codes(votes.codes), whole.fuse_codes(votes.codes))
    assert [(r.restart, r.update, r.difference) for r in resumed.history_] == [
        (r.restart, r.update, r.difference) for r in whole.history_
    ]
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
    assert control.asked == asked
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
