"""runs lists, shows, cancels, resumes and deletes; work does the work of one run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deem_core import cli
from deem_core.runs import Run, Workspace
from deem_core.runs.run import State, write_state
from tests.in_process import QUICK, add_votes, done, experts

CSV = b"id,ann,bob,cy,label\n1,x,x,y,x\n2,y,y,y,y\n3,x,y,x,x\n4,y,x,y,y\n"


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv("DEEM_HOME", str(tmp_path / "home"))
    return Workspace()


@pytest.fixture
def runs(workspace: Workspace) -> list[Run]:
    """Return a done, a failed and a waiting run."""
    dataset = workspace.add_dataset("small.csv", CSV)
    made = [workspace.new_run("train", dataset, {"device": "cpu"}, title=f"no. {n}") for n in range(3)]
    write_state(made[0].path, State("done", share=1.0))
    (made[0].path / "summary.json").write_text('{"method": "deem"}')
    (made[0].path / "progress.jsonl").write_text('{"type": "note", "text": "No near-copies."}\n')
    write_state(made[1].path, State("failed", "The disk is full.", share=0.5))
    return made


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert cli.main(["runs", *arguments]) == code
    printed = capsys.readouterr()
    return printed.err if code else printed.out


def test_no_runs_are_told_with_the_place_of_the_workspace(workspace, capsys):
    assert said(capsys) == f"No runs yet in {workspace.root}.\n"


def test_bare_runs_lists_all_newest_first(runs, capsys, tmp_path):
    lines = said(capsys).splitlines()
    assert [line.split()[0] for line in lines] == ["run", *(run.id[:12] for run in reversed(runs))]
    assert [line.split()[2] for line in lines[1:]] == ["queued", "failed", "done"]
    said(capsys, "list", "--json", str(tmp_path / "runs.json"))
    listed = json.loads((tmp_path / "runs.json").read_text())
    assert [item["id"] for item in listed] == [run.id for run in reversed(runs)]
    assert listed[1]["state"]["reason"] == "The disk is full."


def test_show_prints_spec_state_progress_and_results(runs, capsys, tmp_path):
    shown = said(capsys, "show", runs[0].id[:8], "--json", str(tmp_path / "run.json"))
    for words in (runs[0].id, "small.csv", '{"device": "cpu"}', "done, 100.0%", "No near-copies.", "summary.json"):
        assert words in shown
    content = json.loads((tmp_path / "run.json").read_text())
    assert content["summary"]["method"] == "deem"
    assert content["progress"][0]["type"] == "note"
    assert "failed, 50.0%: The disk is full." in said(capsys, "show", runs[1].id)


def test_cancel_tells_whether_there_was_something_to_cancel(runs, capsys):
    assert "is being cancelled" in said(capsys, "cancel", runs[2].id)
    assert runs[2].state().state == "cancelled"
    assert "is done already" in said(capsys, "cancel", runs[0].id)


def test_only_cancelled_and_failed_runs_resume(runs, capsys, monkeypatch):
    assert "only cancelled and failed ones resume" in said(capsys, "resume", runs[0].id, code=2)
    monkeypatch.setattr(Workspace, "_start", lambda self, run: None)
    assert "resumed" in said(capsys, "resume", runs[1].id)
    assert runs[1].state().state == "queued"


def test_delete_says_what_goes_asks_and_refuses_what_goes_on(workspace, runs, capsys, monkeypatch):
    assert "still running; cancel it" in said(capsys, "delete", runs[2].id, code=2)
    assert "say --yes" in said(capsys, "delete", runs[0].id, code=2)
    shown = said(capsys, "delete", runs[0].id, "--dry-run")
    assert "Would delete, which frees 67 kB" in shown or "Would delete, which frees 66 kB" in shown
    assert runs[0].id in shown
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda prompt: "n")
    assert "Nothing was deleted." in said(capsys, "delete", runs[0].id)
    monkeypatch.setattr("builtins.input", lambda prompt: "y")
    assert "Deleted 1 run." in said(capsys, "delete", runs[0].id)
    assert "Deleted 1 run." in said(capsys, "--yes", "delete", runs[1].id)
    assert [run.id for run in workspace.runs()] == [runs[2].id]


def test_prune_deletes_old_runs_only(workspace, runs, capsys):
    assert "Say which runs to keep" in said(capsys, "prune", code=2)
    assert "Nothing to delete." in said(capsys, "prune", "--older-than", "30d", "--keep-last", "50")
    assert "Nothing to delete." in said(capsys, "prune", "--older-than", "1h")
    assert runs[0].id in said(capsys, "prune", "--keep-last", "2", "--dry-run")
    assert "Deleted 2 runs." in said(capsys, "prune", "--older-than", "0s", "--yes")
    assert [run.id for run in workspace.runs()] == [runs[2].id]
    assert "is not an age" in said(capsys, "prune", "--older-than", "soon", code=2)


@pytest.mark.parametrize("text", ["../../etc", "ABCD", "abc", "zzzz", "a" * 33])
def test_ids_are_checked(runs, capsys, text):
    assert "is not the id of a run" in said(capsys, "show", text, code=2)


def test_what_is_missing_is_said(runs, capsys):
    assert "Say which run to show" in said(capsys, "show", code=2)
    assert "list takes no run" in said(capsys, "list", runs[0].id, code=2)
    absent = next(text for n in range(16) if not any(r.id.startswith(text := f"{n:x}" * 4) for r in runs))
    assert f"There is no run {absent}" in said(capsys, "show", absent, code=2)


def test_work_refuses_what_is_not_a_waiting_run(workspace, runs, capsys, tmp_path):
    assert cli.main(["work", str(tmp_path)]) == 2
    assert "is not a run of a workspace" in capsys.readouterr().err


def test_show_tells_how_right_a_finished_training_is(workspace, capsys):
    run = done(workspace, "train", add_votes(workspace, experts(120)), QUICK)
    printed = said(capsys, "show", run.id[:8])
    accuracy = run.summary()["evaluation"]["accuracy"]
    assert f"Fused labels: {100 * accuracy:.1f}% right (evaluation only)" in printed
    assert "Majority vote: " in printed
