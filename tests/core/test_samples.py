"""The sample files are small, described, and exactly what the commands beside them make."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from deem_core import cli, readers

FOLDER = Path(__file__).resolve().parents[2] / "sample_data"
SAMPLES = json.loads((FOLDER / "samples.json").read_text(encoding="utf-8"))
SIMULATED = [sample for sample in SAMPLES if " simulate " in sample["command"]]
README = (FOLDER / "README.md").read_text(encoding="utf-8")
CLAIM = re.compile(r"(Majority vote|the best learner|`\w+`)(?: is right)?\s+on\s+([\d.]+)%")

each_sample = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample["file"])


def files_of(sample: dict[str, str]) -> list[str]:
    return [sample[key] for key in ("file", "truth_file") if key in sample]


def section_of(sample: dict[str, str]) -> str:
    return README.split(f"\n## {sample['title']}\n")[1].split("\n## ")[0]


def described(sample: dict[str, str], capsys: pytest.CaptureFixture[str]) -> str:
    truth = ["--truth-file", str(FOLDER / sample["truth_file"])] if "truth_file" in sample else []
    assert cli.main(["describe", str(FOLDER / sample["file"]), *truth]) == 0
    return capsys.readouterr().out


def printed_accuracies(output: str) -> dict[str, float]:
    """Return what `describe` prints of the learners' and majority vote's accuracy, by the README's names."""
    majority = re.search(r"majority vote is right +([\d.]+)%", output)
    assert majority is not None
    table = output.split("\nLearners\n")[1].split("\n\nClasses\n", maxsplit=1)[0]
    learners = {
        f"`{name}`": float(share) for name, share in re.findall(r"^  ([\w-]+) .* ([\d.]+)%$", table, re.MULTILINE)
    }
    assert learners
    printed = {"Majority vote": float(majority[1]), **learners}
    if " more (" not in table:
        printed["the best learner"] = max(learners.values())
    return printed


@each_sample
def test_every_sample_is_there_small_and_described(sample):
    assert set(sample) - {"truth_file"} == {"file", "title", "layout", "shows", "command"}
    assert len(sample["title"]) <= 40
    section = section_of(sample)
    for name in files_of(sample):
        assert (FOLDER / name).stat().st_size <= 1_000_000
        assert f"`{name}`" in section
    assert f"    {sample['command']}\n" in section
    assert sample["shows"] in section


def test_every_file_in_the_folder_is_listed():
    listed = {name for sample in SAMPLES for name in files_of(sample)}
    assert {path.name for path in FOLDER.glob("*.csv")} == listed


@pytest.mark.parametrize("sample", SIMULATED, ids=lambda sample: sample["file"])
def test_a_simulated_sample_is_byte_for_byte_what_its_command_makes(sample, tmp_path, monkeypatch):
    (tmp_path / FOLDER.name).mkdir()
    monkeypatch.chdir(tmp_path)
    python, dash_m, package, *arguments = shlex.split(sample["command"])
    assert (python, dash_m, package) == ("python", "-m", "deem_core")
    assert cli.main(arguments) == 0
    made = {path.name: path.read_bytes() for path in (tmp_path / FOLDER.name).iterdir()}
    assert made.keys() == set(files_of(sample))
    for name, content in made.items():
        assert content == (FOLDER / name).read_bytes()


def test_the_panel_of_judges_is_byte_for_byte_what_its_script_makes(tmp_path):
    made_file = tmp_path / "judges.csv"
    subprocess.run([sys.executable, FOLDER / "make_judges.py", "-o", made_file], check=True, timeout=60)
    assert made_file.read_bytes() == (FOLDER / "judges_text.csv").read_bytes()


@pytest.mark.parametrize(("script", "name"), [("ratings", "ratings_wide"), ("topics", "topics_multilabel")])
def test_ratings_and_topics_are_byte_for_byte_what_their_scripts_make(script, name, tmp_path):
    made_file = tmp_path / "made.csv"
    subprocess.run([sys.executable, FOLDER / f"make_{script}.py", "-o", made_file], check=True, timeout=60)
    assert made_file.read_bytes() == (FOLDER / f"{name}.csv").read_bytes()


@pytest.mark.slow
def test_the_digits_sample_is_what_its_script_makes(tmp_path):
    made_file = tmp_path / "digits.csv"
    subprocess.run([sys.executable, FOLDER / "make_digits.py", "-o", made_file], check=True, timeout=300)
    made, kept = readers.read_votes(made_file), readers.read_votes(FOLDER / "digits_soft.csv")
    assert made.learners == kept.learners
    assert made.classes.tolist() == kept.classes.tolist()
    assert made.ids.equals(kept.ids)
    np.testing.assert_array_equal(made.truth, kept.truth)
    # Another processor may round the training differently, so nearly all is asked for, not all.
    assert np.isclose(made.soft, kept.soft, rtol=0, atol=0.005).mean() > 0.99


@each_sample
def test_describe_finds_the_layout_that_the_list_tells(sample, capsys):
    assert f", {sample['layout']} layout\n" in described(sample, capsys)


@each_sample
def test_every_figure_of_the_readme_is_what_describe_prints(sample, capsys):
    section = section_of(sample)
    claims = CLAIM.findall(section)
    assert claims[0][0] == "Majority vote"
    assert len(claims) == section.count("%")
    printed = printed_accuracies(described(sample, capsys))
    for name, share in claims:
        assert float(share) == printed[name]
