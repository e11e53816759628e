"""sweep as a command."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from deem_core import cli
from deem_core.cli.sweep import sparkline

SAMPLE = str(Path(__file__).resolve().parents[3] / "sample_data" / "experts_wide.csv")
TINY = ["--updates", "8", "--batch", "64", "--device", "cpu"]


def run(capsys, *arguments):
    code = cli.main(["sweep", SAMPLE, *TINY, *map(str, arguments)])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_sweep_prints_a_line_per_rate_and_a_recommendation(capsys, tmp_path):
    out, curves = tmp_path / "sweep.json", tmp_path / "curves.csv"
    code, told, err = run(capsys, "--rates", "0.5,0.1", "--json", out, "--csv", curves)
    assert (code, err) == (0, "")
    content = json.loads(out.read_text())
    assert [item["learning_rate"] for item in content["rates"]] == [0.1, 0.5]
    for item in content["rates"]:
        line = next(line for line in told.splitlines() if f" {item['learning_rate']:g}   {item['verdict']}" in line)
        assert item["reason"] in line
        assert ("→" in line) == item["recommended"]
    assert content["why"] in told
    assert "8 updates each, measured 9 times" in told
    assert content["how"] in told
    frame = pd.read_csv(curves)
    assert len(frame) == 2 * 9
    assert frame["difference"].tolist() == pytest.approx(np.concatenate([r["difference"] for r in content["rates"]]))


def test_sweep_compares_depths(capsys):
    code, told, _ = run(capsys, "--rates", "0.3", "--layers", "0,1")
    assert code == 0
    assert "layers" in told
    assert "dependence" in told or "died" in told


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--rates", "quick"], "--rates is 'quick'"),
        (["--rates", ","], "no learning rate"),
        (["--rates", "-1"], "positive"),
        (["--rates", "nan"], "positive"),
        (["--rates", "0.1,0.1"], "given twice"),
        (["--layers", "1.5"], "--layers is '1.5'"),
        (["--layers", "99"], "n_layers is 99"),
        (["--csv", "curves.docx"], "curves.docx"),
        (["--smoothing", "2"], "smoothing is 2"),
    ],
)
def test_refusals_are_one_sentence(capsys, arguments, said):
    code, told, err = run(capsys, *[f"{arguments[0]}={arguments[1]}"])
    assert (code, told) == (2, "")
    assert said in err
    assert len(err.splitlines()) == 1


def test_a_sparkline_shows_the_shape_and_leaves_out_what_is_not_known():
    assert sparkline([-1.0, 0.0, 1.0], 1.0) == "▁▅█"
    assert sparkline([-1.0, np.nan], 1.0) == "▁"
    assert sparkline([np.nan], 1.0) == ""
    assert len(sparkline(np.zeros(65), 1.0)) == 24
    assert sparkline([0.0], 0.0) == "▅"
