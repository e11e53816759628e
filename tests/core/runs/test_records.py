"""Records of a run are read line by line, and a run goes on only from where it can."""

import json

from deem_core.control import Saved
from deem_core.runs import Workspace
from deem_core.runs.control import RunControl
from deem_core.runs.run import State, write_state
from deem_core.runs.status import Status
from tests.in_process import QUICK, add_votes, done, experts


def test_a_damaged_line_is_skipped_and_the_others_are_read(tmp_path):
    workspace = Workspace(tmp_path)
    run = done(workspace, "train", add_votes(workspace, experts(80)), QUICK)
    whole, end = run.records()
    lines = (run.path / "progress.jsonl").read_text(encoding="utf-8").splitlines()
    at = next(at for at, line in enumerate(lines) if json.loads(line)["type"] == "record")
    lines[at] = json.dumps(json.loads(lines[at]) | {"positive": "high", "shares": "none"})
    (run.path / "progress.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    rest, _ = run.records()
    assert len(rest) == len(whole) - 1
    assert end


def test_a_checkpoint_of_another_version_is_not_gone_on_from(tmp_path, monkeypatch):
    workspace = Workspace(tmp_path)
    control = RunControl(Status(workspace.new_run("train", add_votes(workspace, experts(80)), QUICK)))
    control.save("training-0-0", Saved({}, {"records": 3}))
    assert control.load("training-0-0").notes == {"records": 3}
    monkeypatch.setattr("deem_core.runs.control.__version__", "0.0.0")
    assert control.load("training-0-0") is None


def test_the_size_of_stacks_alone_is_no_place_to_go_on_from(tmp_path, monkeypatch):
    workspace = Workspace(tmp_path)
    run = workspace.new_run("train", add_votes(workspace, experts(80)), QUICK)
    status = Status(run)
    RunControl(status).save("training-0-stacks", Saved({}, {"stack_size": 3}))
    status.append("note", {"text": "of the first try"})
    write_state(run.path, State("failed", "It died.", share=0.4))
    monkeypatch.setattr(Workspace, "_start", lambda self, run: None)
    workspace.resume(run)
    assert run.progress()[0] == []
    assert run.state().share == 0.0
