"""Files are read in parts by their size, on any machine."""

import pytest

from deem_core import simulate
from deem_core.files import tables
from deem_core.large import memory


@pytest.mark.parametrize("name", ["votes.csv", "votes.csv.gz", "votes.parquet"])
def test_a_file_beyond_the_limit_is_read_in_parts(tmp_path, monkeypatch, name):
    path = tmp_path / name
    tables.write(tables.wide_table(simulate("tree", 20_000, 0, 6, 3).votes), path)
    cells = 20_000 * 8
    assert not memory.needs_parts(path)
    estimate = memory.cells(memory.open_stream(path))
    assert estimate == cells if name.endswith("parquet") else cells / 3 < estimate < 3 * cells
    monkeypatch.setattr(memory, "MOST_BYTES", memory.BYTES_PER_CELL * cells / 4)
    assert memory.needs_parts(path)


def test_little_free_memory_counts_too(tmp_path, monkeypatch):
    path = tmp_path / "votes.csv"
    path.write_text("a,b\n" + "x,y\n" * 10_000)
    monkeypatch.setattr(memory, "free_memory", lambda: 1_000_000)
    assert memory.needs_parts(path)


def test_a_file_that_is_not_there_is_left_to_the_reader(tmp_path):
    assert not memory.needs_parts(tmp_path / "none.csv")
    assert not memory.needs_parts(tmp_path)
