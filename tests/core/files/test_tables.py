"""Votes become tables of text in each layout, and tables become whole files of the format that was named."""

from __future__ import annotations

import csv
import gzip
import os
import stat

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from deem_core import InputError, Votes, simulation
from deem_core.files import tables

VOTES = Votes.from_labels(
    [["cat", "dog", None], ["dog", None, None], ["cat", "cat", "01"]],
    learners=["ann", "bob", "c,d"],
    ids=["r1", "r2", "r3"],
    truth=["cat", "bird", None],
)


# ---------------------------------------------------------------------- layouts


def test_a_wide_table_has_a_column_per_learner_and_nulls_for_missing_votes():
    assert tables.wide_table(VOTES).to_pydict() == {
        "id": ["r1", "r2", "r3"],
        "ann": ["cat", "dog", "cat"],
        "bob": ["dog", None, "cat"],
        "c,d": [None, None, "01"],
        "label": ["cat", "bird", None],  # "bird" is a label that only the truth knows
    }


def test_a_long_table_lists_the_votes_cast_row_by_row():
    assert tables.long_table(VOTES).to_pydict() == {
        "task": ["r1", "r1", "r2", "r3", "r3", "r3"],
        "worker": ["ann", "bob", "ann", "ann", "bob", "c,d"],
        "label": ["cat", "dog", "dog", "cat", "cat", "01"],
    }


def test_the_truth_table_leaves_unknown_rows_out():
    assert tables.truth_table(VOTES).to_pydict() == {"task": ["r1", "r2"], "truth": ["cat", "bird"]}


def test_a_soft_table_has_a_column_per_learner_and_class():
    soft = [[[1 / 3, 2 / 3], [0, 0]], [[1, 0], [0.25, 0.75]]]
    votes = Votes.from_soft(soft, classes=["no", "yes"], learners=["ann", "bob"], truth=["yes", "no"])
    assert tables.soft_table(votes).to_pydict() == {
        "id": ["0", "1"],
        "ann:no": ["0.333333", "1"],
        "ann:yes": ["0.666667", "0"],
        "bob:no": [None, "0.25"],
        "bob:yes": [None, "0.75"],
        "label": ["yes", "no"],
    }


def test_without_a_truth_there_is_no_label_column():
    assert tables.wide_table(VOTES.without_truth()).column_names == ["id", "ann", "bob", "c,d"]


def test_every_column_is_text_whatever_the_labels_and_ids():
    votes = Votes.from_labels([[True, False], [False, False]], ids=[10, 20], truth=[True, False])
    table = tables.wide_table(votes)
    assert set(table.schema.types) == {pa.string()}
    assert table["learner_1"].to_pylist() == ["True", "False"]
    assert table["id"].to_pylist() == ["10", "20"]


def test_tables_hold_the_votes_they_were_made_from():
    made = simulation.simulate("crowd", 300, 0, labels=["a", "b", "c"], missing=0.2, soft=True).votes
    wide = tables.wide_table(made).to_pandas()
    read = Votes.from_frame(wide, id="id", truth="label", classes=["a", "b", "c"])
    np.testing.assert_array_equal(read.codes, made.codes)
    np.testing.assert_array_equal(read.truth, made.truth)

    long = tables.long_table(made).to_pandas()
    cells = long.pivot_table(index="task", columns="worker", values="label", aggfunc="first")
    cells = cells.reindex(index=made.ids.astype(str), columns=list(made.learners))
    read = Votes.from_frame(cells, classes=["a", "b", "c"])
    np.testing.assert_array_equal(read.codes, made.codes)

    soft = tables.soft_table(made).drop(["id", "label"])
    values = np.stack(
        [column.to_numpy() for column in soft.cast(pa.schema([(n, pa.float64()) for n in soft.column_names]))], 1
    )
    read = Votes.from_soft(values.reshape(made.soft.shape), classes=["a", "b", "c"])
    np.testing.assert_array_equal(read.codes, made.codes)
    np.testing.assert_allclose(read.soft, made.soft, atol=2e-6)


REFUSALS = {
    "These votes come without a truth, so there is no table of true labels to make.": lambda: tables.truth_table(
        VOTES.without_truth()
    ),
    "These votes carry no probabilities: write them in the wide or the long layout.": lambda: tables.soft_table(VOTES),
    "A learner is named 'label', which is the name of another column; rename the learner.": lambda: tables.wide_table(
        Votes.from_labels([[0, 1]], learners=["a", "label"])
    ),
    "The id '7' names several rows; the long layout needs a different id for each row.": lambda: tables.long_table(
        Votes.from_labels([[0, 1], [1, 1], [1, 0]], ids=[7, 8, 7])
    ),
    "Two probabilities would share the column 'a:b:c'; rename a learner or a class.": lambda: tables.soft_table(
        Votes.from_soft(np.full((1, 2, 2), 0.5), learners=["a", "a:b"], classes=["b:c", "c"])
    ),
}


@pytest.mark.parametrize("sentence", REFUSALS)
def test_votes_that_do_not_fit_a_layout_are_refused_with_a_sentence(sentence):
    with pytest.raises(InputError) as caught:
        REFUSALS[sentence]()
    assert str(caught.value) == sentence


# ---------------------------------------------------------------------- files


PLAIN = pa.table({"id": ["1", "2"], "a": ["x", None], "b": ["y", "z"]})


def test_plain_cells_are_not_quoted_and_lines_end_with_a_line_feed(tmp_path):
    tables.write(PLAIN, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes() == b"id,a,b\n1,x,y\n2,,z\n"
    tables.write(PLAIN, str(tmp_path / "T.TSV"))
    assert (tmp_path / "T.TSV").read_bytes() == b"id\ta\tb\n1\tx\ty\n2\t\tz\n"


@pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ","), (".tsv", "\t")])
def test_cells_and_names_that_need_quotes_get_them(tmp_path, suffix, delimiter):
    nasty = ['say "hi"', "a,b", "a\tb", "two\nlines", "r\rn", " spaced ", "é"]
    for cells, name in ((nasty, "plain"), (["x"] * 7, 'na,me\t"q"')):
        table = pa.table({"id": [str(row) for row in range(7)], name: cells})
        tables.write(table, tmp_path / f"t{suffix}")
        with (tmp_path / f"t{suffix}").open(encoding="utf-8", newline="") as stream:
            rows = list(csv.reader(stream, delimiter=delimiter))
        assert rows == [["id", name], *([str(row), cell] for row, cell in enumerate(cells))]


@pytest.mark.parametrize("name", ["t.csv.gz", "t.tsv.gz"])
def test_zipped_files_hold_the_plain_file_and_depend_on_the_table_alone(tmp_path, name):
    plain, zipped, again = tmp_path / name.removesuffix(".gz"), tmp_path / name, tmp_path / f"again_{name}"
    for path in (plain, zipped, again):
        tables.write(PLAIN, path)
    assert gzip.decompress(zipped.read_bytes()) == plain.read_bytes()
    assert zipped.read_bytes() == again.read_bytes()


def test_parquet_files_hold_the_table(tmp_path):
    tables.write(PLAIN, tmp_path / "t.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "t.parquet").equals(PLAIN)


def test_a_table_without_rows_still_has_its_header(tmp_path):
    tables.write(PLAIN.slice(0, 0), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes() == b"id,a,b\n"


def test_an_existing_file_is_replaced_and_nothing_else_is_left(tmp_path):
    (tmp_path / "t.csv").write_text("old")
    tables.write(PLAIN, tmp_path / "t.csv")
    assert os.listdir(tmp_path) == ["t.csv"]
    assert pd.read_csv(tmp_path / "t.csv").shape == (2, 3)


def test_a_failed_write_keeps_the_old_file_and_leaves_no_rubbish(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pyarrow.csv.write_csv", full)
    with pytest.raises(InputError, match=r"t\.csv' could not be written: No space left on device\."):
        tables.write(PLAIN, tmp_path / "t.csv")
    assert os.listdir(tmp_path) == ["t.csv"]
    assert (tmp_path / "t.csv").read_text() == "old"


def test_files_get_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "other").write_text("")
    tables.write(PLAIN, tmp_path / "t.csv")
    assert stat.S_IMODE((tmp_path / "t.csv").stat().st_mode) == stat.S_IMODE((tmp_path / "other").stat().st_mode)


def test_names_that_cannot_be_written_are_refused_with_a_sentence(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    sentences = {
        tmp_path / "t.xlsx": "'t.xlsx' does not say how to write it: "
        "end the name with .csv, .tsv, .csv.gz, .tsv.gz, .parquet, .jsonl or .jsonl.gz.",
        tmp_path / "no" / "t.csv": f"The folder '{tmp_path / 'no'}' does not exist; create it first.",
        tmp_path / "folder.csv": f"'{tmp_path / 'folder.csv'}' is a folder; give the name of a file.",
    }
    for path, sentence in sentences.items():
        with pytest.raises(InputError) as caught:
            tables.write(PLAIN, path)
        assert str(caught.value) == sentence
