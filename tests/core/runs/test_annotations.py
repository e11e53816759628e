"""Name, tags, note and pin of runs, from their file to the command line."""

import json

import pytest

from deem_core import cli
from deem_core.errors import InputError
from deem_core.runs import Workspace
from deem_core.runs.annotations import FILE, MOST_TAGS, Annotations
from deem_core.runs.status import clear_results

CSV = b"id,ann,bob,cy\n1,x,x,y\n2,y,y,y\n"


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    monkeypatch.setenv("DEEM_HOME", str(tmp_path / "home"))
    return Workspace()


@pytest.fixture
def runs(workspace):
    dataset = workspace.add_dataset("small.csv", CSV)
    return [workspace.new_run("train", dataset, {"device": "cpu"}, title=f"no. {n}") for n in range(2)]


def test_a_run_has_its_title_until_it_is_named_and_again_after(workspace, runs):
    run = runs[0]
    assert run.name() == "no. 0"
    workspace.annotate(run, name="  Without \n the copies ")
    assert workspace.run(run.id).name() == "Without the copies"
    assert workspace.run(run.id).spec["title"] == "no. 0"
    workspace.annotate(run, name="")
    assert run.name() == "no. 0"


def test_what_is_not_said_stays(workspace, runs):
    workspace.annotate(runs[0], name="a", tags=["x", "y", "x", " "], note="one\ntwo\x07")
    workspace.annotate(runs[0], tags=["z"])
    assert runs[0].annotations() == Annotations("a", ("z",), "one\ntwo")


def test_what_is_said_of_a_waiting_run_is_there_when_its_worker_begins(workspace, runs):
    workspace.annotate(runs[0], name="kept")
    clear_results(runs[0].path)
    assert runs[0].annotations() == Annotations("kept")


def test_a_dataset_has_one_baseline(workspace, runs):
    assert workspace.baseline(runs[0].dataset_id) is None
    workspace.pin(runs[0])
    workspace.pin(runs[1])
    assert workspace.baseline(runs[0].dataset_id).id == runs[1].id
    assert runs[0].annotations().pinned is None
    workspace.unpin(runs[0].dataset_id)
    assert workspace.baseline(runs[0].dataset_id) is None


@pytest.mark.parametrize("said", [{"name": "x" * 81}, {"tags": ["t" * 31]}, {"note": "n" * 2001}])
def test_what_is_too_long_is_refused_and_nothing_is_lost(workspace, runs, said):
    workspace.annotate(runs[0], name="kept")
    with pytest.raises(InputError, match="Shorten it"):
        workspace.annotate(runs[0], **said)
    with pytest.raises(InputError, match="at most"):
        workspace.annotate(runs[0], tags=map(str, range(MOST_TAGS + 1)))
    assert runs[0].annotations() == Annotations("kept")


@pytest.mark.parametrize("content", ["{", "[]", '{"name": 3, "tags": [1, "x"], "note": null, "pinned": true}'])
def test_damage_is_no_annotation(runs, content):
    (runs[0].path / FILE).write_text(content)
    assert runs[0].annotations() in (Annotations(), Annotations(tags=("x",)))
    assert runs[0].name() == "no. 0"


def test_the_command_line_names_tags_notes_and_pins(workspace, runs, capsys, tmp_path):
    run = runs[0]
    for words in (
        ["name", run.id[:8], "Without", "copies"],
        ["tag", run.id, "paper", "small"],
        ["untag", run.id, "small"],
        ["note", run.id, "Compare with the full panel"],
        ["pin", run.id],
    ):
        assert cli.main(["runs", *words]) == 0
    assert "name “Without copies”; tags paper; pinned as baseline; note: Compare" in capsys.readouterr().out
    assert cli.main(["runs", "list", "--json", str(tmp_path / "runs.json")]) == 0
    assert "Without copies [paper] (baseline)" in capsys.readouterr().out
    listed = {item["id"]: item["annotations"] for item in json.loads((tmp_path / "runs.json").read_text())}
    assert listed[run.id]["tags"] == ["paper"]
    assert listed[runs[1].id]["pinned"] is None
    assert cli.main(["runs", "show", run.id]) == 0
    assert "note: Compare with the full panel" in capsys.readouterr().out
    assert cli.main(["runs", "unpin", run.id]) == 0
    assert cli.main(["runs", "unpin", run.id]) == 2
    assert cli.main(["runs", "tag", run.id]) == 2
    assert "Say which tags" in capsys.readouterr().err
