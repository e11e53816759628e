"""The report on a grouped model: groups instead of restarts, and no empty section."""

import json

import pytest

from deem_core.reporting import report as report_of
from deem_core.reporting.render import OF_RESTARTS
from tests.core.reporting.helpers import Page, done, inspected, table


@pytest.fixture(scope="module")
def run(workspace):
    dataset = workspace.add_dataset("groups.csv", table(600, 3))
    return done(workspace, "train", dataset, {"method": "gds", "random_state": 0}), dataset


def test_it_tells_the_groups_and_nothing_of_restarts(run, workspace):
    report = report_of(run[0], workspace)
    page, numbers = Page(report.html()), json.loads(json.dumps(report.to_dict()))
    assert "groups" in page.sections()
    assert not set(OF_RESTARTS) & set(page.sections())
    assert numbers["groups"]["groups"]
    assert "learning_rate" not in numbers["not_computed"]
    assert any("one hidden opinion" in sentence for sentence in numbers["limits"])
    assert "--method gds" in numbers["repeat"]["line"]


def test_with_an_inspection_it_draws_the_tree(run, workspace):
    inspected(workspace, *run)
    assert "Which learners form groups?" in report_of(run[0], workspace).html()


def test_other_models_have_no_section_of_groups(bare):
    page = Page(bare[1].html())
    assert "groups" not in page.sections()
    assert set(OF_RESTARTS) <= set(page.sections())
