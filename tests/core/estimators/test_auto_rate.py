"""learning_rate="auto" runs a sweep, uses what it recommends, and says so; without a safe rate it says that too."""

import json

import numpy as np
import pytest

from deem_core import DEEM, IRBM, cli
from deem_core.control import Control, Saved, Stopped
from deem_core.errors import InputError
from deem_core.estimators import deem
from deem_core.simulation import make
from deem_core.training import start
from deem_core.training.guidance import Recommendation
from deem_core.training.near_copies import guard
from deem_core.training.sweep import Sweep, sweep, sweeper

SMALL = {"updates": 20, "batch_size": 64, "restarts": 2, "random_state": 0, "start": "majority"}


@pytest.fixture(scope="module")
def votes():
    return make("tree", 200, 0).votes


@pytest.fixture
def swept(votes, monkeypatch):
    """A real but tiny sweep in place of the default one."""
    found = sweep(votes, [0.1, 0.4], updates=20, batch_size=64, random_state=0)
    calls = []

    def quick(*_, **settings):
        calls.append(settings)
        return found

    monkeypatch.setattr(deem, "sweep", quick)
    return found, calls


def recommending(found: Sweep, rate: float | None) -> Sweep:
    kind = "no rate is safe" if rate is None else "recommended"
    index = None if rate is None else found.rates.tolist().index(rate)
    layers = None if index is None else int(found.n_layers[index])
    chosen = Recommendation(kind, index, rate, layers, "It dips and settles.", "Try lower rates.")
    return Sweep(**{**vars(found), "recommendation": chosen})


def test_the_recommended_rate_is_used_and_recorded(votes, swept, monkeypatch, tmp_path):
    found, _ = swept
    monkeypatch.setattr(deem, "sweep", lambda *_, **__: recommending(found, 0.4))
    model = DEEM(learning_rate="auto", **SMALL).fit(votes)
    assert model.settings_["learning_rate"]["value"] == 0.4
    assert "chosen by a sweep" in model.settings_["learning_rate"]["reason"]
    assert model.sweep_.recommendation.learning_rate == 0.4
    same = DEEM(learning_rate=0.4, **SMALL).fit(votes)
    assert same.sweep_ is None
    assert np.array_equal(model.predict_proba(votes), same.predict_proba(votes))
    model.save(tmp_path / "model.safetensors")
    back = DEEM.load(tmp_path / "model.safetensors")
    assert back.sweep_.recommendation == model.sweep_.recommendation
    assert np.array_equal(back.sweep_.difference, model.sweep_.difference, equal_nan=True)


def test_without_a_safe_rate_the_default_is_used_with_a_warning(votes, swept, monkeypatch):
    found, _ = swept
    monkeypatch.setattr(deem, "sweep", lambda *_, **__: recommending(found, None))
    model = DEEM(learning_rate="auto", **SMALL).fit(votes)
    usual = DEEM(**SMALL).fit(votes)
    assert model.settings_["learning_rate"]["value"] == usual.settings_["learning_rate"]["value"]
    assert any("No learning rate was safe" in sentence for sentence in model.warnings_)
    assert np.array_equal(model.predict(votes), usual.predict(votes))


def test_the_sweep_takes_the_settings_but_not_the_length_of_the_training(votes, swept):
    _, calls = swept
    DEEM(learning_rate="auto", **SMALL).fit(votes)
    (settings,) = calls
    assert settings["batch_size"] == 64
    assert settings["updates"] is None
    assert settings["learning_rate"] is None


def test_the_guard_runs_once_and_sweep_and_training_use_the_same_table(monkeypatch):
    """Above 8,000 rows the guard draws rows, and with other ones a clique may be found or not."""
    votes = make("copies", 400, 0).votes
    guards, tables = [], []

    def one_guard(*asked, **more):
        guards.append(guard(*asked, **more))
        return guards[-1]

    class Swept(sweeper.Sweeper):
        def __init__(self, *asked, **settings):
            super().__init__(*asked, **settings)
            tables.append(self.votes)
            self.schedule = self.schedule[:2]

    monkeypatch.setattr(start, "guard", one_guard)
    monkeypatch.setattr(sweeper, "Sweeper", Swept)
    model = DEEM(learning_rate="auto", **SMALL).fit(votes)
    assert len(guards) == 1
    assert model.near_copies_ is guards[0]
    assert not guards[0].base.is_identity
    assert tables[0].learners == guards[0].base.learners == model.reduction_.learners
    assert np.array_equal(tables[0].codes, guards[0].base.reduce(votes).codes)
    assert tuple(model.sweep_.notes) == guards[0].sentences


def test_a_finished_sweep_is_kept_and_not_repeated(votes, swept):
    _, calls = swept

    class Kept(Control):
        kept: dict[str, Saved] = {}  # noqa: RUF012

        def save(self, key: str, saved: Saved) -> None:
            self.kept[key] = Saved(saved.tensors, json.loads(json.dumps(saved.notes)))

        def load(self, key: str) -> Saved | None:
            return self.kept.get(key)

    control = Kept()
    first = DEEM(learning_rate="auto", **SMALL).fit(votes, control=control)
    again = DEEM(learning_rate="auto", **SMALL).fit(votes, control=control)
    assert len(calls) == 1
    assert again.sweep_.recommendation == first.sweep_.recommendation


def test_stopping_while_the_rate_is_chosen_stops_the_training(votes):
    class Now(Control):
        def stopped(self) -> bool:
            return True

    with pytest.raises(Stopped):
        DEEM(learning_rate="auto", **SMALL).fit(votes, control=Now())


def test_the_irbm_can_choose_its_rate_too(votes, swept):
    model = IRBM(method="cd", learning_rate="auto", **SMALL).fit(votes)
    assert model.sweep_ is not None
    assert IRBM(method="exact").fit(votes).sweep_ is None


def test_another_word_is_refused(votes):
    with pytest.raises(InputError, match="number or 'auto'"):
        DEEM(learning_rate="best").fit(votes)


def test_the_command_line_says_how_the_rate_was_chosen(swept, tmp_path, capsys):
    file, out = tmp_path / "votes.csv", tmp_path / "out.json"
    assert cli.main(["simulate", "tree", "--rows", "200", "--seed", "0", "-o", str(file)]) == 0
    options = ["--method", "deem", "--learning-rate", "auto", "--updates", "20", "--batch", "64", "--restarts", "2"]
    assert cli.main(["fuse", str(file), "-o", str(tmp_path / "fused.csv"), *options, "--json", str(out)]) == 0
    content = json.loads(out.read_text(encoding="utf-8"))
    assert content["sweep"]["rates"][0]["learning_rate"] == 0.1
    assert "sweep" in content["settings"]["learning_rate"]["reason"]
    assert "learning rate" in capsys.readouterr().out


def test_the_command_line_refuses_other_words(tmp_path, capsys):
    assert cli.main(["fuse", "votes.csv", "-o", str(tmp_path / "f.csv"), "--learning-rate", "best"]) == 2
    assert "neither a number nor auto" in capsys.readouterr().err
