"""What the reader finds by itself can also be told: delimiter, encoding, and the columns of a long file."""

import pytest

from deem_core.errors import InputError
from deem_core.readers import read

WIDE = b"a;b;c\n1,x;2,x;1,x\n2,x;2,x;1,x\n"
LONG = b"what,who,says\np,ann,cat\np,bob,dog\nq,ann,dog\nq,bob,dog\nq,cy,cat\np,cy,cat\n"


@pytest.mark.parametrize("delimiter", [";", "semicolon"])
def test_the_delimiter_can_be_told(delimiter):
    reading = read(WIDE, delimiter=delimiter)
    assert reading.votes.learners == ("a", "b", "c")
    assert reading.report.delimiter == ";"
    assert sorted(reading.votes.classes) == ["1,x", "2,x"]


def test_an_unknown_delimiter_is_refused():
    with pytest.raises(InputError, match="comma, tab, semicolon, pipe"):
        read(WIDE, delimiter="slash")


def test_the_encoding_can_be_told():
    data = "a,b,c\né,é,u\nu,u,é\n".encode("cp850")
    assert "é" in read(data, encoding="cp850").votes.classes
    assert "é" not in read(data).votes.classes


@pytest.mark.parametrize(
    ("encoding", "sentence"),
    [("klingon", "no encoding 'klingon'"), ("utf-8", "is not utf-8 text .line 2."), ("hex", "no encoding|is not hex")],
)
def test_an_encoding_that_does_not_fit_is_refused(encoding, sentence):
    with pytest.raises(InputError, match=sentence):
        read("a,b,c\né,é,u\nu,u,é\n".encode("latin-1"), encoding=encoding)


def test_a_byte_order_mark_is_not_part_of_the_first_name():
    assert read("\ufeffa,b,c\n1,2,1\n2,2,1\n".encode(), encoding="utf-8").votes.learners == ("a", "b", "c")


def test_the_columns_of_a_long_file_can_be_told():
    votes = read(LONG, id="what", worker="who", label="says").votes
    assert votes.learners == ("ann", "bob", "cy")
    assert votes.n_rows == 2
    assert list(votes.classes) == ["cat", "dog"]


def test_naming_a_worker_says_that_the_file_is_long():
    data = b"task,model,label\n1,a,x\n1,b,y\n2,a,y\n2,b,y\n1,c,x\n2,c,x\n"
    assert read(data, worker="model").report.layout == "long"
    with pytest.raises(InputError, match="belongs to a long file"):
        read(data, worker="model", layout="wide")


def test_one_column_cannot_play_two_roles():
    with pytest.raises(InputError, match="both the worker and the label"):
        read(LONG, id="what", worker="says", label="says")
    with pytest.raises(InputError, match="no worker column 'whom'"):
        read(LONG, worker="whom")
