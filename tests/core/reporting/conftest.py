"""Runs that have a report, worked on once."""

from __future__ import annotations

import pytest

from deem_core.reporting import Report
from deem_core.reporting import report as report_of
from deem_core.runs import Run, Workspace
from tests.core.reporting.helpers import EVIL, TINY, Page, done, give_gold, inspected, table, verdict_of


@pytest.fixture(scope="session")
def workspace(tmp_path_factory) -> Workspace:
    return Workspace(tmp_path_factory.mktemp("report") / "home")


@pytest.fixture(scope="session")
def full(workspace) -> tuple[Run, Report]:
    """Return a training with everything beside it, in a file whose every name is HTML."""
    dataset = workspace.add_dataset(f"{EVIL}.csv", table())
    done(workspace, "sweep", dataset, {"device": "cpu", "rates": [0.1, 0.5], "updates": 20, "random_state": 0})
    run = done(workspace, "train", dataset, {**TINY, "random_state": 7, "learning_rate": 0.5})
    give_gold(run, verdict_of(workspace, run))
    inspected(workspace, run, dataset)
    done(workspace, "compare", dataset, {"methods": ["mv", "ds"], "seeds": 1, "random_state": 0})
    return run, report_of(run, workspace)


@pytest.fixture(scope="session")
def bare(workspace) -> tuple[Run, Report]:
    """Return an exact fit without truth and without anything beside it."""
    dataset = workspace.add_dataset("bare.csv", table(60, 1), reading={"ignore": ["label"]})
    run = done(workspace, "train", dataset, {"device": "cpu", "method": "irbm", "random_state": 0})
    return run, report_of(run, workspace)


@pytest.fixture(scope="session")
def page(full) -> Page:
    return Page(full[1].html())
