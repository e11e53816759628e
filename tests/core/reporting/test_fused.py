"""Reports of fused answers: no training stands behind them, and gold rows may."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from deem_core import cli
from deem_core.answers import StoredAnswer
from deem_core.reporting import Report
from deem_core.reporting import report as report_of
from deem_core.reporting.command import PROGRAM
from deem_core.reporting.render import OF_MODEL, OF_TRAINING
from deem_core.runs import FusionSummary
from tests.core.gold.helpers import panel
from tests.core.reporting.helpers import Page, done
from tests.in_process import add_votes

GOLD = 20


@pytest.fixture(scope="module")
def dataset(workspace):
    return add_votes(workspace, panel(150), "panel.csv")


@pytest.fixture(scope="module")
def gold(workspace, dataset):
    votes = workspace.read(dataset).votes
    lines = "".join(f"{row + 1},{votes.classes[votes.truth[row]]},\n" for row in range(GOLD))
    return workspace.store(f"row,gold_label,asked\n{lines}".encode())


@pytest.fixture(scope="module")
def by_gold(workspace, dataset, gold):
    run = done(workspace, "fuse", dataset, {"random_state": 0, "gold": gold})
    return run, report_of(run, workspace)


def test_an_answer_with_gold_tells_who_answered_why_and_what_gold_proves(by_gold):
    run, report = by_gold
    summary, told, page = FusionSummary.of(run), report.to_dict(), Page(report.html())
    assert told["gold"] == run.summary()["gold"]
    assert told["gold"]["n_gold"] == GOLD
    assert told["run"]["kind"] == "fuse"
    assert told["run"]["answerer"] == summary.gold.chosen_title
    assert told["why"] == list(summary.training.why)
    assert f"Auto, answered by {summary.gold.chosen_title}" in page.text
    assert "Chosen by auto, from votes and gold rows." in page.text
    for sentence in (*summary.training.why, *told["dataset"]["panel"]["camps"]["sentence"].splitlines()):
        assert sentence in page.text
    assert told["evaluation"]["rows"] == 150 - GOLD
    assert f"What the {GOLD} gold rows tell" in " ".join(told["limits"])
    assert all(one["gold_accuracy"] is not None for one in told["learners"])


def test_sections_that_need_a_training_are_left_out(by_gold):
    told, page = by_gold[1].to_dict(), Page(by_gold[1].html())
    absent, there = {*OF_TRAINING, *OF_MODEL, "groups"}, page.sections()
    assert not absent & set(there)
    assert there[there.index("settings") + 1] == "answer"
    assert {"labels", "learners", "gold", "evaluation", "limits", "repeat"} < set(there)
    assert list(told["not_computed"]) == ["comparison"]
    assert told["training"]["curves"] == told["restarts"] == []
    assert "restarts" not in " ".join(told["limits"])
    links = {attributes["href"] for tag, attributes in page.elements if tag == "a" and "href" in attributes}
    assert links == {f"#{name}" for name in there}


def test_rows_to_review_are_counted(workspace, by_gold):
    run, report = by_gold
    stored = StoredAnswer(run.path / "result.parquet", 2)
    assert report.to_dict()["labels"]["to_review"] == stored.needs_review.sum() > 0
    assert f"{stored.needs_review.sum()} of 150 rows deserve a look" in Page(report.html()).text


def test_its_command_gives_the_same_labels(workspace, by_gold, tmp_path, monkeypatch):
    run, report = by_gold
    dataset = workspace.dataset(run.dataset_id)
    (tmp_path / "panel.csv").write_bytes(workspace.input(dataset.data).read_bytes())
    (tmp_path / "gold.csv").write_bytes(workspace.input(run.config["gold"]).read_bytes())
    monkeypatch.chdir(tmp_path)
    words = report.to_dict()["repeat"]["command"]
    assert "--method" not in words
    assert cli.main(words[len(PROGRAM) :]) == 0
    with Path("fused.csv").open(encoding="utf-8") as stream:
        labels = [row["fused_label"] for row in csv.DictReader(stream)]
    votes = workspace.read(dataset).votes
    assert labels == [str(votes.classes[k]) for k in StoredAnswer(run.path / "result.parquet", 2).codes]


def test_a_method_by_name_tells_what_it_said_itself(workspace, dataset, gold):
    run = done(workspace, "fuse", dataset, {"random_state": 0, "method": "ds", "gold": gold})
    report = report_of(run, workspace)
    told, text = report.to_dict(), Page(report.html()).text
    assert "The method that was asked for." in text
    assert any("Stopped after" in note for note in told["why"])
    assert told["repeat"]["line"].endswith("--method ds --seed 0 --gold-file gold.csv")
    assert "draws nothing at random" in " ".join(told["limits"])


def test_a_grouped_answer_has_its_groups_and_a_model_to_ask(workspace):
    run = done(workspace, "fuse", add_votes(workspace, panel(300), "larger.csv"), {"random_state": 0})
    report = report_of(run, workspace)
    told, page = report.to_dict(), Page(report.html())
    assert told["run"]["answered_by"] == "gds"
    assert "groups" in page.sections()
    assert set(told["not_computed"]) == {*OF_MODEL, "comparison", "gold"}


def test_several_labels_in_a_row_have_no_scorecard(workspace):
    lines = [f"{i},{'a|b' if i % 2 else 'c'},{'a|b' if i % 3 else 'a'},{'b|c' if i % 5 else 'b'}" for i in range(40)]
    content = "\n".join(["id,m1,m2,m3", *lines]).encode()
    dataset = workspace.add_dataset("sets.csv", content, reading={"multilabel": "|"})
    report = report_of(done(workspace, "fuse", dataset, {"random_state": 0, "method": "mv"}), workspace)
    assert "learners" not in Page(report.html()).sections()
    assert len(report.to_dict()["labels"]["class_shares"]) == 3
    assert "--separator '|'" in report.to_dict()["repeat"]["line"]


def test_a_choice_between_earlier_trainings_is_said_beside_the_command(by_gold):
    run, report = by_gold
    assert report.to_dict()["repeat"]["hint"] == ""
    other = replace(run, spec=run.spec | {"config": run.config | {"consider": ["0" * 32]}})
    hint = Report(replace(report.material, run=other)).to_dict()["repeat"]["hint"]
    assert "also chose between earlier trainings" in hint
