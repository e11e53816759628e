"""Ids are found by their names, or as the one column of different cells left of the votes."""

import pytest

from deem_core.readers import read

ROWS = 24


def table(header, *makers):
    votes = [lambda i: "xy"[i % 2], lambda i: "xy"[i % 3 == 0], lambda i: "xy"[i % 5 == 0]]
    lines = [",".join(str(make(i)) for make in (*makers, *votes)) for i in range(ROWS)]
    return "\n".join([f"{header},a,b,c", *lines]).encode()


@pytest.mark.parametrize(
    "name", ["prompt_id", "Ticket", "ticketid", "promptId", "key", "uuid", "id", "name", "file name", "Comment ID"]
)
def test_an_id_is_known_by_its_name(name):
    reading = read(table(name, lambda i: f"t{i * 7 % ROWS}"))
    assert reading.report.column("id") == name
    assert reading.votes.ids[0] == "t0"


@pytest.mark.parametrize("name", ["prompt_id", "Ticket", "name"])
def test_a_name_alone_makes_no_id_where_cells_repeat(name):
    assert read(table(name, lambda i: f"t{i % 5}")).report.column("id") is None


def test_the_one_column_of_different_cells_left_of_the_votes_is_the_id():
    reading = read(table("Case,lang", lambda i: f"C-{i * 7 % ROWS}", lambda i: "de" if i % 2 else "en"))
    assert reading.report.column("id") == "Case"
    assert "Column 'Case' names the rows (id)" in " ".join(reading.report.sentences("understood"))
    assert not any("'Case'" in said for said in reading.report.sentences("left out"))


@pytest.mark.parametrize(
    "make",
    [
        lambda i: f"a long text about the number {i}",
        lambda i: i * 7 % ROWS,
        lambda i: i + 0.5,
        lambda i: "" if i else "x",
    ],
    ids=["text", "numbers in disorder", "measurements", "empty"],
)
def test_texts_and_measurements_are_no_ids(make):
    assert read(table("thing", make)).report.column("id") is None


def test_of_two_such_columns_none_is_taken():
    assert read(table("one,two", lambda i: f"A{i}", lambda i: f"B{i}")).report.column("id") is None


def test_of_several_ids_the_most_telling_unique_one_is_taken():
    reading = read(table("id,ticket_id", lambda i: f"A{i % 3}", lambda i: f"B{i}"))
    assert reading.report.column("id") == "id"  # by its usual name, with a warning that it repeats
    assert read(table("key,task", lambda i: f"A{i}", lambda i: f"B{i}")).report.column("id") == "task"


def test_a_learner_whose_name_ends_like_an_id_stays_a_learner():
    content = "david,ingrid,astrid\n" + "".join(f"{'xy'[i % 2]},{'xy'[i % 3 == 0]},x\n" for i in range(2))
    assert read(content.encode()).votes.learners == ("david", "ingrid", "astrid")
