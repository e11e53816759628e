"""Files that unpack to more than memory holds are refused before they are unpacked."""

import gzip
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deem_core import InputError
from deem_core.readers import bounds, decode, objects, parse, read, read_votes
from deem_core.readers.large import open_large

VOTES = b"id,a,b,c\n" + b"".join(b"%d,%s,x,y\n" % (i, b"xy"[i % 2 : i % 2 + 1]) for i in range(400))


@pytest.fixture
def small(monkeypatch):
    """Bounds as if a kilobyte were much; the memory of the machine counts as ever."""
    monkeypatch.setattr(bounds, "SMALL", 50_000)
    monkeypatch.setattr(bounds, "SMALL_UNPACKED", 10_000)
    monkeypatch.delenv(bounds.VARIABLE, raising=False)


def repeated(rows: int, columns: int = 3) -> bytes:
    """Parquet of equal rows, which takes a few hundred bytes."""
    sink = io.BytesIO()
    labels = pa.array(["x"] * rows).dictionary_encode()
    pq.write_table(pa.table({f"m{j}": labels for j in range(columns)}), sink)
    return sink.getvalue()


def says(file, *words, **options):
    """The sentence of a refused file, which holds some words and how to raise the bound."""
    with pytest.raises(InputError) as refused:
        read(file, **options)
    sentence = str(refused.value)
    assert all(word in sentence for word in words), sentence
    assert len(sentence) <= 500
    return sentence


class TestSmallFilesThatGrow:
    def test_gzip_is_refused_by_its_ratio_while_it_is_unpacked(self, small, monkeypatch):
        pieces = []
        monkeypatch.setattr(decode, "PIECE", 4096)
        monkeypatch.setattr(bounds.Packed, "check_unpacked", _noting(pieces, bounds.Packed.check_unpacked))
        assert "DEEM_FILE_GB" in says(gzip.compress(b"a,b,c\n" * 1_000_000), "gzip", "200 times")
        assert max(pieces) < 40_000  # of six million

    def test_a_table_as_gzip_is_read(self, small):
        assert read_votes(gzip.compress(VOTES)).n_rows == 400

    def test_rows_of_parquet_are_counted_before_they_are_read(self, small, monkeypatch):
        monkeypatch.setattr(pq.ParquetFile, "read", lambda *_, **__: pytest.fail("was read"))
        assert "DEEM_FILE_GB=" in says(repeated(500_000), "500,000 rows", "1,500,000 cells")

    def test_a_long_text_in_every_row_is_counted_before_it_is_written_out(self, small):
        texts = pa.DictionaryArray.from_arrays(pa.array(np.zeros(2_000, np.int32)), pa.array(["x" * 50_000]))
        sink = io.BytesIO()
        pq.write_table(pa.table({"id": pa.array(range(2_000)), "m": texts}), sink, compression="zstd")
        says(sink.getvalue(), "long texts", "200 MB")

    def test_files_in_parts_are_bounded_too(self, small, tmp_path, monkeypatch):
        packed, parquet = tmp_path / "votes.csv.gz", tmp_path / "votes.parquet"
        monkeypatch.setattr(decode, "BEGINNING", 1_000)
        packed.write_bytes(gzip.compress(b"a,b,c\n" * 1_000_000))
        parquet.write_bytes(repeated(500_000))
        for path in (packed, parquet):
            with pytest.raises(InputError, match="DEEM_FILE_GB"):
                open_large(path)

    def test_truth_gold_and_label_files_have_the_same_bounds(self, small, tmp_path):
        from deem_core.readers.label_file import read_labels

        bomb = tmp_path / "bomb.csv.gz"
        bomb.write_bytes(gzip.compress(b"id,label\n" + b"1,x\n" * 1_000_000))
        for second in ("truth_file", "gold_file"):
            says(VOTES, "gzip", **{second: bomb})
        with pytest.raises(InputError, match="200 times"):
            read_labels(bomb)

    def test_a_crowd_of_strangers_makes_no_huge_table(self, small, monkeypatch):
        answers = "task,worker,label\n" + "".join(f"t{i},w{i},{i % 2}\n" for i in range(3_000))
        monkeypatch.setattr(bounds, "MOST_GROWTH", 200)
        says(answers.encode(), "3,000 tasks × 3,000 workers")

    def test_sparse_records_are_counted_while_columns_grow(self, small, monkeypatch):
        monkeypatch.setattr(bounds, "MOST_GROWTH", 20)
        wide = json.dumps({f"m{j}": "x" for j in range(300)})
        says((wide + "\n" + "{}\n" * 20_000).encode(), "records", "300 fields")


def _noting(pieces, check):
    def noted(self, unpacked, consumed):
        pieces.append(unpacked)
        check(self, unpacked, consumed)

    return noted


class TestMemory:
    def test_little_memory_refuses_what_needs_more(self, small, monkeypatch):
        monkeypatch.setattr(bounds, "free_memory", lambda: 60_000)
        says(VOTES * 40, "holds", "memory", "80% of what is free", "DEEM_FILE_GB=")

    def test_the_variable_lifts_both_bounds(self, small, monkeypatch):
        monkeypatch.setenv(bounds.VARIABLE, "1")
        monkeypatch.setattr(bounds, "free_memory", lambda: 60_000)
        with pytest.raises(InputError, match="one class only"):  # it is read, and then is no table of votes
            read(repeated(100_000))

    def test_the_variable_bounds_too(self, small, monkeypatch):
        monkeypatch.setenv(bounds.VARIABLE, "0.0001")
        says(VOTES * 40, "DEEM_FILE_GB says")

    @pytest.mark.parametrize("text", ["much", "0", "-1", "nan", "inf"])
    def test_a_variable_that_is_no_number_is_told(self, monkeypatch, text):
        monkeypatch.setenv(bounds.VARIABLE, text)
        with pytest.raises(InputError, match="DEEM_FILE_GB is"):
            bounds.allowance()

    def test_a_container_may_have_less_memory_than_its_machine(self, tmp_path, monkeypatch):
        monkeypatch.setattr(bounds, "_CGROUP", tmp_path)
        machine = bounds.free_memory()
        (tmp_path / "memory.max").write_text("3000000\n")
        (tmp_path / "memory.current").write_text("1000000\n")
        (tmp_path / "memory.stat").write_text("anon 5\ninactive_file 400000\n")
        assert bounds.free_memory() == 2_400_000
        (tmp_path / "memory.max").write_text("max\n")
        assert bounds.free_memory() > min(machine, 10**8) / 2


class TestLongPieces:
    def test_a_cell_that_swallows_the_file_is_told_with_its_line(self, monkeypatch):
        monkeypatch.setattr(parse, "LONGEST_CELL", 1_000)
        says(b'id,a,b\n1,x,y\n2,"x,y\n' + b"3,x,y\n" * 1_000, "line 3", "quote")

    def test_a_long_record_is_not_parsed(self, monkeypatch):
        monkeypatch.setattr(objects, "LONGEST_RECORD", 1_000)
        says(b'{"id": "1", "a": "' + b"x" * 5_000 + b'"}\n{"id": "2", "a": "y"}\n', "longer than")
        says(b'[{"id": "1", "a": ["' + b"x" * 5_000 + b'"]}]', "longer than")

    @pytest.mark.parametrize("window", [120, 121, 127, 4096])
    def test_a_list_is_the_same_whatever_the_window(self, monkeypatch, window):
        records = [{"id": f"é{i}", "a": "xy"[i % 2], "b": "xy"[i % 3 % 2], "c": i % 2} for i in range(200)]
        text = json.dumps(records, ensure_ascii=False, indent=1).encode()
        whole = read(text)
        monkeypatch.setattr(objects, "LONGEST_RECORD", window)
        parts = read(text)
        assert parts.source.table.equals(whole.source.table)
        assert parts.votes.ids[199] == "é199"

    def test_what_is_wrong_behind_the_first_window_has_its_line(self, monkeypatch):
        monkeypatch.setattr(objects, "LONGEST_RECORD", 200)
        lines = ",\n".join(json.dumps({"id": i, "a": "x", "b": "y"}) for i in range(100)).split("\n")
        lines[70] = '{"id": 70, "a" "x"},'
        says(("[" + "\n".join(lines) + "]").encode(), "Line 71", "column 16")

    @pytest.mark.parametrize("end", ["", "] x", "]]", "}"])
    def test_a_list_without_an_end_is_told(self, end):
        says(b'[{"a": "x", "b": "y"},\n{"a": "y", "b": "y"}' + end.encode(), "not valid JSON")

    def test_other_fields_beside_the_records_are_told(self):
        says(b'{"data": [{"a": "x"}], "more": 1}', "other fields beside 'data'")
