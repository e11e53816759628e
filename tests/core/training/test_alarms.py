"""Alarms say what went wrong in a training, what to try, and with which settings."""

import numpy as np
import pytest

from deem_core.model.records import Record
from deem_core.training.alarms import LOW_ACCEPTANCE, LOW_MOVED, alarms
from deem_core.training.health import Restart

SETTINGS = {"learning_rate": 0.5, "restarts": 5, "step_size": 0.2}


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
    changes = list(found.remedies.values())
    assert {"learning_rate": 0.25, "updates": None, "epochs": None} in changes
    assert {"restarts": 10} in changes


def test_a_restart_that_went_its_own_way_is_instability():
    found = alarms(history(), SETTINGS, [restart(), restart(reason="It agrees with the others on 70 % of the rows.")])
    assert kinds(found) == ["instability"]
    assert "Restart 2" in found[0].sentence


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


def test_a_far_too_large_rate_is_not_just_halved():
    (found,) = alarms(history(), SETTINGS | {"learning_rate": 90}, [restart(), restart(kept=False, reason="It died.")])
    assert {"learning_rate": None, "updates": None, "epochs": None} in found.remedies.values()


def test_many_restarts_are_not_asked_to_be_more():
    (found,) = alarms(history(), SETTINGS | {"restarts": 10}, [restart(), restart(kept=False, reason="It died.")])
    assert {"restarts": 10} not in found.remedies.values()


def test_curves_that_mean_something_else_are_not_judged():
    """Soft DEEM draws its positives, whose energies may rise; what restarts answer counts all the same."""
    diverging = history(difference=np.linspace(0, 40, 64))
    assert "instability" in kinds(alarms(diverging, SETTINGS))
    assert kinds(alarms(diverging, SETTINGS, curves=False)) == []
    apart = [restart(), restart(reason="It agrees with the others on 60.0% of the rows.")]
    assert kinds(alarms(diverging, SETTINGS, apart, curves=False)) == ["instability"]
