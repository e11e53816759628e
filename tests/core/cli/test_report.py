"""report writes a page and its numbers, and says in a sentence why it cannot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deem_core import cli
from deem_core.runs import Run, Workspace
from tests.core.reporting.helpers import done, table


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("cli_report") / "home"


@pytest.fixture(scope="module")
def run(home) -> Run:
    workspace = Workspace(home)
    dataset = workspace.add_dataset("votes.csv", table(60))
    return done(workspace, "train", dataset, {"device": "cpu", "method": "irbm", "random_state": 0})


@pytest.fixture(autouse=True)
def here(home, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("DEEM_HOME", str(home))
    monkeypatch.chdir(tmp_path)


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert cli.main(["report", *arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert len(told.err.splitlines()) == 1
    return told.err


def test_a_few_digits_of_a_run_give_a_page_and_its_numbers(run, capsys):
    assert cli.main(["report", run.id[:8], "-o", "report.html", "--json", "report.json"]) == 0
    told = capsys.readouterr()
    assert told.err == ""
    assert "votes.csv: " in told.out
    assert "Not computed: learning rate, importance, dependence, comparison, gold." in told.out
    assert "Written: report.html and report.json" in told.out
    page = Path("report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    numbers = json.loads(Path("report.json").read_text(encoding="utf-8"))
    assert numbers["run"]["id"] == run.id
    assert numbers["evaluation"]["accuracy"] == (run.summary() or {})["evaluation"]["accuracy"]
    assert numbers["repeat"]["line"].startswith("python -m deem_core fuse votes.csv -o fused.csv --method irbm")


def test_a_run_that_is_not_there_is_said(run, capsys):
    absent = next(text for n in range(16) if not run.id.startswith(text := f"{n:x}" * 6))
    assert f"There is no run {absent} in " in refused(capsys, absent, "-o", "report.html")
    assert "is not the id of a run" in refused(capsys, "../x", "-o", "report.html")


def test_unfinished_and_other_runs_are_refused(home, run, capsys):
    workspace = Workspace(home)
    dataset = workspace.dataset(run.dataset_id)
    waiting, other = workspace.new_run("train", dataset, {}), workspace.new_run("compare", dataset, {})
    assert "is queued (0% done), and a report needs" in refused(capsys, waiting.id, "-o", "report.html")
    assert "is of the kind compare; a report needs a run of the kind train or fuse" in refused(
        capsys, other.id, "-o", "report.html"
    )
    assert not Path("report.html").exists()


def test_a_deleted_file_is_said(home, capsys):
    workspace = Workspace(home)
    dataset = workspace.add_dataset("gone.csv", table(60, 9))
    run = done(workspace, "train", dataset, {"device": "cpu", "method": "irbm"})
    workspace.input(dataset.data).unlink()
    assert "'gone.csv'" in refused(capsys, run.id, "-o", "report.html")


def test_outputs_that_cannot_be_written_are_refused_before_any_work(run, capsys):
    assert "does not exist; create it first" in refused(capsys, run.id, "-o", "no/report.html")
    assert "is a folder" in refused(capsys, run.id, "-o", ".")
    assert "named for two outputs" in refused(capsys, run.id, "-o", "one", "--json", "one")
