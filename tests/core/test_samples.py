"""The sample files are small, described, and exactly what the commands beside them make."""

from __future__ import annotations

import argparse
import json
import re
import runpy
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from deem_core import Votes, simulate, tables

FOLDER = Path(__file__).resolve().parents[2] / "sample_data"
SAMPLES = json.loads((FOLDER / "samples.json").read_text(encoding="utf-8"))
SIMULATED = [sample for sample in SAMPLES if " simulate " in sample["command"]]
README = (FOLDER / "README.md").read_text(encoding="utf-8")


def files_of(sample: dict[str, str]) -> list[str]:
    return [sample[key] for key in ("file", "truth_file") if key in sample]


def run(command: str, folder: Path) -> Votes:
    """Do what a simulate command does, writing into another folder."""
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--learners", type=int)
    parser.add_argument("--classes", type=int)
    parser.add_argument("--labels", type=lambda text: text.split(","))
    parser.add_argument("--missing", type=float, default=0.0)
    parser.add_argument("--layout", default="wide")
    parser.add_argument("--truth-file")
    parser.add_argument("-o", dest="output")
    python, dash_m, package, simulate_word, *arguments = shlex.split(command)
    assert (python, dash_m, package, simulate_word) == ("python", "-m", "deem_core", "simulate")
    asked = parser.parse_args(arguments)
    soft = asked.layout == "soft"
    made = simulate.build(
        asked.name,
        asked.rows,
        asked.seed,
        asked.learners,
        asked.classes,
        labels=asked.labels,
        missing=asked.missing,
        soft=soft,
    )
    table = {"wide": tables.wide_table, "long": tables.long_table, "soft": tables.soft_table}[asked.layout]
    tables.write(table(made.votes), folder / Path(asked.output).name)
    if asked.truth_file:
        tables.write(tables.truth_table(made.votes), folder / Path(asked.truth_file).name)
    return made.votes


def read_digits(path: Path) -> Votes:
    frame = pd.read_csv(path)
    columns = [column for column in frame.columns if ":" in column]
    learners = list(dict.fromkeys(column.rsplit(":", 1)[0] for column in columns))
    values = frame[columns].to_numpy(np.float32).reshape(len(frame), len(learners), -1)
    return Votes.from_soft(values, learners=learners, truth=frame["label"])


def accuracies(votes: Votes) -> tuple[float, float]:
    """Return the accuracy of majority vote and of the best learner on the rows it voted on."""
    learners = [
        (votes.codes[cast, i] == votes.truth[cast]).mean() for i, cast in enumerate((votes.codes >= 0).T) if cast.any()
    ]
    return float((votes.majority_vote.codes == votes.truth).mean()), float(max(learners))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample["file"])
def test_every_sample_is_there_small_and_described(sample):
    assert set(sample) - {"truth_file"} == {"file", "title", "layout", "shows", "command"}
    assert sample["layout"] in {"wide", "long", "soft"}
    assert len(sample["title"]) <= 40
    for name in files_of(sample):
        assert (FOLDER / name).stat().st_size <= 1_000_000
        assert f"`{name}`" in README
    assert f"    {sample['command']}\n" in README
    assert sample["shows"] in README


def test_every_file_in_the_folder_is_listed():
    listed = {name for sample in SAMPLES for name in files_of(sample)}
    assert {path.name for path in FOLDER.glob("*.csv")} == listed


@pytest.mark.parametrize("sample", SIMULATED, ids=lambda sample: sample["file"])
def test_a_simulated_sample_is_byte_for_byte_what_its_command_makes(sample, tmp_path):
    run(sample["command"], tmp_path)
    for name in files_of(sample):
        assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes()


def test_the_digits_sample_is_what_its_script_makes():
    made = runpy.run_path(str(FOLDER / "make_digits.py"))["digits_votes"]()
    kept = read_digits(FOLDER / "digits_soft.csv")
    assert made.learners == kept.learners
    np.testing.assert_array_equal(made.truth, kept.truth)
    # Another processor may round the training differently, so nearly all is asked for, not all.
    assert (np.abs(made.soft - kept.soft) < 0.01).mean() > 0.98


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample["file"])
def test_the_readme_tells_the_accuracy_of_majority_vote_and_of_the_best_learner(sample, tmp_path):
    simulated = sample in SIMULATED
    votes = run(sample["command"], tmp_path) if simulated else read_digits(FOLDER / sample["file"])
    section = README.split(f"## {sample['title']}\n")[1].split("\n## ")[0]
    told = re.search(r"Majority vote is right on ([\d.]+) % of the rows, the best learner on ([\d.]+) %", section)
    assert told is not None
    assert [float(number) for number in told.groups()] == [round(100 * share, 1) for share in accuracies(votes)]
