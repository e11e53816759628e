"""check as a command: exit codes, lines and JSON."""

import json

import pytest

from deem_core import cli, simulation
from deem_core.files import tables
from deem_core.runs import Workspace
from tests.in_process import add_votes, done

CAMPS = "sample_data/judges_text.csv"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("check") / "votes.csv"
    tables.write(tables.wide_table(simulation.simulate("condind", 300, 0).votes), path)
    return str(path)


def run(capsys, *words):
    code = cli.main(["check", *words])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_a_file_whose_conditions_hold_gives_0(capsys, file, tmp_path):
    out = tmp_path / "check.json"
    code, told, _ = run(capsys, file, "--method", "mv", "--json", str(out))
    assert (code, told.splitlines()[-1]) == (0, "All of 8 conditions hold.")
    content = json.loads(out.read_text())
    assert content["passed"] is True
    assert content["failed"] == []
    assert (content["name"], content["method"], content["n_rows"]) == ("votes.csv", "mv", 300)


def test_a_condition_that_fails_gives_1_and_says_why(capsys, file, tmp_path):
    out = tmp_path / "check.json"
    words = ["--method", "mv", "--fail-on", "collapse,below-coverage=0.5", "--fail-on", "below-alpha=0.99"]
    code, told, _ = run(capsys, file, *words, "--json", str(out))
    assert code == 1
    assert told.splitlines()[-1] == "1 of 3 conditions failed."
    assert [line.split()[0] for line in told.splitlines()[1:4]] == ["passed", "passed", "FAILED"]
    content = json.loads(out.read_text())
    assert content["failed"] == ["below-alpha=0.99"]
    failed = content["conditions"][2]
    assert failed["limit"] == 0.99
    assert failed["value"] < 0.99
    assert "Krippendorff's α" in failed["sentence"]


def test_camps_fail_by_default_and_other_alarms_are_noted(capsys):
    code, told, _ = run(capsys, CAMPS)
    assert code == 1
    assert "FAILED  camps" in told
    code, told, _ = run(capsys, CAMPS, "--fail-on", "collapse")
    assert code == 0
    assert "note    The panel is split: Two camps" in told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--fail-on", "colapse"], "no condition 'colapse'"),
        (["--fail-on", "below-gold=0.9"], "--gold-file"),
        (["--review-below", "2"], "between 0 and 1"),
        (["--updates", "5"], "auto trains nothing"),
        (["--json", "no/such/folder/out.json"], "does not exist"),
    ],
)
def test_bad_input_gives_2_and_a_sentence(capsys, file, words, said):
    code, told, error = run(capsys, file, *words)
    assert (code, told) == (2, "")
    assert said in error
    assert run(capsys, "no_such_file.csv")[0] == 2


def test_large_files_are_checked_by_their_sample(capsys, file):
    code, told, _ = run(capsys, file, "--stream", "--sample", "100", "--method", "mv")
    assert code == 0
    assert "The conditions rest on" in told


def test_the_labels_of_a_run_are_checked(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("DEEM_HOME", str(tmp_path))
    workspace = Workspace()
    dataset = add_votes(workspace, simulation.simulate("condind", 200, 1).votes)
    short = {"method": "deem", "updates": 6, "restarts": 2, "batch_size": 64, "device": "cpu", "random_state": 0}
    fused = done(workspace, "fuse", dataset, {"method": "ds", "random_state": 0})
    trained = done(workspace, "train", dataset, short)
    compared = done(workspace, "compare", dataset, {"methods": ["mv"], "random_state": 0})
    code, told, _ = run(capsys, fused.id[:8], "--fail-on", "collapse,below-review=1,below-accuracy=0")
    assert (code, told.splitlines()[0].split(":")[0]) == (0, f"Run {fused.id[:8]}")
    failed = {"collapse", "fallback", "instability"} & {alarm.kind for alarm in _alarms(workspace, trained)}
    code, told, _ = run(capsys, trained.id, "--fail-on", "collapse,fallback,instability")
    assert code == bool(failed)
    assert told.count("FAILED") == len(failed)
    assert run(capsys, compared.id)[0] == 2


def _alarms(workspace, run):
    from deem_core.reporting.material import gather

    return gather(workspace, run).alarms
