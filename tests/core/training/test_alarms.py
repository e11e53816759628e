"""Alarms say what went wrong in a training, what to try, and with which settings."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deem_core import DEEM, read_votes, sweep
from deem_core.model.records import Record
from deem_core.training.alarms import LOW_ACCEPTANCE, LOW_MOVED, alarms
from deem_core.training.guidance import Recommendation
from deem_core.training.health import Restart

SETTINGS = {"learning_rate": 0.5, "restarts": 5, "step_size": 0.2, "start": "majority", "n_layers": 1}
SAMPLE = Path(__file__).parents[3] / "sample_data" / "moderation_missing.csv"
DROPPED = "Class 'a' died."


def restart(*, kept: bool = True, reason: str = "") -> Restart:
    return Restart(training=0, seed=1, kept=kept, reason=reason, share_ratio=0.9, alarm=not kept)


def history(difference=None, acceptance: float = 0.9, moved: float = 0.05, restarts: int = 2) -> list[Record]:
    """A healthy training unless something else is asked for: the difference dips and comes back."""
    steps = np.arange(64)
    healthy = -2 * np.exp(-steps / 8) * (steps > 0) - 0.1
    records = []
    for r in range(restarts):
        curve = healthy if difference is None or r else difference
        for step, value in zip(steps, curve, strict=True):
            positive = -10 - 0.01 * step
            records.append(
                Record(
                    restart=r,
                    update=int(step) + 1,
                    epoch=step / 10,
                    positive=positive,
                    negative=positive - value,
                    difference=value,
                    energy_positive=positive,
                    energy_negative=positive,
                    energy_difference=0.0,
                    acceptance=acceptance,
                    moved=moved,
                    shares=np.array([0.5, 0.5]),
                    seconds=float(step),
                )
            )
    return records


def kinds(found) -> list[str]:
    return [alarm.kind for alarm in found]


def test_a_healthy_training_raises_no_alarm():
    assert alarms(history(), SETTINGS, [restart()] * 2) == []


def test_nothing_is_said_before_there_are_records():
    assert alarms([], SETTINGS) == []


def test_collapsed_restarts_are_named_with_remedies_that_change_the_settings():
    (found,) = alarms(history(), SETTINGS, [restart(), restart(kept=False, reason="Class 'a' died.")])
    assert found.kind == "collapse"
    assert "1 of 2" in found.title
    assert "Class 'a' died." in found.sentence
    assert {"restarts": 10} in found.remedies.values()


def test_a_restart_that_went_its_own_way_is_instability():
    found = alarms(history(), SETTINGS, [restart(), restart(reason="It agrees with the others on 70% of the rows.")])
    assert kinds(found) == ["instability"]
    assert "restart 2" in found[0].sentence


def test_an_exploding_restart_is_instability_while_training():
    exploding = -np.exp(np.arange(64) / 8)
    found = alarms(history(exploding, restarts=4), SETTINGS)
    assert "instability" in kinds(found)


def test_a_restart_that_was_dropped_is_not_counted_twice():
    exploding = -np.exp(np.arange(64) / 8)
    judged = [restart(kept=False, reason="It blew up."), *[restart()] * 3]
    assert kinds(alarms(history(exploding, restarts=4), SETTINGS, judged)) == ["collapse"]


@pytest.mark.parametrize(("acceptance", "moved", "step"), [(LOW_ACCEPTANCE / 2, 0.05, 0.1), (0.99, LOW_MOVED / 2, 0.4)])
def test_a_sampler_that_stands_still_is_an_alarm_with_another_step(acceptance, moved, step):
    (found,) = alarms(history(acceptance=acceptance, moved=moved), SETTINGS, [restart()] * 2)
    assert found.kind == "sampler"
    assert list(found.remedies.values()) == [{"step_size": step}]


# ---------------------------------------------------------------------- the learning rate


@pytest.fixture(scope="module")
def swept():
    votes = read_votes(SAMPLE).select_rows(range(400)).without_truth()
    return sweep(votes, [0.2, 1.0], updates=20, batch_size=100, n_layers=1, near_copies="keep", random_state=0)


def recommending(swept, rate, **changes):
    """The sweep, with another outcome."""
    kind = "no rate is safe" if rate is None else "recommended"
    return replace(swept, recommendation=Recommendation(kind, None, rate, 1, "Why.", "Try rates below."), **changes)


def settings_of(swept, **changes):
    return {name: item["value"] for name, item in swept.settings.items()} | {"learning_rate": 0.5, **changes}


def rates(found) -> list:
    return [change["learning_rate"] for change in found.remedies.values() if "learning_rate" in change]


def collapse(settings, swept=None):
    (found,) = alarms(history(), settings, [restart(), restart(kept=False, reason=DROPPED)], swept)
    return found


@pytest.mark.parametrize("rate", [0.01, 0.5, 90.0])
def test_without_a_sweep_no_rate_is_named_but_a_sweep_is_advised(rate):
    found = collapse(SETTINGS | {"learning_rate": rate})
    assert rates(found) == ["auto"]
    assert "A sweep shows" in found.advice
    assert not re.search(r"\d", found.advice)


@pytest.mark.parametrize("recommended", [0.2, 1.0])
def test_an_alarm_says_what_the_sweep_of_the_same_votes_says(swept, recommended):
    found = collapse(settings_of(swept), recommending(swept, recommended))
    assert rates(found) == [recommended]
    assert f"recommends the learning rate {recommended:g}." in found.advice


def test_a_rate_that_the_sweep_recommends_is_not_to_be_changed(swept):
    found = collapse(settings_of(swept, learning_rate=1.0), recommending(swept, 1.0))
    assert rates(found) == []
    assert "the same learning rate, 1" in found.advice


def test_where_no_rate_is_safe_the_alarm_repeats_what_the_sweep_advises(swept):
    found = collapse(settings_of(swept), recommending(swept, None))
    assert rates(found) == []
    assert "no safe learning rate. Try rates below." in found.advice


@pytest.mark.parametrize("changes", [{"n_layers": 0}, {"batch_size": 7}, {"near_copies": "guard"}, {"momentum": 0.5}])
def test_a_sweep_with_other_settings_does_not_count(swept, changes):
    assert rates(collapse(settings_of(swept, **changes), recommending(swept, 1.0))) == ["auto"]


def test_a_sweep_counts_whatever_the_seed_the_length_and_the_restarts(swept):
    other = settings_of(swept, random_state=9, updates=999, restarts=1, device="cuda", backend="torch")
    assert rates(collapse(other, recommending(swept, 1.0))) == [1.0]


def test_a_sweep_that_was_stopped_does_not_count(swept):
    assert rates(collapse(settings_of(swept), recommending(swept, 1.0, complete=False))) == ["auto"]


def test_from_the_grouped_model_no_rate_is_advised(swept):
    found = collapse(settings_of(swept, start="groups"), recommending(swept, 1.0))
    assert rates(found) == []
    assert "no sweep chooses it" in found.advice


def test_no_sweep_speaks_for_a_training_on_probabilities(swept):
    found = collapse(settings_of(swept, method="deem_soft"), recommending(swept, 1.0))
    assert rates(found) == []
    assert "says nothing about training on probabilities" in found.advice


def test_on_the_sample_a_training_is_told_the_rate_of_its_sweep(swept):
    votes = read_votes(SAMPLE).select_rows(range(400))
    model = DEEM(
        start="majority", n_layers=1, updates=20, batch_size=100, restarts=1, near_copies="keep", random_state=3
    )
    settings = model.fit(votes).summary_.setting_values
    chosen = swept.recommendation.learning_rate
    found = collapse(settings, swept)
    assert rates(found) == ([] if chosen is None else [chosen])


def test_many_restarts_are_not_asked_to_be_more():
    (found,) = alarms(history(), SETTINGS | {"restarts": 10}, [restart(), restart(kept=False, reason="It died.")])
    assert {"restarts": 10} not in found.remedies.values()


def test_curves_that_mean_something_else_are_not_judged():
    """Soft DEEM draws its positives, whose energies may rise; what restarts answer counts all the same."""
    diverging = history(difference=np.linspace(0, 40, 64))
    assert "instability" in kinds(alarms(diverging, SETTINGS))
    assert kinds(alarms(diverging, SETTINGS | {"method": "deem_soft"})) == []
    apart = [restart(), restart(reason="It agrees with the others on 60.0% of the rows.")]
    assert kinds(alarms(diverging, SETTINGS | {"method": "deem_soft"}, apart)) == ["instability"]


def test_curves_from_the_grouped_model_are_not_judged():
    """They are noise around zero, in which one record is easily several times the others."""
    records, from_groups = history(difference=np.linspace(0, 40, 64)), SETTINGS | {"start": "groups"}
    assert kinds(alarms(records, SETTINGS, [restart()] * 2)) == ["instability"]
    assert kinds(alarms(records, from_groups, [restart()] * 2)) == []
    apart = restart(reason="It agrees with the others on 70% of the rows.")
    assert kinds(alarms(records, from_groups, [restart(), apart])) == ["instability"]
