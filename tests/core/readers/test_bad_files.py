"""Every bad file gets one clear sentence: what is wrong, where, and what to do."""

import gzip
import io
import zipfile

import numpy as np
import pandas as pd
import pytest

from deem_core import InputError
from deem_core.readers import read


def workbook() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.xml", "<workbook/>")
    return buffer.getvalue()


def archive() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        packed.writestr("votes.csv", "a,b\n")
    return buffer.getvalue()


def parquet(**columns) -> bytes:
    buffer = io.BytesIO()
    pd.DataFrame(columns).to_parquet(buffer)
    return buffer.getvalue()


NOISE = np.random.default_rng(0).integers(1, 256, 5000, dtype=np.uint8).tobytes()

CASES = {
    "empty": (b"", r"is empty \(0 bytes\)"),
    "empty gzip": (gzip.compress(b""), "is empty: the gzip file holds no bytes"),
    "blank": (b"  \n\t\n \n", "is blank: it holds only white space"),
    "header only": (b"id,a,b\n", "has a header but no rows below it"),
    "binary junk": (NOISE, "is binary, not text"),
    "NUL bytes": (b"id,a,b\n1,x,y\n2,x,\0y\n", r"holds NUL bytes \(first on line 3\)"),
    "Excel named csv": (workbook(), "is damaged: it begins like a workbook"),
    "zip archive": (archive(), "is a zip archive. Unpack it"),
    "old Excel": (b"\xd0\xcf\x11\xe0" + bytes(100), "Office file, not a table. Open it and save it as .xlsx"),
    "PDF": (b"%PDF-1.7\n", "is a PDF document"),
    "web page": (b"\n<!DOCTYPE html><html></html>", "is a web page or XML"),
    "JSON that breaks": (b'{"a": "x", "b": "y"}\n{"a": "x" "b": "y"}\n', r"Line 2 of .* is not valid JSON"),
    "JSON of lists": (b'{"a": "x"}\n["x", "y"]\n', "Line 2 of .* is a list, not an object"),
    "JSON with a field twice": (b'{"a": "x", "a": "y"}\n{"a": "x"}\n', "Line 1 of .* has 'a' twice"),
    "JSON without records": (b"[]", "is an empty list"),
    "JSON without fields": (b"{}\n{}\n", "no field that can be read"),
    "JSON nested without end": (b'{"a":' * 100_000, "nested too deeply"),
    "JSON lists nested without end": (b"[[" * 100_000, "nested too deeply"),
    "JSON with a single learner": (b'[{"a": "x"}, {"a": "y"}]', "has a single learner, 'a'"),
    "damaged gzip": (gzip.compress(b"a,b\nx,y\n" * 99)[:30] + b"junk", "damaged gzip"),
    "cut gzip": (gzip.compress(NOISE)[:500], "ends too early"),
    "damaged Parquet": (parquet(a=["x", "y"], b=["y", "x"])[:60], "is a damaged Parquet file"),
    "ragged rows, too few": (b"id,a,b\n1,x,y\n2,x\n", "Line 3 of .* has 2 cells but the header has 3"),
    "ragged rows, too many": (b"id,a,b\n1,x,y\n2,x,y,z\n", "Line 3 of .* has 4 cells but the header has 3"),
    "ragged after a quoted newline": (b'id,a,b\n"1\n1",x,y\n2,x\n', "Line 4 of .* has 2 cells"),
    "open quote": (b'id,a,b\n1,x,y\n2,"x,y\n3,x,y\n', "quoted cell that begins on line 3 of .* is never closed"),
    "duplicate names": (b"id,a, a\n1,x,y\n", r"two columns named 'a' \(columns 2 and 3\)"),
    "no header": (b"1,1,2\n1,2,2\n", "two columns named '1' .* Is the header line missing"),
    "no header over labels": (b"q0,dog,cat,dog,dog\nq1,dog,cat,cat,dog\n", "named 'dog' .* Is the header line missing"),
    "one column": (b"votes\nx\ny\n", "separated by comma, tab, semicolon or pipe"),
    "single learner": (b"id,a,label\n1,x,x\n2,y,y\n", "has a single learner, 'a'; fusing needs at least two"),
    "single learner beside text": (b"a,comment\nx,fine\ny,bad\nx,so so\n", "No learner column is left"),
    "no learner": (b"id,label\n1,x\n2,y\n", "No learner column is left"),
    "nothing overlaps": (b"id,age,name\n1,20,Bo\n2,30,Al\n", "No learner column is left .*'age' was left out"),
    "one class": (b"a,b,c\nx,x,x\nx,x,\n", "use one class only, 'x'"),
    "every vote missing": (b"a,b\nNA,?\n,-\n", "Every vote in .* is missing: columns 'a', 'b'"),
    "more classes than rows": (b"a,b,c\n1,2,1\n3,4,2\n", r"more classes \(4\) than rows \(2\): column '.' alone has"),
    "soft below zero": (b"m:a,m:b,n:a,n:b\n.2,.8,-.1,1\n", "'n:a' holds '-.1' in row 1, which is not between 0 and 1"),
    "soft above one": (b"m:a,m:b,n:a,n:b\n.2,.8,0,1\n.2,.8,0,1.5\n", "'n:b' holds '1.5' in row 2"),
    "soft not finite": (b"m:a,m:b,n:a,n:b\n.2,.8,inf,1\n", "'n:a' holds 'inf' in row 1, which is not a finite"),
    "soft not a number": (b"m:a,m:b,n:a,n:b\n.2,.8,x,1\n", "'n:a' holds 'x' in row 1, which is not a probability"),
    "soft class twice": (b"m:1,m:1.0,n:1,n:2\n.2,.8,.5,.5\n", "two columns for one class"),
    "a single learner both soft and plain": (b"m:a,m:b,m\n.2,.8,a\n.1,.9,b\n", "has a single learner, 'm'"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_bad_file_gets_one_clear_sentence(case):
    content, sentence = CASES[case]
    with pytest.raises(InputError, match=sentence) as caught:
        read(content)
    assert "\n" not in str(caught.value)
    assert "Traceback" not in str(caught.value)


def test_the_file_is_named_in_the_sentence(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_bytes(b"")
    with pytest.raises(InputError, match=r"^answers\.csv is empty"):
        read(path)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(InputError, match="There is no file"):
        read(tmp_path / "nothing.csv")
    with pytest.raises(InputError, match="is a folder"):
        read(tmp_path)


def test_what_cannot_be_read_at_all_is_refused():
    with pytest.raises(InputError, match="Cannot read from int"):
        read(42)


def test_too_many_classes_are_refused_by_naming_the_widest_column():
    rows = "\n".join(f"x{at % 5500},x{at % 5400},x{at % 5300}" for at in range(6000))
    with pytest.raises(InputError, match=r"5,500 different labels, more than the 5,000 .*column 'a' alone has 5,500"):
        read(f"a,b,c\n{rows}\n".encode())


def test_a_forced_column_with_endless_values_is_refused():
    rows = "\n".join(f"t{at},{at % 2},{at % 2}" for at in range(21_000))
    with pytest.raises(InputError, match="Column 'a' holds 21,000 different values"):
        read(f"a,b,c\n{rows}\n".encode(), learners=["a", "b", "c"])


GOOD = b"id,a,b,label\n1,x,y,x\n2,y,y,y\n3,x,x,x\n"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"truth": "gold"}, "no truth column 'gold' in the file; its columns are 'id', 'a', 'b', 'label'"),
        ({"id": "key"}, "no id column 'key'"),
        ({"learners": ["a", "c"]}, "no learner column 'c'"),
        ({"learners": ["a"]}, "a single learner, 'a'"),
        ({"ignore": ["a"]}, "a single learner, 'b'"),
        ({"truth": "a", "learners": ["a", "b"]}, "cannot be both the truth and a learner"),
        ({"truth": "id", "id": "id"}, "cannot be both the id and the truth"),
        ({"layout": "soft"}, "needs at least two columns named <learner>:<class>"),
        ({"layout": "long"}, "needs columns for task, worker and label"),
        ({"layout": "square"}, "There is no layout 'square'"),
        ({"truth_file": b"task,truth\n1,x\n"}, "The truth was given twice"),
    ],
)
def test_impossible_requests_are_refused(options, sentence):
    with pytest.raises(InputError, match=sentence):
        read(GOOD, **options)


LONG = b"task,worker,label\n1,w,a\n1,v,b\n2,w,a\n2,v,a\n"


@pytest.mark.parametrize(
    ("truth_file", "sentence"),
    [
        (b"", "is empty"),
        (b"task\n1\n", "needs two columns"),
        (b"task,truth\n7,a\n", "None of the tasks .* is among the tasks of the votes"),
        (b"task,truth\n1,a\n2,a\n1,b\n", "two different true labels for the task '1'"),
    ],
)
def test_bad_truth_files_are_refused(truth_file, sentence):
    with pytest.raises(InputError, match=sentence):
        read(LONG, truth_file=truth_file)


def test_long_files_with_one_worker_or_contradicting_truth_are_refused():
    with pytest.raises(InputError, match="a single learner, 'w'"):
        read(b"task,worker,label\n1,w,a\n2,w,b\n")
    with pytest.raises(InputError, match="two different labels for the task in row 1 "):
        read(b"task,worker,label,truth\n1,w,a,a\n1,v,b,b\n2,w,a,a\n")
    with pytest.raises(InputError, match=r"more classes \(3\) than tasks \(1\)"):
        read(b"task,worker,label\n1,w,a\n1,v,b\n1,u,c\n")
    with pytest.raises(InputError, match="no worker 'z'"):
        read(LONG, learners=["w", "z"])
