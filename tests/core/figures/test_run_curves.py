"""Energy curves of several trainings over each other."""

from dataclasses import replace

import numpy as np

from deem_core.figures import curve_of_run, run_panels
from deem_core.model.records import Record
from deem_core.training.health import Restart


def _record(restart, update, difference):
    values = dict.fromkeys(Record.__dataclass_fields__, 0.0)
    return Record.from_dict(
        {**values, "restart": restart, "update": update, "epoch": float(update), "difference": difference, "shares": []}
    )


RECORDS = [_record(restart, update, 10.0 * restart + update) for restart in (0, 1, 2) for update in (1, 2, 3)]
KEPT, LOST = Restart(0, 1, True, "", 0.9), Restart(0, 2, False, "A class died.", 0.1)


def test_a_training_is_the_mean_of_its_kept_restarts():
    curve = curve_of_run("a", RECORDS, [KEPT, LOST, KEPT])
    np.testing.assert_allclose(curve.difference, [11.0, 12.0, 13.0])
    assert (curve.name, curve.verdict, curve.rejected) == ("a", "mean of 2 restarts", False)


def test_restarts_of_a_second_training_are_another_model():
    curve = curve_of_run("a", RECORDS, [KEPT, KEPT, replace(KEPT, training=1)])
    np.testing.assert_allclose(curve.difference, [6.0, 7.0, 8.0])


def test_the_mean_ends_where_the_first_restart_stopped():
    assert len(curve_of_run("a", RECORDS[:-1], []).x) == 2


def test_every_training_has_a_colour_of_its_own_and_its_name_in_the_legend():
    figure = run_panels({"deem one": (RECORDS, [KEPT] * 3), "other": (RECORDS[:3], [])})
    lines = [trace for trace in figure.data if trace.showlegend]
    assert [trace.name for trace in lines] == ["deem one", "other"]
    assert len({trace.line.color for trace in lines}) == 2
