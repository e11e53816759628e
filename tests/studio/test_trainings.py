"""Trainings on a page: what two runs have in common and what people call them."""

import numpy as np
import pytest

from studio import findings, trainings


@pytest.mark.parametrize(
    ("config", "title"),
    [
        ({}, "DEEM"),
        ({"method": "irbm"}, "iRBM, exact"),
        ({"learning_rate": 0.25, "n_layers": 2}, "DEEM · rate 0.25 · 2 layers"),
        ({"n_layers": 1}, "DEEM · 1 layer"),
        ({"learning_rate": "auto"}, "DEEM · rate by sweep"),
        ({"near_copies": "keep"}, "DEEM · near-copies: keep"),
    ],
)
def test_titles_say_what_is_out_of_the_ordinary(config, title):
    assert trainings.title_of(config) == title


def test_confidence_is_counted_where_it_is_known():
    found = trainings.Outcome(*(np.zeros(4, np.int32),) * 2, np.array([0.1, 1.0, np.nan, 0.99]), np.zeros((1, 1)))
    edges, counts = trainings.confidence_counts(found)
    assert counts.sum() == 3
    assert counts[-1] == 2
    assert (edges[0], edges[-1]) == (0.0, 1.0)


def _restart(kept=True, agreement=0.9, **more):
    return {"kept": kept, "agreement": agreement, "reason": "" if kept else "Died.", "share_ratio": 0.8, **more}


def test_the_spread_of_restarts_counts_only_those_in_the_answer():
    said = findings.spread({"restarts": [_restart(), _restart(agreement=0.95), _restart(kept=False, agreement=0.2)]})
    assert "the 2 restarts" in said
    assert "90.0 % to 95.0 %" in said


def test_one_restart_has_no_spread():
    assert "not known" in findings.spread({"restarts": [_restart()]})
    assert "not known" in findings.spread({"restarts": []})


def test_restarts_are_numbered_as_in_the_curves_with_the_reason():
    table = findings.restarts({"restarts": [_restart(), _restart(kept=False)]})
    assert table["restart"].tolist() == [1, 2]
    assert table["reason"].tolist() == ["–", "Died."]


def test_a_second_training_of_a_hedged_run_is_explained():
    assert findings.two_trainings([_restart(training=0)] * 3) == ""
    assert "from 3 on" in findings.two_trainings([_restart(training=0)] * 2 + [_restart(training=1)] * 2)
