"""The numbers of a report, and the runs that have one."""

from __future__ import annotations

import json

import pyarrow.parquet
import pytest

from deem_core.errors import InputError
from deem_core.files.seals import SEAL
from deem_core.reporting import report as report_of
from deem_core.reporting.material import MOST_RECORDS, MOST_RESTARTS
from deem_core.runs import Workspace
from deem_core.runs.run import State, write_state
from tests.core.reporting.helpers import TINY, done, table
from tests.in_process import rewrite


def test_numbers_are_those_of_the_run(full):
    run, report = full
    summary, told = run.summary(), report.to_dict()
    assert summary is not None
    for name in ("class_shares", "majority_shares", "changed", "overruled", "agreement", "mean_confidence"):
        assert told["labels"][name] == summary[name]
    for name in ("settings", "restarts", "near_copies", "warnings", "hedged", "fallback"):
        assert told[name] == summary[name]
    assert {name: told["evaluation"][name] for name in summary["evaluation"]} == summary["evaluation"]
    assert told["run"]["seed"] == 7
    assert told["dataset"]["n_rows"] == 240
    assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_labels_are_counted_as_they_were_written(full):
    run, report = full
    path = run.result("result.parquet")
    assert path is not None
    cells = pyarrow.parquet.read_table(path).to_pydict()
    told = report.to_dict()["labels"]
    changed = sum(a != b for a, b in zip(cells["fused"], cells["majority"], strict=True))
    assert sum(one["rows"] for one in told["largest_changes"]) == changed == told["changed"]
    assert sum(told["confidence"]["rows"]) == sum(sure is not None for sure in cells["confidence"])


def test_the_page_shows_the_same_numbers(full, page):
    told = full[1].to_dict()
    for words in (told["story"], told["comparison"]["conclusion"], told["repeat"]["line"], *told["limits"]):
        assert words in page.text
    assert f"{100 * told['evaluation']['accuracy']:.1f}%" in page.text


def test_the_sweep_of_the_run_itself_comes_before_the_latest_one(workspace, full):
    run, report = full
    told = report.to_dict()["learning_rate"]
    assert "latest finished sweep of the same dataset" in told["source"]
    assert [rate["learning_rate"] for rate in told["rates"]] == [0.1, 0.5]
    assert "shares" not in told["rates"][0]
    before = (run.path / "summary.json").read_text()
    other = next(one for one in workspace.runs(kind="sweep")).summary()
    try:
        rewrite(run, "summary.json", json.dumps(json.loads(before) | {"sweep": other}))
        own = report_of(run, workspace).to_dict()["learning_rate"]
        rewrite(run, "summary.json", json.dumps(json.loads(before) | {"sweep": {"rates": "of an earlier version"}}))
        again = report_of(run, workspace).to_dict()["learning_rate"]
    finally:
        rewrite(run, "summary.json", before)
    assert own["run"] is None
    assert "run itself chose" in own["source"]
    assert again == told


def test_limits_speak_of_this_run(full, bare):
    with_truth, without = (" ".join(report.to_dict()["limits"]) for _, report in (full, bare))
    assert "no telling how many fused labels are right" in without
    assert "whatever the seed" in without
    assert "evaluation only" in with_truth
    assert "Another seed" in with_truth


def test_long_trainings_are_thinned(workspace):
    dataset = workspace.add_dataset("long.csv", table(60, 2))
    run = done(workspace, "train", dataset, {**TINY, "random_state": 0})
    path = run.path / "progress.jsonl"
    line = next(json.loads(text) for text in path.read_text().splitlines() if '"record"' in text)
    del line[SEAL]
    many = [{**line, "restart": r, "update": u} for r in range(MOST_RESTARTS + 5) for u in range(3 * MOST_RECORDS + 7)]
    path.write_text("".join(f"{json.dumps(one)}\n" for one in many))
    told = report_of(run, workspace).to_dict()["training"]
    assert told["restarts_shown"] == MOST_RESTARTS
    assert {tuple(curve["update"]) for curve in told["curves"]} == {tuple(range(0, 3 * MOST_RECORDS + 7, 4))}


def test_a_file_that_is_read_already_is_not_read_again(workspace, full, monkeypatch):
    run, report = full
    reading = workspace.read_inputs(run.spec["inputs"])
    monkeypatch.setattr(Workspace, "read_inputs", lambda *_: pytest.fail("the file was read again"))
    assert report_of(run, workspace, reading).to_dict() == report.to_dict()


# ---------------------------------------------------------------------- refusals


def test_only_finished_trainings_whose_file_is_there_have_a_report(workspace):
    dataset = workspace.add_dataset("gone.csv", table(60, 3))
    run = workspace.new_run("train", dataset, dict(TINY))
    with pytest.raises(InputError, match=r"is queued \(0% done\), and a report needs a finished run. Wait"):
        report_of(run, workspace)
    write_state(run.path, State("failed", "The disk is full."))
    with pytest.raises(InputError, match=r"is failed, .* The disk is full. Resume it"):
        report_of(run, workspace)
    write_state(run.path, State("done"))
    with pytest.raises(InputError, match="damaged or of an earlier version"):
        report_of(run, workspace)
    with pytest.raises(InputError, match="is of the kind sweep; a report needs a run of the kind train or fuse"):
        report_of(workspace.new_run("sweep", dataset, {}), workspace)
    run = done(workspace, "train", dataset, {"device": "cpu", "method": "irbm"})
    workspace.input(dataset.data).unlink()
    with pytest.raises(InputError, match=r"The file 'gone.csv' of run .* was deleted .* Upload the same file again"):
        report_of(run, workspace)
