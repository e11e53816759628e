"""Polarity, coverage, overlap and conflict of labelling rules."""

import numpy as np
import pytest

from deem_core import Votes, read_votes, simulation
from deem_core.diagnostics import find_rules, rule_table, rules
from deem_core.votes import NO_VOTE


def random_votes(n=60, d=7, K=3, share=0.35, seed=0):
    """Return votes of any kind, most of them missing, with some truth unknown and one class only truth knows."""
    rng = np.random.default_rng(seed)
    codes = np.where(rng.random((n, d)) < share, rng.integers(K, size=(n, d)), NO_VOTE)
    codes[:, 2] = NO_VOTE
    codes[:10] = NO_VOTE
    return Votes(
        codes=codes,
        classes=["a", "b", "c"],
        learners=[f"lf{j}" for j in range(d)],
        truth=rng.integers(-1, K + 1, size=n),
        truth_only=["z"],
    )


@pytest.mark.parametrize("block", [1 << 21, 50])
def test_the_table_is_what_counting_row_by_row_gives(monkeypatch, block):
    monkeypatch.setattr(rules, "_BLOCK", block)
    votes = random_votes()
    table = rule_table(votes)
    n = votes.n_rows
    for j, rule in enumerate(table.rules):
        coverage = overlap = conflict = hits = judged = 0
        polarity = set()
        for row, truth in zip(votes.codes.tolist(), votes.truth.tolist(), strict=True):
            if row[j] == NO_VOTE:
                continue
            others = [vote for i, vote in enumerate(row) if i != j and vote != NO_VOTE]
            coverage += 1
            polarity.add(row[j])
            overlap += len(others) > 0
            conflict += any(vote != row[j] for vote in others)
            judged += truth != NO_VOTE
            hits += row[j] == truth
        assert rule.learner == votes.learners[j]
        assert rule.polarity == tuple(str(votes.classes[code]) for code in sorted(polarity))
        assert (rule.n_votes, rule.n_judged) == (coverage, judged)
        assert (rule.coverage, rule.overlap, rule.conflict) == (coverage / n, overlap / n, conflict / n)
        assert rule.precision == (hits / judged if judged else None)
    cast = [[vote for vote in row if vote != NO_VOTE] for row in votes.codes.tolist()]
    assert table.n_covered == sum(len(row) > 0 for row in cast)
    assert table.n_overlapping == sum(len(row) > 1 for row in cast)
    assert table.n_conflicting == sum(len(set(row)) > 1 for row in cast)


def test_a_rule_that_never_fires_has_no_polarity_and_no_precision():
    rule = rule_table(random_votes()).rules[2]
    assert rule.polarity == ()
    assert rule.coverage == rule.overlap == rule.conflict == 0
    assert rule.precision is None


def test_precision_is_left_out_without_truth():
    votes = random_votes()
    assert "precision" in rule_table(votes).to_frame()
    assert "precision" not in rule_table(votes.without_truth()).to_frame()
    without = rule_table(votes.without_truth()).to_dict()["rules"]
    assert [rule["conflict"] for rule in without] == [rule.conflict for rule in rule_table(votes).rules]


def test_a_table_without_rows_has_no_shares_that_are_not_numbers():
    empty = rule_table(random_votes().select_rows(slice(0, 0)))
    assert {rule.coverage for rule in empty.rules} == {0.0}


def test_only_files_made_of_one_class_rules_have_a_table():
    rng = np.random.default_rng(0)
    votes = simulation.rules(300, rng=rng).votes
    assert find_rules(votes) == rule_table(votes)
    assert find_rules(votes.select_rows(slice(0, 12))) is None  # a few votes for one class may be chance
    assert find_rules(simulation.condind(500, rng=rng).votes) is None
    assert find_rules(simulation.crowd(300, rng=rng).votes) is None


def test_real_rules_are_recognised_and_other_sets_are_not(large_data):
    assert find_rules(read_votes(large_data / "llmjudge_llmbar.csv.gz")) is None
    table = find_rules(read_votes(large_data / "ws_youtube.csv.gz"))
    assert table is not None
    assert (table.n_covered, table.n_overlapping, table.n_conflicting) == (1728, 993, 507)
    assert [rule.polarity for rule in table.rules].count(("SPAM",)) == 5
