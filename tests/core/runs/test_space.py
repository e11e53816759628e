"""Several people in one workspace: nothing is common but the queues."""

import json

import pytest

from deem_core import InputError, cli
from deem_core.runs import Workspace, space_folder
from deem_core.runs.process import Worker
from tests.core.runs.helpers import CSV, LIGHT_WORKER, PATIENCE, QUICK, script, small, until

ANN, BOB = "a" * 64, "b" * 64


@pytest.fixture
def ann(workspace):
    return Workspace(space_folder(workspace.root, ANN))


@pytest.fixture
def bob(workspace):
    return Workspace(space_folder(workspace.root, BOB))


@pytest.mark.parametrize("name", ["", "a" * 63, "a" * 65, "A" * 64, "../" + "a" * 61, "a" * 63 + "/"])
def test_a_space_has_the_name_of_a_hash(workspace, name):
    with pytest.raises(InputError, match="not the name of a space"):
        space_folder(workspace.root, name)


def test_the_folders_of_spaces_are_private(workspace):
    folder = space_folder(workspace.root, ANN)
    assert folder == space_folder(workspace.root, ANN)
    assert [path.stat().st_mode & 0o777 for path in (folder, folder.parent)] == [0o700, 0o700]


def test_nothing_of_one_is_seen_or_reached_by_another(workspace, ann, bob):
    dataset = small(ann)
    run = ann.new_run("fuse", dataset, {"random_state": 0})
    for other in (bob, workspace):
        assert other.datasets() == []
        assert other.runs() == []
        for reach in (lambda other=other: other.run(run.id), lambda other=other: other.dataset(dataset.id)):
            with pytest.raises(InputError, match="There is no"):
                reach()
        with pytest.raises(InputError):
            other.delete_dataset(dataset.id)
        with pytest.raises(InputError):
            other.input(dataset.data)
    same = small(bob)
    assert same.id == dataset.id  # the same file; each has a copy
    bob.delete_dataset(same.id)
    assert ann.input(dataset.data).read_bytes() == CSV
    assert ann.run(run.id).state().state == "queued"


@pytest.mark.slow
def test_runs_of_all_spaces_are_worked_on_one_at_a_time(workspace, ann, bob, tmp_path):
    record = tmp_path / "record.txt"
    runs = [space.new_run("train", small(space), QUICK) for space in (ann, bob, workspace)]
    workers = [script(LIGHT_WORKER, str(record), "0.3", str(run.path)) for run in runs]
    for worker in workers:
        said = worker.communicate(timeout=PATIENCE)
        assert worker.returncode == 0, said
    assert {run.state().state for run in runs} == {"done"}
    assert [line.split()[0] for line in record.read_text().splitlines()] == ["begin", "end"] * 3


def test_who_waits_behind_somebody_elses_run_is_told_how_many(ann, bob, tmp_path):
    with ann.queue.lock():
        place = ann.queue.take("cpu", "f" * 32, Worker.me())
    waiting = bob.new_run("train", small(bob), QUICK)
    worker = script(LIGHT_WORKER, str(tmp_path / "record.txt"), "0", str(waiting.path))
    until(lambda: waiting.state().step == "Queued: 1 run ahead")
    place.give_back()
    said = worker.communicate(timeout=PATIENCE)
    assert worker.returncode == 0, said
    assert waiting.state().state == "done"


def test_spaces_have_the_queue_around_them(workspace, ann, bob):
    assert workspace.queue.folder == ann.queue.folder == bob.queue.folder == workspace.root / "queue"


def test_any_other_folder_keeps_its_own_queue(tmp_path):
    for path in (tmp_path / "spaces" / "mine", tmp_path / ANN):
        assert Workspace(path).queue.folder == path / "queue"


def test_a_time_is_estimated_for_a_file_of_a_space(ann, tmp_path, capsys):
    dataset, out = small(ann), tmp_path / "seconds.json"
    words = ["estimate", dataset.id, "--kind", "fuse", "--json", str(out)]
    assert cli.main(words) != 0
    assert "There is no dataset" in capsys.readouterr().err
    assert cli.main([*words, "--workspace", str(ann.root)]) == 0
    assert json.loads(out.read_text())["seconds"] > 0
