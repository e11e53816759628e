"""Trainings on a page: what two runs have in common and what people call them."""

from types import SimpleNamespace

import numpy as np
import pytest

from deem_core.training import Restart
from studio.train import outcome, trainings


@pytest.mark.parametrize(
    ("config", "title"),
    [
        ({}, "DEEM"),
        ({"method": "irbm"}, "iRBM, exact"),
        ({"method": "irbm_cd"}, "iRBM, contrastive"),
        ({"learning_rate": 0.25, "n_layers": 2}, "DEEM · rate 0.25 · 2 layers"),
        ({"n_layers": 1}, "DEEM · 1 layer"),
        ({"learning_rate": "auto"}, "DEEM · rate from a sweep"),
        ({"near_copies": "keep"}, "DEEM · near-copies: keep"),
    ],
)
def test_titles_say_what_is_out_of_the_ordinary(config, title):
    assert trainings.title_of(config) == title


def test_confidence_is_counted_where_it_is_known():
    stored = SimpleNamespace(confidence=np.array([0.1, 1.0, np.nan, 0.99]))
    edges, counts = trainings.confidence_counts(stored)
    assert counts.sum() == 3
    assert counts[-1] == 2
    assert (edges[0], edges[-1]) == (0.0, 1.0)


def _restart(kept=True, agreement=0.9):
    return Restart(0, 1, kept, "" if kept else "Died.", 0.8, agreement)


def test_the_spread_of_restarts_counts_only_those_in_the_answer():
    said = outcome.spread([_restart(), _restart(agreement=0.95), _restart(kept=False, agreement=0.2)])
    assert "the 2 restarts" in said
    assert "90.0% to 95.0%" in said


def test_one_restart_has_no_spread():
    assert "no telling" in outcome.spread([_restart()])
    assert "fitted exactly" in outcome.spread([])


def test_restarts_are_numbered_as_in_the_curves_with_the_reason():
    table = outcome.restarts([_restart(), _restart(kept=False)])
    assert table["restart"].tolist() == [1, 2]
    assert table["reason"].tolist() == ["–", "Died."]
