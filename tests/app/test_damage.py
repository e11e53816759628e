"""Damaged runs and records are shown as damaged, can be deleted, and disturb no page."""

from __future__ import annotations

from benchmarks.faults import damage
from benchmarks.faults.addresses import addresses
from benchmarks.faults.workspaces import full_workspace
from deem_core.runs import Workspace
from tests.app.conftest import button, expect_calm, words
from tests.in_process import QUICK, add_votes, done, experts


def test_a_run_that_cannot_be_read_is_listed_and_deleted(app, make_run, workspace):
    kept, lost = make_run(title="Whole"), make_run(title="Lost")
    (lost.path / "spec.json").write_text("{")
    app.run()
    expect_calm(app)
    assert f"Run {lost.id[:12]} is damaged" in words(app)
    assert "1 damaged run, listed on Home" in words(app)
    assert "Whole" in words(app)
    app.button(key=f"delete_wreck_{lost.id}").click().run()
    expect_calm(app)
    assert "damaged" not in words(app)
    assert [run.id for run in workspace.runs()] == [kept.id]
    assert workspace.wrecks() == []


def test_a_file_record_that_cannot_be_read_is_listed_and_deleted(app, workspace, dataset):
    other = workspace.add_dataset("other.csv", b"id,a,b,c\n1,x,x,y\n2,y,y,y\n")
    (workspace.root / "datasets" / f"{other.id}.json").write_text("[1]")
    app.query_params["data"] = dataset.id
    app.run()
    app.switch_page("pages/data.py").run()
    expect_calm(app)
    assert f"Dataset {other.id[:12]} is damaged" in words(app)
    app.button(key=f"delete_wreck_{other.id}").click().run()
    expect_calm(app)
    assert workspace.wrecks() == []


def test_damaged_labels_are_never_shown_and_can_be_made_again(app, workspace, monkeypatch):
    run = done(workspace, "train", add_votes(workspace, experts(120)), QUICK)
    path = run.path / "result.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))
    app.query_params["data"], app.query_params["run"] = run.dataset_id, run.id
    app.run()
    app.switch_page("pages/train.py").run()
    expect_calm(app)
    assert "result.parquet is damaged" in words(app)
    monkeypatch.setattr(Workspace, "_start", lambda self, run: None)
    button(app, "Start over").click().run()
    expect_calm(app)
    assert workspace.run(run.id).state().state == "queued"


def test_an_input_that_is_not_what_was_uploaded_is_said(app, workspace, dataset):
    path = workspace.inputs.place(dataset.data)
    path.write_bytes(path.read_bytes().replace(b"r7,1", b"r7,2"))
    app.query_params["data"] = dataset.id
    app.run()
    app.switch_page("pages/data.py").run()
    assert not app.exception
    assert "its content is not what was uploaded. Upload the file again" in words(app)


def test_pages_stand_a_sample_of_corruptions_and_of_wrong_addresses(tmp_path):
    """`benchmarks.bench_faults` has hundreds."""
    full_workspace((tmp_path / "whole").resolve())
    visited = addresses((tmp_path / "whole").resolve(), 20, seed=5)  # each page twice
    assert visited.problems == []
    assert visited.outcomes["shown"] == 20
    tally = damage.pages((tmp_path / "whole").resolve(), (tmp_path / "place").resolve(), 6, seed=5)
    assert tally.problems == []
    assert tally.outcomes["shown"] == 6
