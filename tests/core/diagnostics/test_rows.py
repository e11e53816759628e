"""Row filters: which rows conditions mean, and that they survive an address."""

import numpy as np
import pyarrow as pa
import pytest

from deem_core import InputError, Votes
from deem_core.diagnostics.rows import (
    FUSED,
    MAJORITY,
    TRUTH,
    Between,
    Column,
    Contains,
    Flag,
    Is,
    Pair,
    RowFilter,
    RowTable,
    ordered,
)

ANN, BOB = Column("vote", "ann"), Column("vote", "b&b |é.x")


@pytest.fixture
def table():
    """Six rows: unanimous and overruled, a tie, a missing vote, unanimous, silent, all different."""
    votes = Votes(
        codes=np.array([[0, 0, 0], [0, 1, -1], [1, -1, 1], [2, 2, 2], [-1, -1, -1], [0, 1, 2]], np.int32),
        classes=np.array(["cat", "dog", "owl"], object),
        learners=("ann", "b&b |é.x", "cy"),
        truth=np.array([0, 1, 1, 3, 2, -1], np.int32),
        truth_only=np.array(["emu"], object),
    )
    return RowTable(
        votes,
        fused=np.array([1, 1, 1, 2, -1, 0], np.int32),
        settled=np.array([0, 1, 1, 2, -1, 0], np.int32),
        confidence=np.array([0.6, 0.5, 0.9, 0.99, np.nan, 0.5], np.float32),
        needs_review=np.array([True, False, False, False, True, True]),
        methods={"ds": np.array([0, 1, 1, 2, -1, 0], np.int32)},
        texts=(pa.chunked_array([["A red cat", None], ["100% sure", "", "Über", "x"]]),),
    )


@pytest.mark.parametrize(
    ("conditions", "rows"),
    [
        ((), [0, 1, 2, 3, 4, 5]),
        ((Is(FUSED, "dog"),), [0, 1, 2]),
        ((Is(FUSED),), [0, 1, 2, 3, 5]),
        ((Is(MAJORITY, "cat"), Is(FUSED, "dog")), [0]),
        ((Is(ANN, "cat"),), [0, 1, 5]),
        ((Is(BOB),), [0, 1, 3, 5]),
        ((Is(TRUTH, "emu"),), [3]),
        ((Is(Column("label", "ds"), "cat"),), [0, 5]),
        ((Pair(ANN, BOB),), [1, 5]),  # a missing vote is no disagreement
        ((Pair(ANN, BOB, same=True),), [0, 3]),
        ((Pair(FUSED, MAJORITY),), [0]),
        ((Pair(FUSED, TRUTH),), [0, 3]),  # neither where the truth is unknown nor without a label
        ((Pair(FUSED, Column("label", "ds")),), [0]),
        ((Flag("overruled"),), [0]),
        ((Flag("tied"),), [1, 5]),
        ((Flag("review"),), [0, 4, 5]),
        ((Flag("silent"),), [4]),
        ((Flag("gold"),), []),
        ((Between(0.5, 0.9),), [0, 1, 2, 5]),
        ((Between(0.0, 1.0),), [0, 1, 2, 3, 5]),
        ((Contains("CAT"),), [0]),
        ((Contains("100%"),), [2]),
        ((Contains("ü"),), [4]),
        ((Contains("6"),), [5]),  # the number of a row without an id
    ],
)
def test_conditions_mean_these_rows(table, conditions, rows):
    assert np.flatnonzero(RowFilter(conditions).mask(table)).tolist() == rows


def test_a_filter_survives_its_address():
    wanted = RowFilter(
        (
            Is(FUSED, "a&b=c;d"),
            Is(BOB, "= é|"),
            Is(ANN),
            Pair(BOB, Column("label", "ds"), same=True),
            Pair(FUSED, MAJORITY),
            Flag("tied"),
            Between(0.25, 0.5),
            Contains("50 % & more|"),
        )
    )
    assert RowFilter.of(wanted.text) == wanted
    assert RowFilter.of("") == RowFilter()


@pytest.mark.parametrize(
    "text", ["nonsense=1", "vote=1", "fused.x=1", "only=everything", "confidence=low", "confidence=nan..1", "same=ann"]
)
def test_a_broken_address_is_told_in_a_sentence(text):
    with pytest.raises(InputError, match="link"):
        RowFilter.of(text)


@pytest.mark.parametrize(
    ("condition", "sentence"),
    [
        (Is(FUSED, "cow"), "no class 'cow'"),
        (Is(Column("vote", "eve"), "cat"), "no learner 'eve'"),
        (Is(Column("label", "mv"), "cat"), "comparison"),
    ],
)
def test_what_is_not_there_is_told_in_a_sentence(table, condition, sentence):
    with pytest.raises(InputError, match=sentence):
        condition.mask(table)


def test_before_fusing_there_are_votes_and_their_majority_alone(table):
    bare = RowTable(table.votes.without_truth())
    assert np.flatnonzero(Is(MAJORITY, "cat").mask(bare)).tolist() == [0, 1, 5]
    for condition in (Is(FUSED, "cat"), Flag("review"), Flag("overruled"), Between(0, 1), Is(TRUTH, "cat")):
        with pytest.raises(InputError, match=r"Fuse the votes first|No true labels"):
            condition.mask(bare)
    with pytest.raises(InputError, match="Fuse"):
        ordered(bare, RowFilter().mask(bare), "least confident")


@pytest.mark.parametrize(
    ("order", "rows"),
    [
        ("row", [0, 1, 2, 3, 4, 5]),
        ("least confident", [1, 5, 0, 2, 3, 4]),
        ("most confident", [3, 2, 0, 1, 5, 4]),
        ("most disputed", [5, 1, 0, 2, 3, 4]),
    ],
)
def test_rows_without_votes_come_last_in_every_order_but_the_files(table, order, rows):
    assert ordered(table, RowFilter().mask(table), order).tolist() == rows


def test_gold_rows_are_never_overruled(table):
    votes = table.votes.with_gold(["dog", None, None, None, None, None])
    gold = RowTable(votes, table.fused, table.majority, table.confidence, table.needs_review)
    assert not Flag("overruled").mask(gold).any()
    assert np.flatnonzero(Flag("gold").mask(gold)).tolist() == [0]


def test_truth_is_known_to_be_asked_for():
    assert RowFilter((Pair(FUSED, TRUTH),)).asks_truth
    assert RowFilter((Is(TRUTH, "cat"),)).asks_truth
    assert not RowFilter((Is(FUSED, "cat"), Flag("tied"), Pair(FUSED, MAJORITY))).asks_truth


def test_conditions_are_said_in_words():
    said = [
        one.words
        for one in (
            Is(ANN, "cat"),
            Is(ANN),
            Is(FUSED, "cat"),
            Pair(FUSED, MAJORITY),
            Pair(FUSED, TRUTH),
            Pair(ANN, BOB),
        )
    ]
    assert said == [
        "ann says cat",
        "ann votes",
        "fused label cat",
        "fused label differs from majority vote",
        "fused label is wrong",
        "ann and b&b |é.x differ",
    ]


def test_conditions_are_added_once_and_taken_away():
    one = RowFilter().having(Flag("tied"), Is(FUSED, "cat"), Flag("tied"))
    assert len(one.conditions) == 2
    assert one.without(Flag("tied")) == RowFilter((Is(FUSED, "cat"),))
