"""Differences between runs of one dataset: settings, labels, rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deem_core.engine import LOCAL
from deem_core.runs.run import Run
from deem_core.runs.summary import FusionSummary
from deem_core.typing import Codes, Integers
from deem_core.votes import NO_VOTE


def settings_of(run: Run) -> dict[str, Any]:
    """Return all settings of a training by name.

    As they were resolved where it is done, else as they were asked for.
    """
    asked = {"method": "deem", "on": LOCAL, **run.config}
    known = FusionSummary.of(run)
    resolved = {} if known is None else known.training.setting_values
    return {**asked, **resolved, "method": asked["method"]}  # the iRBM calls a setting of its own so too


def differing_settings(runs: Sequence[Run]) -> dict[str, list[Any]]:
    """Return the settings that differ by name, with a value per run.

    It is None for a run that has no such setting. What only one of them has does not differ: another method cannot
    have it.
    """
    settings = [settings_of(run) for run in runs]
    names = dict.fromkeys(name for own in settings for name in own)
    found = {}
    for name in names:
        values = [own[name] for own in settings if own.get(name) is not None]
        if any(value != values[0] for value in values):
            found[name] = [own.get(name) for own in settings]
    return found


def agreement(labels: Sequence[Codes], reference: Codes) -> list[float]:
    """Return the share of rows with the same label as a reference, (m,).

    Rows without votes, which nobody labels, are left out.

    Parameters
    ----------
    labels : sequence of m arrays (n,) of int
    reference : (n,) array of int
    """
    voted = reference != NO_VOTE
    return [float((codes[voted] == reference[voted]).mean()) if voted.any() else 1.0 for codes in labels]


def differing_rows(labels: Sequence[Codes]) -> Integers:
    """Return the rows to which not all runs give the same label."""
    table = np.stack(list(labels), axis=1)  # (n, m)
    return np.flatnonzero((table != table[:, :1]).any(axis=1))
