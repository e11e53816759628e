"""compare as a command."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from deem_core import cli, simulation
from deem_core.files import tables

ROOT = Path(__file__).resolve().parents[3]
METHODS = ["--methods", "mv,ds,la1,mean_prob", "--seeds", "2"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("votes")
    tables.write(tables.wide_table(simulation.simulate("experts", 300, 0).votes), made / "wide.csv")
    crowd = simulation.simulate("crowd", 200, 0, 12, 3).votes
    tables.write(tables.long_table(crowd), made / "long.csv")
    tables.write(tables.truth_table(crowd), made / "truth.csv")
    return made


def run(capsys, *arguments) -> str:
    code = cli.main([str(argument) for argument in arguments])
    told = capsys.readouterr()
    assert code == 0, told.err
    assert told.err == ""
    return told.out


def test_a_ranked_table_a_matrix_and_a_conclusion_are_printed(capsys, folder, tmp_path):
    out = tmp_path / "compared.json"
    told = run(capsys, "compare", folder / "wide.csv", *METHODS, "--expert-classes", "4,7", "--json", out)
    lines = told.splitlines()
    assert lines[0] == "wide.csv: 300 rows × 15 learners × 10 classes, 3 methods."
    content = json.loads(out.read_text())
    ranked = sorted((m for m in content["methods"] if m["accuracy"] is not None), key=lambda m: -m["accuracy"])
    first_class = next(line for line in lines if line.startswith("  mv, ties to the first class"))
    assert f"{100 * next(m for m in ranked if m['name'] == 'mv')['first_class_accuracy']:.1f}%" in first_class
    lines.remove(first_class)
    assert [line.split()[0].rstrip(",") for line in lines[3:6]] == [method["name"] for method in ranked]
    assert f"{100 * ranked[0]['accuracy']:.1f}%" in lines[3]
    assert "experts" in lines[2]
    assert "best single learner" in lines[6]
    assert "Same label, % of rows" in told
    assert "  mean_prob: mean_prob pools probabilities" in told
    assert lines[-1] == content["conclusion"]
    assert content["expert_classes"] == ["4", "7"]
    assert [method["name"] for method in content["methods"]] == ["mv", "ds", "la1", "mean_prob"]
    assert content["methods"][-1]["seconds"] is None


def test_without_truth_shares_and_stability_are_told(capsys, folder):
    told = run(capsys, "compare", folder / "wide.csv", "--ignore", "label", *METHODS)
    assert "seeds agree" in told
    assert "right" not in told.split("\n\n")[1]
    assert told.splitlines()[-1].startswith("Without true labels there is no telling")


def test_long_files_with_a_truth_file_are_compared(capsys, folder):
    told = run(capsys, "compare", folder / "long.csv", "--truth-file", folder / "truth.csv", *METHODS)
    assert "200 rows × 12 learners × 3 classes" in told
    assert "DEEM was not among the methods." in told


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--methods", "mv,magic"], "no method 'magic'"),
        (["--methods", ","], "No method was named"),
        (["--expert-classes", "99", "--methods", "mv"], "no class '99'"),
        (["--seeds", "0"], "seeds is 0"),
        (["--seed", "-1"], "seed is -1"),
        (["--budget", "-3"], "budget is -3"),
        (["--json", "wide.csv"], "is the file to read"),
    ],
)
def test_errors_are_one_sentence(capsys, folder, monkeypatch, arguments, sentence):
    monkeypatch.chdir(folder)
    assert cli.main(["compare", "wide.csv", *arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert len(told.err.splitlines()) == 1
    assert sentence in told.err


def test_listing_the_commands_does_not_import_torch():
    code = "import sys, deem_core.cli as c; c.parser(); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
