"""Rows of a file are the same wherever they are read, and whoever works on them."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deem_core import simulate
from deem_core.control import NO_CONTROL, StopWhen
from deem_core.engine import Local
from deem_core.engine.sight import Sight
from deem_core.files import tables
from deem_core.readers import digest as digesting
from deem_core.readers.digest import Tally, digest
from deem_core.readers.shares import Share, in_order, run_shares, spans, waste
from deem_core.readers.stream import open_stream
from tests.engines import Carrying, backwards

N = 1_000


@pytest.fixture(params=["csv", "parquet"])
def stream(request, tmp_path):
    path = tmp_path / f"votes.{request.param}"
    table = tables.wide_table(simulate("ampdata", N, 3, missing=0.1, labels=["cat", "a;b", "c,d", "e", "f"]).votes)
    if request.param == "csv":
        tables.write(table, path)
    else:
        pq.write_table(table, path, row_group_size=170)
    return open_stream(path)


def taking(stream, share, control):
    """Give back the rows of a share, and whether they came along."""
    yield from ()
    rows = share.rows(stream)
    return None if rows is None else (rows, share.table is not None, share.more)


def shared_out(stream, engine, **options):
    found = run_shares(stream, engine, taking, stream, 128, control=NO_CONTROL, **options)
    return list(found)


def cells(found):
    return pa.concat_tables([rows for _, (rows, _, _) in found]).combine_chunks().to_pydict()


def test_all_rows_come_in_their_shares(stream):
    here = shared_out(stream, Local())
    assert [share.at for share, _ in here] == list(range(8))
    assert [(share.start, share.stop) for share, _ in here][-1] == (896, N)
    there = list(in_order(shared_out(stream, Carrying(backwards))))
    assert [share.at for share, _ in there] == list(range(8))
    assert all(rows.num_rows == share.stop - share.start for share, (rows, _, _) in there)
    assert cells(there) == cells(here)


def test_only_parquet_is_read_where_it_is_worked_on(stream):
    came_along = {came for _, (_, came, _) in shared_out(stream, Carrying())}
    assert came_along == {stream.delimiter is not None}


def test_rows_travel_to_machines_that_do_not_see_the_file(stream, monkeypatch):
    here = shared_out(stream, Local())
    monkeypatch.setattr("deem_core.engine.sight.Sight.clear", property(lambda self: False))
    there = shared_out(stream, Carrying())
    assert all(came for _, (_, came, _) in there)
    assert cells(in_order(there)) == cells(here)


def test_a_path_from_here_is_that_file_everywhere(stream, tmp_path, monkeypatch):
    """Machines work in folders of their own, where another file may have the same name."""
    here = shared_out(stream, Local())
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / stream.name).write_text("other votes")
    monkeypatch.chdir(tmp_path)

    def leave(pieces):
        monkeypatch.chdir(elsewhere)
        return pieces

    there = shared_out(replace(stream, path=Path(stream.name)), Carrying(leave))
    assert cells(there) == cells(here)


def test_a_file_that_was_written_again_is_another_one(stream):
    share = Share(0, 0, 10, sight=Sight.of(stream.path))
    if stream.delimiter is None:
        assert share.rows(stream).num_rows == 10
    stream.path.touch()
    assert share.rows(stream) is None


def test_shares_that_are_done_are_left_out(stream):
    here = {share.at: rows for share, (rows, _, _) in shared_out(stream, Local())}
    for engine in (Local(), Carrying()):
        found = shared_out(stream, engine, done={0, 3, 7}, more=lambda start, stop: stop)
        assert [share.at for share, _ in found] == [1, 2, 4, 5, 6]
        assert all(rows.to_pydict() == here[share.at].to_pydict() for share, (rows, _, _) in found)
        assert [more for _, (_, _, more) in found] == [share.stop for share, _ in found]


def test_nothing_more_is_begun_once_it_is_to_stop(stream):
    asked = iter(range(3))
    control = StopWhen(lambda: next(asked, 3) == 3)
    assert len(list(run_shares(stream, Carrying(), taking, stream, 128, control=control))) < 8


def test_shares_before_which_too_much_would_be_unpacked_are_read_here(tmp_path):
    assert waste([100, 100], 100) == 1.0
    assert waste([200], 100) == 1.5
    assert waste([0, 250, 50], 100) == (100 + 200 + 300) / 300
    path = tmp_path / "votes.parquet"
    pq.write_table(tables.wide_table(simulate("ampdata", N, 3).votes), path)  # one row group
    engine = Carrying()
    found = list(run_shares(open_stream(path), engine, taking, open_stream(path), 25, control=NO_CONTROL))
    assert all(came for _, (_, came, _) in found)


@pytest.mark.parametrize("engine", [Carrying(), Carrying(backwards)])
def test_cells_are_counted_the_same_on_other_machines(stream, engine, monkeypatch):
    monkeypatch.setattr(digesting, "BATCH_ROWS", 90)
    monkeypatch.setattr(digesting, "MAX_SPELLINGS", 400)  # fewer than there are ids
    here, there = digest(stream), digest(stream, on=engine)
    assert there.rows == here.rows == N
    for name, tally in here.tallies.items():
        other = there.tallies[name]
        assert (other.counts, other.repeats, other.special) == (tally.counts, tally.repeats, tally.special)
        assert list(other.counts or ()) == list(tally.counts or ())  # in order of first appearance
    assert here.tallies["id"].counts is None
    assert here.special == {";", ","}


def test_tallies_of_batches_add_up_to_that_of_all(monkeypatch):
    monkeypatch.setattr(digesting, "MAX_SPELLINGS", 3)
    batches = [["a", "b"], ["b", "c,"], ["d", "e"], ["f", "f"], ["g;", "h"]]
    one_by_one, added = Tally(), Tally()
    for batch in batches:
        column = pa.chunked_array([batch])
        one_by_one.add(column)
        own = Tally()
        own.add(column)
        added.merge(own)
        assert added == one_by_one
    assert added.counts is None
    assert not added.repeats  # the double came after it was given up
    assert [share.stop for share in spans(5, 2)] == [2, 4, 5]
