"""The command that repeats a run."""

from __future__ import annotations

import csv
import os
import re
import shlex
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from deem_core import cli, simulation
from deem_core.cli.options import training_settings
from deem_core.files import tables
from deem_core.model.config import TrainConfig
from deem_core.reporting import repeat_command
from deem_core.reporting import report as report_of
from deem_core.runs import Run, Workspace
from tests.core.reporting.helpers import TINY, done, table

ROOT = Path(__file__).resolve().parents[3]

OTHERS: dict[str, Any] = {
    "n_layers": 2,
    "learning_rate": 0.1234567890123,
    "updates": 31,
    "epochs": 1.5,
    "batch_size": 33,
    "restarts": 3,
    "sampler": "gwg",
    "sampler_steps": 2,
    "step_size": 0.7,
    "chain_start": "persistent",
    "momentum": 0.25,
    "l1": 1e-05,
    "l2": 0.001,
    "start": "groups",
    "init_scale": 1.1,
    "activation": "softmax",
    "early_stop": True,
    "near_copies": "collapse",
    "draws": 7,
    "device": "cuda:1",
    "backend": "torch",
    "random_state": 5,
    "allow_few_learners": True,
}


def spec_of(config: dict[str, Any], seed: int = 0, **inputs: Any) -> dict[str, Any]:
    return {"inputs": {"name": "votes.csv", "data": "0", "reading": {}, **inputs}, "config": config, "seed": seed}


def parsed(words: list[str]) -> Any:
    assert words[:4] == ["python", "-m", "deem_core", "fuse"]
    return cli.parser().parse_args(words[3:])


def test_no_setting_is_forgotten():
    assert set(OTHERS) == {item.name for item in fields(TrainConfig)}


@pytest.mark.parametrize("name", OTHERS)
def test_every_setting_can_be_said_on_the_command_line(name):
    config = {name: OTHERS[name]}
    seed = OTHERS[name] if name == "random_state" else 11
    options = parsed(repeat_command(spec_of(config, seed)))
    assert training_settings(options) == {"random_state": seed, **config}
    assert options.method == "deem"


def test_the_command_is_short_where_settings_are_the_defaults():
    config = {item.name: item.default for item in fields(TrainConfig)}
    words = ["python", "-m", "deem_core", "fuse", "votes.csv", "-o", "fused.csv", "--method", "deem", "--seed", "3"]
    assert repeat_command(spec_of(config, 3)) == words
    assert repeat_command(spec_of({"method": "irbm_cd", "near_copies": "keep"}, 3)) == [
        *words[:-4],
        *("--method", "irbm_cd", "--seed", "3"),
    ]
    assert "--method" not in repeat_command(spec_of({"method": "auto"}, 3))
    assert "--near-copies" in repeat_command(spec_of({"method": "irbm_cd", "near_copies": "guard"}, 3))
    assert repeat_command(spec_of({"updates": 30.0}, 3))[-2:] == ["--updates", "30"]


def test_a_run_on_a_cluster_says_so_and_one_on_this_machine_does_not():
    words = repeat_command(spec_of({"on": "ray://10.0.0.1:10001"}, 3))
    assert words[-2:] == ["--on", "ray://10.0.0.1:10001"]
    assert "--on" not in repeat_command(spec_of({"on": "local"}, 3))


def test_reading_options_survive_the_shell():
    reading = {
        "layout": "long",
        "id": "it's",
        "truth": "--json",
        "gold": "-g",
        "worker": "-w",
        "label": 'a "b"',
        "learners": ["x y", "-1"],
        "ignore": ["$HOME"],
        "missing": [],
        "delimiter": "\t",
        "encoding": "cp1252",
    }
    spec = spec_of({}, name="-odd name.csv", truth="0", truth_name="fused.csv", reading=reading)
    words = repeat_command(spec)
    options = parsed(shlex.split(shlex.join(words)))
    assert (options.file, options.output, options.truth_file) == ("./-odd name.csv", "fused_labels.csv", "fused.csv")
    assert (options.layout, options.id, options.truth) == ("long", "it's", "--json")
    assert (options.worker, options.label, options.delimiter) == ("-w", 'a "b"', "tab")
    assert (options.learner, options.ignore, options.missing) == (["x y", "-1"], ["$HOME"], [""])
    assert options.encoding == "cp1252"
    assert options.gold == "-g"


@pytest.mark.parametrize(
    ("reading", "told"),
    [
        ({"ordered": True}, {"ordered": True}),
        ({"ordered": ["poor", "fair, or so", "good"]}, {"ordered": ["poor", "fair, or so", "good"]}),
        ({"multilabel": True, "empty_is_none": True}, {"multilabel": True, "empty_is_none": True}),
        ({"multilabel": "|", "one_label": "-cat"}, {"multilabel": "|", "one_label": "-cat"}),
    ],
)
def test_what_labels_mean_is_said_again(reading, told):
    words = repeat_command(spec_of({}, reading=reading))
    options = cli.options.reading_options(parsed(shlex.split(shlex.join(words))))
    assert {name: options[name] for name in told} == told


def test_gold_labels_come_from_a_file_that_has_a_name_of_its_own():
    plain, config = repeat_command(spec_of({}, 3)), {"gold": "ab" * 32}
    assert repeat_command(spec_of(config, 3)) == [*plain, "--gold-file", "gold.csv"]
    named = repeat_command(spec_of(config, 3, truth="0", truth_name="gold.csv"))
    assert named[-4:] == ["--truth-file", "gold.csv", "--gold-file", "gold_labels.csv"]
    options = parsed(repeat_command(spec_of({}, 3, reading={"gold": "known"})))
    assert (options.gold, options.gold_file) == ("known", None)


def test_gold_is_given_once_where_a_run_has_it_twice():
    options = parsed(repeat_command(spec_of({"gold": "ab" * 32}, reading={"gold": "known", "ignore": ["age"]})))
    assert (options.gold, options.gold_file) == (None, "gold.csv")
    assert options.ignore == ["age", "known"]


def same_labels(run: Run, workspace: Workspace, fused: Path) -> None:
    path = run.result("result.parquet")
    assert path is not None
    cells = pyarrow.parquet.read_table(path).to_pydict()
    classes = [str(label) for label in workspace.read_inputs(run.spec["inputs"]).votes.classes]
    with fused.open(encoding="utf-8", newline="") as stream:
        written = list(csv.DictReader(stream))
    assert [row["fused_label"] for row in written] == [classes[code] for code in cells["fused"]]
    # Labels may agree by luck; probabilities do not.
    assert [float(row["confidence"]) for row in written] == pytest.approx(cells["confidence"], abs=1e-6)


@pytest.mark.parametrize(
    "config",
    [
        {"random_state": 4, "n_layers": 1, "sampler": "dula", "sampler_steps": 2, "momentum": 0.3, "l2": 0.01}
        | {"epochs": 5, "init_scale": 1.3, "activation": "softmax", "chain_start": "persistent"},
        {"method": "irbm_cd", "near_copies": "guard", "learning_rate": 0.7, "step_size": 0.6, "updates": 15},
    ],
    ids=["deem", "irbm_cd"],
)
def test_the_printed_command_gives_the_same_labels(workspace, tmp_path, monkeypatch, capsys, config):
    dataset = workspace.add_dataset("it's my votes.csv", table(200, 5))
    run = done(workspace, "train", dataset, {"device": "cpu", "restarts": 2, "batch_size": 64, **config})
    (tmp_path / dataset.name).write_bytes(table(200, 5))
    monkeypatch.chdir(tmp_path)
    line = report_of(run, workspace).to_dict()["repeat"]["line"]
    assert cli.main(shlex.split(line)[3:]) == 0
    capsys.readouterr()
    same_labels(run, workspace, tmp_path / "fused.csv")


def test_the_printed_command_gives_the_same_labels_in_another_process(workspace, tmp_path):
    crowd = simulation.simulate("crowd", 80, 0, 8, 3).votes
    for name, made in (("answers.csv", tables.long_table(crowd)), ("gold.csv", tables.truth_table(crowd))):
        tables.write(made, tmp_path / name)
    dataset = workspace.add_dataset(
        "answers.csv", tmp_path / "answers.csv", truth=("gold.csv", tmp_path / "gold.csv"), reading={"layout": "long"}
    )
    run = done(workspace, "train", dataset, {**TINY, "learning_rate": 0.4})
    words = report_of(run, workspace).to_dict()["repeat"]["command"]
    assert words[-4:] == ["--layout", "long", "--truth-file", "gold.csv"]
    said = subprocess.run(
        [sys.executable, *words[1:]],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (said.returncode, said.stderr) == (0, "")
    same_labels(run, workspace, tmp_path / "fused.csv")


@pytest.mark.slow
def test_the_rate_that_a_sweep_chose_gives_the_same_labels_without_it(workspace, tmp_path, monkeypatch, capsys):
    dataset = workspace.add_dataset("votes.csv", table(200, 6))
    run = done(workspace, "train", dataset, {"device": "cpu", "restarts": 2, "learning_rate": "auto", "n_layers": 0})
    (tmp_path / "votes.csv").write_bytes(table(200, 6))
    monkeypatch.chdir(tmp_path)
    told = report_of(run, workspace).to_dict()
    assert told["learning_rate"]["run"] is None
    words = told["repeat"]["command"]
    rate = re.search(r"--learning-rate (\S+) instead of auto", told["repeat"]["hint"])
    assert rate is not None
    for chosen in ("auto", rate[1]):
        words[words.index("--learning-rate") + 1] = chosen
        assert cli.main(words[3:]) == 0
        same_labels(run, workspace, tmp_path / "fused.csv")
    capsys.readouterr()


def test_the_labels_of_a_dataset_are_in_the_command() -> None:
    reading = {"merge_spellings": True, "labels": [["1", "spam"], ["0", "ham \"n' eggs"], ["x", ""]]}
    words = repeat_command(spec_of({"method": "mv"}, reading=reading))
    options = cli.options.reading_options(parsed(shlex.split(shlex.join(words))))
    assert options["merge_spellings"] is True
    assert [list(pair) for pair in options["labels"]] == reading["labels"]
    plain = repeat_command(spec_of({"method": "mv"}))
    assert not {"--labels", "--merge-spellings"} & set(plain)
