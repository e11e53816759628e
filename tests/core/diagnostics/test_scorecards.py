"""The scorecard: its numbers are those of other rooms, its flags those of the findings."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from deem_core import InputError, cli, describe, fuse, read, scorecard
from deem_core.answers import Answer
from deem_core.answers.stored import StoredAnswer, write_answer
from deem_core.diagnostics import Finding, checkup, estimated_reliability, inspect, real_reliability
from deem_core.diagnostics.experts import Expert
from deem_core.diagnostics.scorecards import flags
from deem_core.estimators.irbm import IRBM
from deem_core.simulation import make
from deem_core.votes import NO_VOTE, Votes
from tests.in_process import experts


@pytest.fixture(scope="module")
def votes():
    """Votes of learners of every kind: copies, an expert, one that is constant, one silent, one that guesses."""
    known = experts(400)
    rng = np.random.default_rng(1)
    rows = known.n_rows
    guess = rng.integers(0, 4, rows)
    rule = np.where(rng.random(rows) < 0.2, 3, NO_VOTE)
    few = np.full(rows, NO_VOTE)
    few[:5] = [0, 1, 2, 3, 0]
    extra = [np.full(rows, 2), np.full(rows, NO_VOTE), guess, rule, few]
    codes = np.column_stack([known.codes, *extra]).astype(np.int32)
    names = (*known.learners, "always", "nobody", "guess", "rule", "newcomer")
    return replace(known, codes=codes, learners=names)


@pytest.fixture(scope="module")
def answer(votes):
    return fuse(votes, method="ds", random_state=0)


@pytest.fixture(scope="module")
def card(answer):
    return scorecard(answer)


def test_numbers_are_those_of_the_other_pages(card, answer, votes):
    facts = describe(votes)
    np.testing.assert_array_equal(card.estimated.accuracy, estimated_reliability(answer).accuracy)
    np.testing.assert_array_equal(card.real.accuracy, real_reliability(votes).accuracy)
    np.testing.assert_array_equal(card.with_majority, facts.learner_agreement)
    np.testing.assert_array_equal(card.coverage, facts.learner_coverage)
    own = votes.codes[:, 0]
    assert card.with_fused[0] == pytest.approx((own == answer.codes).mean())


def test_flags_are_the_findings_of_the_data_page(card, votes):
    words = dict(zip(card.learners, card.words(), strict=True))
    assert words["always"] == "always “y”"
    assert words["nobody"] == "silent"
    assert words["guess"] == "agrees no more than chance"
    assert words["rule"] == "only “z”"
    assert words["newcomer"] == "few votes"
    assert words["ann"] == "near-copy of ann_2, ann_3"
    assert words["bob"] == ""
    named = {name for finding in checkup(votes.without_truth()) if finding.leave_out for name in finding.learners}
    assert named <= {flag.learner for flag in card.flags}


def test_who_says_something_else_now_and_then_says_it_mostly():
    votes = Votes.from_labels([["x", "x"], ["x", "y"], ["x", "x"], ["y", "x"]], learners=["mostly", "other"])
    found = Finding("constant_learners", "warning", "", "", "", learners=("mostly",))
    assert [flag.words for flag in flags(votes, [found])] == ["mostly “x”"]


def test_no_interval_has_no_width():
    truth = np.tile([0, 1], 30).astype(np.int32)
    codes = np.column_stack([truth] * 3)
    sure = Votes(codes, np.array(["a", "b"], object), ("x", "y", "z"), np.arange(60).astype(str).astype(object), truth)
    card = scorecard(fuse(sure, method="mv"))
    for source in (card.estimated, card.real):
        assert source.accuracy[0] == pytest.approx(1.0)
        assert (source.high - source.low > 0.02).all()


def test_truth_changes_nothing_but_its_own_columns(answer, card):
    blind = scorecard(Answer(answer.votes.without_truth(), answer.posterior))
    assert blind.real is None
    left = [name for name in card.to_frame().columns if not name.startswith("real_")]
    pd.testing.assert_frame_equal(blind.to_frame(), card.to_frame()[left])


def test_gold_rows_make_a_column_with_their_own_intervals(votes):
    gold = {str(votes.ids[row]): str(votes.classes[votes.truth[row]]) for row in range(40)}
    card = scorecard(fuse(votes.without_truth(), gold=gold, random_state=0))
    assert card.gold.rows[0] == 40
    at = card.learners.index("expert")
    hits = (votes.codes[:40, at] == votes.truth[:40]).mean()
    assert card.gold.accuracy[at] == pytest.approx(hits)
    assert card.gold.low[at] < hits < card.gold.high[at]
    assert card.real is None


def test_a_model_adds_influence_and_names_its_expert():
    some = experts().select_learners(range(5)).without_truth()
    model = IRBM(random_state=0).fit(some)
    found = inspect(model, some)
    card = scorecard(model.fuse(some), inspection=found)
    np.testing.assert_array_equal(card.influence, found.influence.overall)
    np.testing.assert_array_equal(card.estimated.accuracy, found.reliability.accuracy)
    assert "expert for" in dict(zip(card.learners, card.words(), strict=True))["expert"]


def test_of_two_copies_one_is_called_the_expert(votes):
    found = [Expert("ann", "w", 2.0, 2.0), Expert("ann_2", "w", 1.9, 2.0), Expert("ann_2", "x", 1.9, 2.0)]
    raised = {(flag.learner, flag.classes) for flag in flags(votes, checkup(votes), found) if flag.kind == "expert"}
    assert raised == {("ann", ("w",)), ("ann_2", ("x",))}


def test_labels_without_probabilities_have_a_scorecard_too(answer, tmp_path):
    path = tmp_path / "labels.parquet"
    with path.open("wb") as stream:
        write_answer(answer, stream, probabilities=False)
    card = scorecard(StoredAnswer(path, answer.votes.n_classes).answer(answer.votes))
    np.testing.assert_allclose(card.estimated.accuracy, card.with_fused)


def test_learners_are_ranked_by_the_estimate_whatever_the_truth(card):
    ranked = [card.learners[j] for j in card.ranked()]
    assert ranked[-1] == "nobody"
    assert ranked[0] == card.learners[int(np.nanargmax(card.estimated.accuracy))]


def test_the_command_line_writes_it(tmp_path: Path, capsys):
    target, fused = tmp_path / "card.csv", tmp_path / "fused.csv"
    sample = "sample_data/moderation_missing.csv"
    assert cli.main(["describe", sample, "--truth", "label", "--scorecard", str(target)]) == 0
    described = pd.read_csv(target)
    assert {"learner", "votes", "estimated_low", "real_accuracy", "flags"} <= set(described.columns)
    assert cli.main(["fuse", sample, "--truth", "label", "-o", str(fused), "--scorecard", str(target)]) == 0
    pd.testing.assert_frame_equal(described, pd.read_csv(target))
    assert "Scorecard of" in capsys.readouterr().out


def test_a_thousand_learners_take_seconds():
    many = make("condind", 2000, seed=0, n_learners=1000).votes
    card = scorecard(fuse(many, method="mv"), findings=())
    assert len(card.to_frame()) == 1000


def test_several_labels_in_a_cell_have_no_scorecard():
    rows = "".join(f"{row},x|y,x,{'y' if row % 2 else 'x|y'}\n" for row in range(20))
    answer = fuse(read(f"id,a,b,c\n{rows}".encode(), multilabel="|").votes, random_state=0)
    with pytest.raises(InputError, match="--one-label"):
        scorecard(answer)
