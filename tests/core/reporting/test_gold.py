"""The section on gold rows: what they were used for, and what they prove."""

import json
from dataclasses import replace

import pytest

from deem_core.gold import Estimate
from deem_core.reporting import report as report_of
from deem_core.reporting.material import gather
from deem_core.reporting.render import estimated
from tests.core.reporting.helpers import Page, done, give_gold, table, verdict_of


@pytest.fixture(scope="module")
def run(workspace):
    dataset = workspace.add_dataset("gold.csv", table(300, 8))
    return done(workspace, "train", dataset, {"device": "cpu", "method": "irbm", "random_state": 0})


@pytest.fixture(scope="module")
def verdict(workspace, run):
    return verdict_of(workspace, run, 12)


def section(report):
    """Return the text of the section."""
    html = report.html()
    return Page(html[html.index('<section id="gold">') : html.index('<section id="evaluation">')]).text


def test_it_tells_what_gold_was_used_for_and_what_it_proves(workspace, run, verdict):
    give_gold(run, verdict)
    report = report_of(run, workspace)
    told, text = report.to_dict(), section(report)
    assert told["gold"] == json.loads(json.dumps(verdict.to_dict()))
    assert "gold" not in told["not_computed"]
    assert "Used 12 gold rows" in text
    for sentence in verdict.sentences:
        assert sentence in text
    for one in (verdict.answer, verdict.majority, *verdict.learners):
        assert f"{one.title}{estimated(vars(one))}{one.rows}" in text
    for rival in verdict.rivals:
        cells = f"{rival.title}{estimated(vars(rival.estimate))}{rival.wins}{rival.losses}{100 * rival.changed:.1f}%"
        assert cells in text
    assert "Right by gold" in report.html()


def test_a_trained_model_is_judged_without_rivals(workspace, run, verdict):
    give_gold(run, replace(verdict, rivals=(), best_learner=None))
    text = section(report_of(run, workspace))
    assert "How accurate they are" in text
    assert "Other methods that could have answered" not in text


def test_learners_without_gold_rows_are_counted_and_not_listed(workspace, run, verdict):
    silent = Estimate("silent", "silent one", None, None, None, 0)
    give_gold(run, replace(verdict, learners=(silent, *verdict.learners)))
    text = section(report_of(run, workspace))
    assert f"1 of {len(verdict.learners) + 1} learners voted on none of the gold rows" in text
    assert "silent one" not in text


def test_gold_rows_without_votes_have_no_table(workspace, run, verdict):
    none = replace(verdict.answer, share=None, low=None, high=None, rows=0)
    give_gold(run, replace(verdict, n_gold=0, answer=none, majority=none, sentences=("No gold row has votes.",)))
    report = report_of(run, workspace)
    assert "No gold row has votes." in section(report)
    assert "How accurate they are" not in section(report)
    assert "Right by gold" not in report.html()
    assert not any("fair" in sentence for sentence in report.to_dict()["limits"])


def test_limits_say_how_fair_gold_is(workspace, run, verdict):
    for asked, words in ((False, "They must be a random sample of all rows"), (True, "Some of them were chosen")):
        give_gold(run, replace(verdict, asked=asked))
        limits = " ".join(report_of(run, workspace).to_dict()["limits"])
        assert f"What the 12 gold rows tell depends on how they were drawn. {words}" in limits
        assert "fewer than 20" in limits
    give_gold(run, replace(verdict, n_gold=20))
    assert "fewer than 20" not in " ".join(report_of(run, workspace).to_dict()["limits"])


def test_without_gold_it_says_how_to_begin(bare):
    told = bare[1].to_dict()
    assert told["gold"] is None
    lacking = told["not_computed"]["gold"]
    assert lacking["command"] == "python -m deem_core ask bare.csv --ignore label -o queue.csv"
    assert "--gold-file queue.csv" in lacking["why"]


def test_the_stored_gold_labels_are_named_by_their_hash(workspace):
    dataset = workspace.add_dataset("twice.csv", table(60, 9))
    votes = workspace.read(dataset).votes
    labels = "".join(f"{row + 1},{votes.classes[votes.truth[row]]}\n" for row in range(5))
    digest = workspace.store(f"row,gold_label\n{labels}".encode())
    run = done(workspace, "train", dataset, {"device": "cpu", "method": "irbm", "random_state": 0, "gold": digest})
    report = report_of(run, workspace)
    told = report.to_dict()["repeat"]
    assert told["line"].endswith("--gold-file gold.csv")
    assert (told["gold_name"], told["gold_sha256"], told["hint"]) == ("gold.csv", digest, "")
    assert f"named by its SHA-256: {digest}" in Page(report.html()).text
    assert report.to_dict()["evaluation"]["rows"] == 55
    assert gather(workspace, run).card.real.rows.max() == 55  # the scorecard leaves gold rows out, too
