import numpy as np

from deem_core.votes import NO_VOTE, Votes
from deem_core.votes.patterns import Table

CODES = np.array([[0, 1], [0, 1], [1, NO_VOTE], [NO_VOTE, NO_VOTE], [0, 1]], np.int32)


def rows_of(table):
    return sorted(zip(table.codes.tolist(), table.counts.tolist(), strict=True))


def test_a_table_holds_distinct_rows_with_their_counts():
    table = Table.of(CODES, 2)
    assert rows_of(table) == [([0, 1], 3), ([1, NO_VOTE], 1)]
    assert table.n_rows == 4
    assert table.n_learners == 2


def test_a_table_of_votes_has_the_order_of_their_distinct_rows():
    votes = Votes(CODES, np.arange(2), ("ann", "bob"))
    table = Table.of_votes(votes)
    assert table.codes[votes.distinct.of_row].tolist() == CODES.tolist()
    assert table.counts.tolist() == [3, 1, 0]  # nothing is learned from a row without votes
    assert rows_of(table.voted) == rows_of(Table.of(CODES, 2))


def test_some_learners_of_a_table_have_distinct_rows_of_their_own():
    codes = np.array([[0, 1, 0], [0, 1, 1], [1, 0, 1], [NO_VOTE, NO_VOTE, 1]], np.int32)
    assert rows_of(Table.of(codes, 2).select((0, 1))) == [([0, 1], 2), ([1, 0], 1)]


def test_counted_ballots_hold_the_counts_of_their_rows():
    table = Table(CODES[1:4], np.array([3.0, 1.0, 0.0]), 2)
    ballots = table.ballots()
    assert ballots.toarray().tolist() == [[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 0, 0]]
    assert table.counted(ballots).toarray().tolist() == [[3, 0, 0, 3], [0, 1, 0, 0], [0, 0, 0, 0]]
    assert table.ballots([1]).toarray().tolist() == [[0, 1], [0, 0], [0, 0]]
    once = Table(CODES[1:3], np.ones(2), 2)
    assert once.counted(ballots) is ballots
