"""A file read in parts holds the votes of the same file read whole."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deem_core.errors import InputError
from deem_core.readers import read
from deem_core.readers.digest import Tally
from deem_core.readers.large import WholeOnlyError, open_large
from deem_core.votes.labels import MAX_SPELLINGS
from tests.core.test_samples import FOLDER

MESSY = (
    'id;ann;bob;"c;d";note;label\n'
    '1; cat ;dog;cat;"a ""word"", and\nmore";cat\n'
    "2;dog;;1.0;x;dog\n"
    "\n"
    "3;NA;dog;cat;y;bird\n"
    "4;cat;?;dog;=1+1;\n"
    "5;;;-;z;cat\n"
    "6;dog;cat;dog;w;dog\n"
)


def same(path, rows=3, **options):
    """Read a file both ways; return both."""
    whole, large = read(path, **options), open_large(path, **options)
    parts = list(large.parts(rows))
    votes = whole.votes
    assert np.array_equal(np.concatenate([part.votes.codes for part in parts]), votes.codes)
    assert large.classes.tolist() == votes.classes.tolist()
    assert large.learners == votes.learners
    assert large.report.roles == whole.report.roles
    assert pa.concat_tables([part.source.table for part in parts]).to_pydict() == whole.source.table.to_pydict()
    if votes.truth is not None:
        assert np.array_equal(np.concatenate([part.votes.truth for part in parts]), votes.truth)
        assert large.truth_only.tolist() == votes.truth_only.tolist()
    return whole, large


def written(tmp_path, content, name="votes.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("name", ["experts_wide.csv", "moderation_missing.csv", "rules_abstain.csv"])
def test_samples_are_the_same_in_parts(name):
    whole, large = same(FOLDER / name, rows=700)
    assert set(large.report.sentences()) <= set(whole.report.sentences())


def test_a_messy_file_is_the_same_in_parts(tmp_path):
    whole, large = same(written(tmp_path, MESSY))
    told = set(whole.report.sentences()) - set(large.report.sentences())
    assert {text.split()[0] for text in told} == {"Skipped", "1"}  # a blank line, and a row without votes
    assert large.digest.special == {'"', "\n", ","}


def test_lines_of_spaces_are_skipped(tmp_path):
    same(written(tmp_path, "id,a,b\n1,x,y\n   \n2,y,y\n"))


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"\xef\xbb\xbfid,a,b\n1,x,y\n2,y,y\n", "bom.csv"),
        (b"\n\nid,a,b\n1,x,y\n2,y,y\n", "blank.csv"),
        (b"sep=;\nid;a;b\n1;x;y\n2;y;y\n", "excel.csv"),
        ("id,a,b\n1,x,ä\n2,ä,x\n".encode("utf-16"), "wide.csv"),
        ("id,a,b\n1,x,ä\n2,ä,x\n".encode("cp1252"), "latin.csv"),
        (gzip.compress(b"id,a,b\n1,x,y\n2,y,y\n", mtime=0), "packed.csv.gz"),
        (b"id,a,b,label\n1,0,-1,0\n2,1,1,7\n3,-1,0,1\n", "minus.csv"),
        (b"id\ta\tb\r\n1\tx\ty\r\n2\ty\ty\r\n", "crlf.tsv"),
    ],
)
def test_encodings_and_formats_are_the_same_in_parts(tmp_path, content, name):
    same(written(tmp_path, content, name), rows=1)


def test_parquet_is_the_same_in_parts(tmp_path):
    path = tmp_path / "votes.parquet"
    table = pa.table(
        {
            " id ": pa.array([7, 8, 9, 10]),
            "a": pa.array([1, None, 2, 1]),
            "b": pa.array([1.0, 2.0, None, 1.0]),
            "c": pa.array(["1", "2", "2", ""]).dictionary_encode(),
            "lists": pa.array([[1], [2], [3], [4]]),
        }
    )
    pq.write_table(table, path, row_group_size=2)
    same(path)


def test_a_parquet_column_of_bytes_is_left_out_in_parts_too(tmp_path):
    path = tmp_path / "votes.parquet"
    images = pa.array([b"\xff\xfe\x00", b"\x00\x01", b"\x89PNG\x00"])
    pq.write_table(
        pa.table({"a": ["x", "y", "x"], "b": ["x", "y", "y"], "image": images, "c": [b"x", b"y", b"x"]}), path
    )
    whole, large = same(path, rows=2)
    assert large.learners == ("a", "b", "c")
    assert large.report.sentences("left out") == whole.report.sentences("left out")


def test_known_classes_and_named_columns_are_respected(tmp_path):
    path = written(tmp_path, "k,a,b,c,t\n1,x,y,q,x\n2,x,x,q,y\n")
    same(path, id="k", truth="t", ignore=["c"])
    same(path, learners=["a", "b"])
    same(path, classes=["x", "y", "z"], truth="t")


def test_other_layouts_are_read_whole_only(tmp_path):
    long = written(tmp_path, "task,worker,label\n1,ann,x\n1,bob,y\n2,ann,x\n2,bob,x\n", "long.csv")
    soft = written(tmp_path, "a:x,a:y,b:x,b:y\n0.1,0.9,0.5,0.5\n0.3,0.7,0.2,0.8\n", "soft.csv")
    for path, what in ((long, "long"), (soft, "soft")):
        with pytest.raises(WholeOnlyError, match=rf"\({what}\), which is read whole"):
            open_large(path)
    with pytest.raises(WholeOnlyError, match="truth file"):
        open_large(long, truth_file=soft)


def test_a_row_of_another_width_is_named(tmp_path):
    rows = "".join(f"{at},x,y\n" for at in range(50_000))
    path = written(tmp_path, f"id,a,b\n{rows}1,2,3,4\n5,x,y\n")
    with pytest.raises(InputError, match=r"Line 50,002 of votes\.csv has 4 cells but the header has 3"):
        open_large(path)


def test_bytes_that_are_no_utf8_far_down_are_refused_with_advice(tmp_path):
    rows = b"".join(b"%d,x,y\n" % at for at in range(200_000))
    path = written(tmp_path, b"id,a,b\n" + rows + b"1,\xe4,x\n")
    with pytest.raises(InputError, match="--encoding cp1252"):
        open_large(path)
    assert open_large(path, encoding="cp1252").classes.tolist() == ["x", "y", "ä"]


def test_an_open_quote_is_refused(tmp_path):
    path = written(tmp_path, 'id,a,b\n1,"x,y\n' + "2,x,y\n" * 900_000)
    with pytest.raises(InputError, match=r"that begins on line 2 of votes\.csv is never closed"):
        open_large(path)


def test_a_file_that_changes_while_it_is_read_is_noticed(tmp_path):
    path = written(tmp_path, "id,a,b\n1,x,y\n2,y,y\n")
    large = open_large(path)
    path.write_text("id,a,b\n1,x,y\n2,y,z\n")
    with pytest.raises(InputError, match="was changed while it was read"):
        list(large.parts())
    path.write_text("id,a,b\n1,x,y\n")
    with pytest.raises(InputError, match="was changed while it was read"):
        list(large.parts())


def test_a_file_without_rows_is_refused(tmp_path):
    with pytest.raises(InputError, match="no rows below it"):
        open_large(written(tmp_path, "id,a,b\n"))


def test_a_column_of_many_values_is_counted_no_further():
    tally = Tally()
    tally.add(pa.chunked_array([[str(at) for at in range(MAX_SPELLINGS + 1)]]))
    assert tally.counts is None
    assert not tally.repeats
    tally.add(pa.chunked_array([["a;b"]]))
    assert tally.special == {";"}


def test_a_text_column_is_left_out_with_its_variety(tmp_path):
    rows = "".join(f"{at},text {at},x,{'xy'[at % 2]}\n" for at in range(MAX_SPELLINGS + 5))
    _, large = same(written(tmp_path, f"id,note,a,b\n{rows}"), rows=9_999)
    assert any("more than 20,000 different values are not labels" in text for text in large.report.sentences())
