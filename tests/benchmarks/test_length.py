"""The length of training without layers is measured on the way of one training."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import bench_length


@pytest.fixture(autouse=True)
def _without_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEEM_DATA", raising=False)
    monkeypatch.setattr(bench_length, "TIMES", (3, 6))
    monkeypatch.setattr(bench_length, "BEFORE", 3)


def test_a_stop_on_the_way_is_a_training_of_that_length(monkeypatch: pytest.MonkeyPatch) -> None:
    source = bench_length.find("condind-small-10")
    told = bench_length.measure(source, restarts=1)
    assert [row["updates"] for row in told] == [10, 20]
    assert told[1]["psi"] < told[0]["psi"]
    monkeypatch.setattr(bench_length, "TIMES", (3,))
    assert bench_length.measure(source, restarts=1) == told[:1]


def test_what_was_measured_is_kept_and_summed_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = ["condind-small-10", "condind-small-11"]
    monkeypatch.setattr("sys.argv", ["bench_length", *wanted, "--restarts", "2", "--results", str(tmp_path)])
    bench_length.main()
    assert sorted(json.loads((tmp_path / bench_length.STORE).read_text())) == wanted
    printed = capsys.readouterr().out
    assert "complete votes, sets that choose: 2" in printed
    monkeypatch.setattr(bench_length, "measure", None)  # nothing is done twice
    bench_length.main()


def test_a_collapse_answers_as_the_majority_vote() -> None:
    told = {
        "chooses": True,
        "layered": True,
        "complete": True,
        "majority": 70.0,
        "rows": [{"right": [80.0, 80.0], "consensus": own, "kept": kept} for own, kept in ((80.0, 2), (69.0, 0))],
    }
    lines = list(bench_length._gains([told, told]))
    assert lines[0].split() == ["3", "80.00", "+0.00", "±", "0.00", "+0.00", "+0.00", "0"]
    assert lines[1].split()[-1] == "2"  # sets below the majority vote
    assert bench_length._cell(told["rows"][1], 2).strip() == "69.00 (0)"
