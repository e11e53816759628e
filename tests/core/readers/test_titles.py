"""Lines of text above a table, as exports of tools and spreadsheets have them."""

import pytest

from deem_core import InputError
from deem_core.readers import parse, read

ROWS = "".join(f"q{row},{'cat' if row % 3 else 'dog'},dog,cat\n" for row in range(20))
TABLE = f"item_id,w1,w2,w3\n{ROWS}"


@pytest.mark.parametrize(
    ("above", "n_lines"),
    [
        ("Export of animals\n", 1),
        ("Export of animals\n\n", 2),
        ("Export, 2 March\nby Ann\n", 2),
        ("Export of animals,,,\n,,,\n", 2),  # as spreadsheets save them
        ('"A title\nof two lines"\n', 2),
    ],
)
def test_lines_above_the_table_are_skipped_and_said(above, n_lines):
    reading = read((above + TABLE).encode())
    assert reading.votes.learners == ("w1", "w2", "w3")
    assert reading.votes.n_rows == 20
    said = reading.report.sentences()
    assert f"Skipped {n_lines} line{'s' if n_lines > 1 else ''} above the table." in said
    assert not any("blank" in sentence for sentence in said)


def test_the_delimiter_is_found_below_a_title_that_has_another():
    reading = read(("Animals, all of them\n" + TABLE.replace(",", ";")).encode("utf-8-sig"))
    assert reading.votes.learners == ("w1", "w2", "w3")


@pytest.mark.parametrize(
    "table",
    [
        TABLE,
        "id,a,b,text\n1,x,y,hello\n" + "".join(f"{row},x,y,t;u{row}\n" for row in range(2, 20)),  # another delimiter
        "id,,,\n1,cat,dog,bird\n2,cat,bird,dog\n3,bird,dog,cat\n",  # a header with one name
        "a,b,c\nx,y,x\ny,y,x\n",
    ],
)
def test_what_is_no_title_stays(table):
    assert parse.find_top("file", table.encode()).n_above == 0


def test_lines_that_differ_below_the_header_are_named_with_their_place_in_the_file():
    with pytest.raises(InputError, match="Line 3 of <bytes> has 2 cells but the header has 4"):
        read(f"item_id,w1,w2,w3\nq,cat,cat,cat\nq1,cat\n{ROWS}".encode())
