"""The extract of a large file stands for all its rows."""

import numpy as np
import pytest

from deem_core import describe, simulate
from deem_core.errors import InputError
from deem_core.files import tables
from deem_core.large.extract import MOST_CELLS, make_extract
from deem_core.large.patterns import Found, Patterns
from deem_core.readers.large import open_large
from deem_core.votes import Votes
from deem_core.votes.arrays import distinct_rows
from deem_core.votes.describe import FactsTally
from tests.engines import Carrying, backwards


def test_patterns_gathered_in_parts_are_the_distinct_rows(monkeypatch):
    monkeypatch.setattr("deem_core.large.patterns._LEAST_MERGED", 10)
    codes = simulate("tree", 2_000, 0, 6, 3, missing=0.3).votes.codes
    patterns = Patterns(6, 3, MOST_CELLS)
    for start in range(0, 2_000, 170):
        patterns.add(Found.of(codes[start : start + 170], 3))
    found, whole = patterns.table(), distinct_rows(codes[(codes >= 0).any(axis=1)])
    assert np.array_equal(found.codes, whole.codes)
    assert np.array_equal(found.counts, whole.counts)


def test_too_many_patterns_are_given_up():
    codes = simulate("condind", 500, 0, 8, 5).votes.codes
    patterns = Patterns(8, 5, most_cells=800)
    patterns.add(Found.of(codes, 5))
    assert patterns.table() is None


def test_many_classes_keep_their_codes():
    codes = np.array([[0, 4_000], [299, -1], [0, 4_000]], np.int32)
    patterns = Patterns(2, 4_001, MOST_CELLS)
    patterns.add(Found.of(codes, 4_001))
    assert patterns.table().codes.tolist() == [[0, 4_000], [299, -1]]


def test_facts_in_parts_are_those_of_all_rows():
    votes = simulate("crowd", 600, 0, missing=0.4).votes
    twin = Votes(np.repeat(votes.codes[:, :1], 2, axis=1), votes.classes, ("a", "b"))
    for table in (votes, twin):
        tally = FactsTally(table.learners, table.n_classes)
        for start in range(0, 600, 70):
            tally.add(table.select_rows(slice(start, start + 70)))
        found, whole = tally.facts().to_dict(), describe(table).to_dict()
        if votes is table:
            assert found.pop("majority_accuracy") == pytest.approx(whole.pop("majority_accuracy"))  # thirds add up
        assert str(found) == str(whole)
    assert tally.facts().identical_learners == (("a", "b"),)


def test_the_sample_is_evenly_drawn_and_says_so(tmp_path):
    votes = simulate("tree", 3_000, 0, 6, 3).votes
    path = tmp_path / "votes.csv"
    tables.write(tables.wide_table(votes), path)
    large = open_large(path)
    some, whole = make_extract(large, 301), make_extract(large)
    rows = np.arange(301) * 2_999 // 300
    assert np.array_equal(some.sample.codes, votes.codes[rows])
    assert np.array_equal(some.sample.truth, votes.truth[rows])
    assert some.sample_words == "301 of 3,000 rows, evenly drawn"
    assert some.complete
    assert some.table.n_rows == 3_000
    assert whole.whole
    assert whole.sample_words == "all 3,000 rows"


def same(one, other):
    """Whether two extracts hold the same, in the same order."""
    return (
        str(one.facts) == str(other.facts)
        and np.array_equal(one.sample.codes, other.sample.codes)
        and np.array_equal(one.sample.truth, other.sample.truth)
        and np.array_equal(one.table.codes, other.table.codes)
        and np.array_equal(one.table.counts, other.table.counts)
        and one.complete == other.complete
    )


@pytest.mark.parametrize("cells", [MOST_CELLS, 2_000])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_parts_counted_elsewhere_add_up_to_the_same(tmp_path, monkeypatch, cells, ending):
    monkeypatch.setattr("deem_core.large.extract.PART_ROWS", 400)
    monkeypatch.setattr("deem_core.large.extract.MOST_CELLS", cells)
    monkeypatch.setattr("deem_core.large.patterns._LEAST_MERGED", 100)
    path = tmp_path / f"votes.{ending}"
    votes = simulate("tree", 3_000, 0, 6, 3, missing=0.3).votes
    tables.write(tables.wide_table(votes), path)
    large = open_large(path)
    here = make_extract(large, 301)
    assert np.array_equal(here.sample.codes, votes.codes[here.rows])
    assert here.complete == (cells == MOST_CELLS)
    assert same(make_extract(large, 301, on=Carrying(backwards)), here)
    assert same(make_extract(large, 301, keep=tmp_path / "kept", on=Carrying()), here)
    assert str(here.facts) == str(whole_facts(large))


def whole_facts(large):
    tally = FactsTally(large.learners, len(large.classes))
    for part in large.parts(400):
        tally.add(part.votes)
    return tally.facts()


def test_a_file_that_lost_rows_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("deem_core.large.extract.PART_ROWS", 400)
    path = tmp_path / "votes.csv"
    tables.write(tables.wide_table(simulate("tree", 1_000, 0, 6, 3).votes), path)
    large = open_large(path)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:700]))
    with pytest.raises(InputError, match="was changed while it was read"):
        make_extract(large)
