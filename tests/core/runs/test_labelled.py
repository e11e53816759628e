"""The answer of a finished run, read again: it says what it said when it was made."""

from __future__ import annotations

import io

import pyarrow.csv

from deem_core import simulation
from deem_core.files import tables
from deem_core.runs import FusionSummary, run_answer
from tests.in_process import done


def test_an_answer_read_again_has_the_doubts_and_sentences_of_its_run(workspace, tmp_path):
    sink = io.BytesIO()
    pyarrow.csv.write_csv(tables.wide_table(simulation.make("ampdata", 3000, seed=0).votes), sink)
    dataset = workspace.add_dataset("votes.csv", sink.getvalue())
    run = done(workspace, "fuse", dataset, {"method": "auto", "random_state": 0})
    reading = workspace.read(dataset)
    answer = run_answer(workspace, run, reading.votes)
    summary = FusionSummary.of(run)
    assert "unsettled" in {alarm.kind for alarm in summary.alarms}  # which labels alone do not tell
    assert answer.alarms == summary.alarms
    assert answer.rows(0, 5).alarms == summary.alarms
    assert answer.notes == summary.training.findings
    answer.export(reading, tmp_path / "hub", format="huggingface")
    card = (tmp_path / "hub" / "README.md").read_text("utf-8")
    assert "The votes leave some labels open" in card
    assert "No alarm was raised" not in card
