import inspect
from dataclasses import fields
from types import NoneType

import pytest

from deem_core import DEEM, IRBM, InputError, SoftDEEM
from deem_core.model.config import Shape, TrainConfig, resolve, setting_types


def shape(n=10_000, d=10, K=3, votes_per_row=None, coverage=1.0):
    return Shape(n, d, K, d if votes_per_row is None else votes_per_row, coverage)


def test_plenty_of_rows_get_one_layer_and_a_full_run():
    config = resolve(TrainConfig(), shape()).config
    assert (config.n_layers, config.batch_size, config.init_scale) == (1, 1024, 2.0)
    assert config.learning_rate * config.updates == pytest.approx(180)


@pytest.mark.parametrize("few", [shape(n=200), shape(n=10_000, K=1000), shape(d=40, votes_per_row=39)])
def test_few_rows_per_unit_or_many_votes_get_no_layer(few):
    settings = resolve(TrainConfig(), few)
    assert settings.config.n_layers == 0
    assert settings.config.step_size == 1.0
    assert settings.config.batch_size == min(1024, few.n_rows)


def test_many_voters_start_less_saturated():
    assert resolve(TrainConfig(), shape(n=108, d=39, K=2)).config.init_scale == pytest.approx(12 / 39)


@pytest.mark.parametrize(("rate", "updates"), [(0.3, 600), (0.5, 360), (5.0, 300), (0.001, 2000)])
def test_the_length_follows_from_the_rate_within_bounds(rate, updates):
    assert resolve(TrainConfig(learning_rate=rate), shape()).config.updates == updates


def test_epochs_are_turned_into_updates():
    assert resolve(TrainConfig(epochs=3), shape(n=10_240)).config.updates == 30


def test_what_is_given_is_kept_and_every_setting_has_a_reason():
    settings = resolve(
        TrainConfig(n_layers=2, updates=7, learning_rate=0.1, batch_size=50, init_scale=1.5, step_size=0.3), shape()
    )
    assert settings.config.updates == 7
    assert settings.reasons["n_layers"] == "given"
    assert set(settings.to_dict()) == {item.name for item in fields(TrainConfig)}
    assert all(settings.reasons.values())


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ({"learning_rate": 0}, "learning_rate is 0; it must be above 0 and at most 100"),
        ({"learning_rate": float("nan")}, "learning_rate is nan; it must be a number"),
        ({"learning_rate": "fast"}, "learning_rate is 'fast'; it must be a number"),
        ({"n_layers": -1}, "n_layers is -1; it must be at least 0 and at most 10"),
        ({"n_layers": 1.5}, "n_layers is 1.5; it must be a whole number"),
        ({"restarts": 0}, "restarts is 0; it must be at least 1"),
        ({"sampler": "nuts"}, "sampler is 'nuts'; it must be one of dmala, dula, gwg"),
        ({"momentum": 1.0}, "momentum is 1; it must be at least 0 and at most 0.99"),
        ({"early_stop": "yes"}, "early_stop is 'yes'; it must be True or False"),
        ({"updates": 3, "epochs": 2}, "either updates or epochs"),
        ({"restarts": None}, "restarts must have a value"),
        ({"device": "tpu"}, "device is 'tpu'; it must be one of auto, cpu, cuda, mps"),
    ],
)
def test_impossible_settings_are_refused_by_name_and_bound(setting, sentence):
    with pytest.raises(InputError, match=sentence):
        TrainConfig(**setting)


def test_types_come_from_the_annotations():
    assert setting_types("n_layers") == {int, NoneType}
    assert setting_types("learning_rate") == {float, str, NoneType}
    assert setting_types("early_stop") == {bool}


def test_every_setting_says_what_it_is_and_why():
    for item in fields(TrainConfig):
        assert item.metadata["what"]
        assert item.metadata["why"]


def test_the_estimators_take_every_setting_with_its_default():
    settings = {item.name: item.default for item in fields(TrainConfig)}
    assert defaults(DEEM) == settings
    of_layers = ("n_layers", "activation", "draws")
    without_layers = {name: value for name, value in settings.items() if name not in of_layers}
    assert defaults(IRBM) == without_layers | {"method": "exact", "near_copies": "keep"}
    of_labels = ("start", "near_copies", "draws")
    assert defaults(SoftDEEM) == {name: value for name, value in settings.items() if name not in of_labels}


def defaults(kind):
    parameters = inspect.signature(kind.__init__).parameters.values()
    return {parameter.name: parameter.default for parameter in parameters if parameter.name != "self"}
