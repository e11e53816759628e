"""The fused table gives every cell back as it was, and its files are safe to open anywhere."""

from __future__ import annotations

import csv
import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from deem_core import InputError, Votes, read, readers
from deem_core.answers import export
from deem_core.answers.answer import Answer
from deem_core.answers.stored import StoredAnswer, write_answer
from deem_core.files import spreadsheet
from deem_core.readers import Reading
from deem_core.readers.notes import Notebook
from deem_core.readers.source import open_source

ODD = ["007", "=1+1", "a,b", 'say "hi"', "<b>x</b>", "🎉", "two\nlines", "-1", "+3.5", "1e5", "@home"]


def fused_table(reading, posterior, **options):
    """Return the table of an answer with this posterior."""
    return export.fused_table(reading, Answer(reading.votes, posterior), **options)


def posterior_of(votes: Votes, sure: float = 0.9) -> np.ndarray:
    """Return a posterior that follows the majority vote; NaN where there is none."""
    made = np.full((votes.n_rows, votes.n_classes), (1 - sure) / max(votes.n_classes - 1, 1))
    made[np.arange(votes.n_rows), votes.majority_vote.codes] = sure
    made[votes.votes_per_row == 0] = np.nan
    return made


def read_text(text: str, **options: object) -> Reading:
    return readers.read(text.encode(), **options)


def as_csv(rows: list[list[str]], path: Path) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows(rows)
    return path


def cells(path: Path, delimiter: str = ",") -> list[list[str]]:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return list(csv.reader(data.decode().splitlines(keepends=True), delimiter=delimiter))


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """Return a file in which every odd label is voted for, in a few spellings and beside odd notes."""
    rows = [[" id ", "ann", "bob", "=cy", "note"]]
    for at, label in enumerate(ODD * 3):
        other = ODD[(at + at // len(ODD)) % len(ODD)]
        rows.append([f"0{at}", label, f" {label} ", other, f"n{at},{label}"])
    rows.append(["099", "", "NA", "?", ""])
    return as_csv(rows, tmp_path / "odd.csv")


WIDE = "id,ann,bob,cy\n1,cat,cat,dog\n2,dog,dog,dog\n3,,NA,\n4,cat,,\n"


# ---------------------------------------------------------------------- columns


def test_the_columns_of_a_fused_table():
    reading = read_text(WIDE)
    posterior = np.array([[0.75, 0.25], [0.875, 0.125], [np.nan, np.nan], [0.5, 0.5]])
    table = fused_table(reading, posterior)
    assert table.to_pydict() == {
        "id": ["1", "2", "3", "4"],
        "ann": ["cat", "dog", "", "cat"],
        "bob": ["cat", "dog", "NA", ""],
        "cy": ["dog", "dog", "", ""],
        "fused_label": ["cat", "cat", None, "cat"],
        "confidence": [0.75, 0.875, None, 0.5],
        "p_cat": [0.75, 0.875, None, 0.5],
        "p_dog": [0.25, 0.125, None, 0.5],
        "majority_vote": ["cat", "dog", None, "cat"],
        "agreement": [2 / 3, 0.0, None, 1.0],
        "entropy": [pytest.approx(0.562335), pytest.approx(0.376770), None, pytest.approx(np.log(2))],
        "needs_review": [True, True, True, False],  # lowest score; a unanimous vote overruled; no votes
    }


def test_the_file_says_who_really_answered():
    reading = read_text(WIDE)
    posterior = np.full((4, 2), 0.5)
    said = {
        by: export.fused_table(reading, Answer(reading.votes, posterior, **by_name))["method"].to_pylist()
        for by, by_name in {
            "itself": {"method": "deem"},
            "other": {"method": "auto", "answered_by": "gds"},
            "fallback": {"method": "deem", "answered_by": "mv"},
        }.items()
    }
    assert said == {  # the third row has no votes, so nobody answered
        "itself": ["deem", "deem", None, "deem"],
        "other": ["gds", "gds", None, "gds"],
        "fallback": ["majority vote", "majority vote", None, "majority vote"],
    }


def test_a_row_without_votes_gets_the_prior_but_no_label():
    reading = read_text(WIDE)
    table = fused_table(reading, np.array([[0.75, 0.25], [0.875, 0.125], [0.375, 0.625], [0.5, 0.5]])).to_pydict()
    assert [table[name][2] for name in ("p_cat", "p_dog", "needs_review")] == [0.375, 0.625, True]
    assert {table[name][2] for name in ("fused_label", "confidence", "agreement", "entropy")} == {None}


def test_columns_can_be_left_out_and_the_label_renamed():
    reading = read_text(WIDE)
    bare = fused_table(
        reading,
        posterior_of(reading.votes),
        originals=False,
        probabilities=False,
        diagnostics=False,
        label_column="animal",
    )
    assert bare.column_names == ["id", "animal", "confidence"]
    no_id = read_text("ann,bob,cy\nx,x,y\ny,y,y\n")
    bare = fused_table(no_id, posterior_of(no_id.votes), originals=False, diagnostics=False)
    assert bare.column_names == ["fused_label", "confidence", "p_x", "p_y"]


def test_a_name_that_the_file_has_already_gets_a_number():
    reading = read_text("id,fused_label,p_x, confidence ,confidence_2\n1,x,x,y,y\n2,y,y,y,x\n")
    table = fused_table(reading, posterior_of(reading.votes), diagnostics=False)
    assert table.column_names == [
        *("id", "fused_label", "p_x", " confidence ", "confidence_2"),
        *("fused_label_2", "confidence_3", "p_x_2", "p_y"),
    ]
    assert table["fused_label"].to_pylist() == ["x", "y"]


def test_added_columns_do_not_clash_among_themselves():
    reading = read_text("a,b,c\nx,x,y\ny,y,y\n")
    table = fused_table(reading, posterior_of(reading.votes), label_column="entropy")
    assert table.column_names[3:] == [
        *("entropy", "confidence", "p_x", "p_y"),
        *("majority_vote", "agreement", "entropy_2", "needs_review"),
    ]


def test_with_many_classes_probabilities_come_only_when_asked_for():
    for k, by_default in ((50, True), (51, False)):
        labels = [f"c{at}" for at in range(k)]
        rows = "".join(f"{label},{label},{label}\n" for label in labels * 2)
        reading = read_text("a,b,c\n" + rows)
        posterior = posterior_of(reading.votes)

        def count(table: pa.Table) -> int:
            return sum(name.startswith("p_") for name in table.column_names)

        assert count(fused_table(reading, posterior)) == (k if by_default else 0)
        assert count(fused_table(reading, posterior, probabilities=True)) == k
        assert count(fused_table(reading, posterior, probabilities=False)) == 0


def test_a_long_file_comes_back_with_a_row_per_task():
    answers = ["ann,007,cat,cat", "bob,007,dog,cat", "ann,q 2,dog,", "bob,q 2,dog,", "ann,q3,NA,", "cy,007,cat,"]
    reading = read_text("\n".join(["Worker, Task ,Label,gold", *answers]))
    assert reading.report.layout == "long"
    table = fused_table(reading, posterior_of(reading.votes), diagnostics=False, probabilities=False)
    assert table.to_pydict() == {
        " Task ": ["007", "q 2", "q3"],
        "fused_label": ["cat", "dog", None],
        "confidence": [0.9, 0.9, None],
    }
    without = fused_table(reading, posterior_of(reading.votes), originals=False)
    assert without.column_names[:2] == [" Task ", "fused_label"]


def test_a_soft_file_keeps_its_numbers_as_they_were_spelled():
    text = "id;net:no;net:yes;tree:no;tree:yes;why\n01;0,90;0,1;.5000;5e-1;a\n02;1;0;;;b\n03;;;;;c\n"
    reading = read_text(text)
    assert reading.report.layout == "soft"
    table = fused_table(reading, posterior_of(reading.votes))
    assert table.select(range(6)).to_pydict() == {
        "id": ["01", "02", "03"],
        "net:no": ["0,90", "1", ""],
        "net:yes": ["0,1", "0", ""],
        "tree:no": [".5000", "", ""],
        "tree:yes": ["5e-1", "", ""],
        "why": ["a", "b", "c"],
    }
    assert table["fused_label"].to_pylist() == ["no", "no", None]


def test_nameless_columns_keep_their_blank_name_as_far_as_names_differ():
    reading = read_text(",a,b,c,,\n0,x,x,y,p,\n1,y,y,y,q,\n")
    table = fused_table(reading, posterior_of(reading.votes), diagnostics=False, probabilities=False)
    assert table.column_names == ["", "a", "b", "c", "column 5", "column 6", "fused_label", "confidence"]
    assert table[4].to_pylist() == ["p", "q"]


def test_votes_coded_in_other_classes_are_exported_in_those():
    reading = read_text(WIDE)
    frame = [[{0: "cat", 1: "dog", -1: None}[code] for code in row] for row in reading.votes.codes.tolist()]
    votes = Votes.from_labels(frame, learners=reading.votes.learners, classes=["bird", "cat", "dog"])
    table = fused_table(replace(reading, votes=votes), posterior_of(votes))
    assert table["fused_label"].to_pylist() == ["cat", "dog", None, "cat"]
    assert [name for name in table.column_names if name.startswith("p_")] == ["p_bird", "p_cat", "p_dog"]


def test_what_is_no_posterior_of_these_votes_is_refused_with_a_sentence():
    reading = read_text(WIDE)
    good = posterior_of(reading.votes)
    for bad, sentence in (
        (good[:3], r"has the shape \(3, 2\); these votes need \(4, 2\)"),
        (good * 1.1, "Row 1 of the posterior does not hold probabilities"),
        (np.where(np.arange(4)[:, None] == 3, np.nan, good), "Row 4 of the posterior"),
        (np.array([[0.5, 0.5], [1.5, -0.5], [0, 0], [1, 0]]), "Row 2 of the posterior"),
    ):
        with pytest.raises(InputError, match=sentence):
            fused_table(reading, bad)
    with pytest.raises(InputError, match="needs a name"):
        fused_table(reading, good, label_column=" ")


# ---------------------------------------------------------------------- files


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.csv.gz", "out.tsv.gz", "out.parquet"])
def test_odd_cells_come_back_exactly_as_they_were(odd, tmp_path, name):
    reading = readers.read(odd, id="id", learners=["ann", "bob", "=cy"])
    assert set(reading.votes.classes) == {label.strip() for label in ODD}
    table = fused_table(reading, posterior_of(reading.votes))
    export.write(table, tmp_path / name, spreadsheet_safe=False)
    back = open_source(tmp_path / name, Notebook())
    assert back.header == tuple(table.column_names)
    assert back.header[:5] == reading.source.header == (" id ", "ann", "bob", "=cy", "note")
    for column in reading.source.columns:
        assert back.text(column).to_pylist() == reading.source.text(column).to_pylist()
    fused = back.text("fused_label").to_pylist()
    assert fused[:-1] == [label.strip() for label in ODD * 3]
    assert fused[-1] == ""
    assert {f"p_{label}".strip() for label in ODD} <= set(back.columns)


def test_a_fused_file_can_be_read_as_votes_again(odd, tmp_path):
    reading = readers.read(odd, id="id", learners=["ann", "bob", "=cy"])
    export.write(fused_table(reading, posterior_of(reading.votes)), tmp_path / "out.csv", spreadsheet_safe=False)
    again = readers.read(tmp_path / "out.csv", id="id", learners=["ann", "bob", "=cy"])
    np.testing.assert_array_equal(again.votes.codes, reading.votes.codes)
    assert again.votes.ids.tolist() == reading.votes.ids.tolist()


def test_safe_files_neutralise_formulas_and_leave_numbers_alone(odd, tmp_path):
    reading = readers.read(odd, id="id", learners=["ann", "bob", "=cy"])
    table = fused_table(reading, posterior_of(reading.votes))
    export.write(table, tmp_path / "out.csv")
    header, *rows = cells(tmp_path / "out.csv")
    assert header[:5] == [" id ", "ann", "bob", "'=cy", "note"]
    by_label = dict(zip(ODD, rows, strict=False))
    for label, row in by_label.items():
        expected = f"'{label}" if label in ("=1+1", "@home") else label
        assert row[1] == row[header.index("fused_label")] == expected
    assert by_label["=1+1"][2] == "' =1+1 "
    assert by_label["-1"][2] == " -1 "
    assert rows[-1][header.index("fused_label") :][:2] == ["", ""]
    assert {row[-1] for row in rows} <= {"true", "false"}


DANGEROUS = [
    "=1+1",
    "+cmd",
    "-2+3",
    "@SUM(A1)",
    "\tx",
    "\rx",
    "\nx",
    "＝1",
    "＋1",
    "－1",
    "＠x",
    "  =1",
    "\u00a0=1",
    "\ufeff=1",
]
HARMLESS = ["-1", "+3.5", "1e5", "-1.5E-3", "-.5", "-0,5", "+5%", " -1 ", "-", "+", "a=b", "a-b", "'=1", "", "🎉"]


def test_what_a_spreadsheet_would_run_gets_an_apostrophe():
    texts = pa.array([*DANGEROUS, None, *HARMLESS])
    assert spreadsheet.neutralise(texts).to_pylist() == [*(f"'{text}" for text in DANGEROUS), None, *HARMLESS]
    plain = pa.array(["a", None])
    assert spreadsheet.neutralise(plain) is plain


def test_a_semicolon_cannot_smuggle_a_formula_into_a_cell_of_its_own(tmp_path):
    export.write(pa.table({"a": ["x;=1+1", "y"]}), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == 'a\n"x;=1+1"\n"y"\n'


def test_parquet_files_are_typed_and_never_altered(odd, tmp_path):
    reading = readers.read(odd, id="id", learners=["ann", "bob", "=cy"])
    table = fused_table(reading, posterior_of(reading.votes).astype(np.float32))
    export.write(table, tmp_path / "out.parquet")
    back = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    kinds = dict(zip(back.column_names, back.schema.types, strict=True))
    numbers = {"confidence", "agreement", "entropy", *(name for name in kinds if name.startswith("p_"))}
    assert {kinds.pop(name) for name in numbers} == {pa.float64()}
    assert kinds.pop("needs_review") == pa.bool_()
    assert set(kinds.values()) == {pa.string()}
    assert back.to_pydict() == table.to_pydict()
    assert back["fused_label"].to_pylist()[1] == "=1+1"
    assert back["fused_label"].null_count == back["confidence"].null_count == 1


def test_large_tables_are_written_in_pieces_that_add_up(tmp_path, monkeypatch):
    rows = "".join(f"r{at},{'=x' if at % 3 else 'y'},{'=x' if at % 2 else 'y'},y\n" for at in range(1000))
    reading = read_text("id,a,b,c\n" + rows)
    table = fused_table(reading, posterior_of(reading.votes))
    assert pa.types.is_dictionary(table["a"].type)  # shares the memory of the source
    for name in ("out.csv", "out.parquet"):
        export.write(table, tmp_path / f"whole_{name}")
        monkeypatch.setattr("deem_core.files.tables._BATCH", 64)
        monkeypatch.setattr("deem_core.files.tables._ROW_GROUP", 64)
        export.write(table, tmp_path / f"pieces_{name}")
        monkeypatch.undo()
    assert (tmp_path / "pieces_out.csv").read_bytes() == (tmp_path / "whole_out.csv").read_bytes()
    assert len(cells(tmp_path / "pieces_out.csv")) == 1001
    assert pyarrow.parquet.read_table(tmp_path / "pieces_out.parquet").to_pydict() == table.to_pydict()
    assert cells(tmp_path / "whole_out.csv")[2][1] == "'=x"


def test_a_file_that_cannot_be_written_is_refused_with_a_sentence(tmp_path):
    table = pa.table({"a": ["x"]})
    with pytest.raises(InputError, match="end the name with"):
        export.write(table, tmp_path / "out.xlsx")
    with pytest.raises(InputError, match="does not exist"):
        export.write(table, tmp_path / "no" / "out.csv")


GERMAN = "Ticket;Anna;Björn;Zoë;Text\n1;Ärger;Ärger;Lob;Straße\n2;Lob;Lob;Lob;größer\n3;Lob;Ärger;Ärger;a, b\n"


@pytest.mark.parametrize(
    ("codec", "begins"),
    [("utf-8-sig", b"\xef\xbb\xbfTicket;"), ("cp1252", b"Ticket;"), ("utf-16", b"\xff\xfeT"), ("utf-8", b"Ticket;")],
)
@pytest.mark.parametrize("name", ["fused.csv", "fused.csv.gz"])
def test_a_fused_file_opens_where_its_input_opened(tmp_path, codec, begins, name):
    reading = readers.read(GERMAN.encode(codec), id="Ticket")
    answer = Answer(reading.votes, posterior_of(reading.votes))
    export.write_fused(reading, answer, tmp_path / name)
    data = (tmp_path / name).read_bytes()
    data = gzip.decompress(data) if name.endswith(".gz") else data
    assert data.startswith(begins)
    lines = data.decode(codec).splitlines()
    assert lines[0].replace('"', "").startswith("Ticket;Anna;Björn;Zoë;Text;fused_label;confidence;p_Lob;p_Ärger;")
    assert lines[1].replace('"', "").startswith("1;Ärger;Ärger;Lob;Straße;Ärger;0.9;0.1;0.9;")
    again = readers.read(data, id="Ticket", learners=["Anna", "Björn", "Zoë"])
    assert again.source.encoding == reading.source.encoding
    np.testing.assert_array_equal(again.votes.codes, reading.votes.codes)


def test_a_tsv_keeps_its_tabs_and_a_csv_never_gets_them(tmp_path):
    for text, name, delimiter in (
        (GERMAN, "out.tsv", "\t"),
        (GERMAN.replace(";", "\t"), "out.csv", ","),
        (GERMAN.replace(";", "|"), "out.csv", "|"),
    ):
        reading = read_text(text, id="Ticket", learners=["Anna", "Björn", "Zoë"])
        export.write_fused(reading, Answer(reading.votes, posterior_of(reading.votes)), tmp_path / name)
        assert cells(tmp_path / name, delimiter)[0][:5] == ["Ticket", "Anna", "Björn", "Zoë", "Text"]


def test_a_letter_that_the_input_could_not_spell_is_written_in_utf_8_with_a_mark(tmp_path):
    reading = readers.read(GERMAN.encode("cp1252"), id="Ticket")
    answer = Answer(reading.votes, posterior_of(reading.votes))
    export.write_fused(reading, answer, tmp_path / "fused.csv", label_column="标签")
    assert "Straße" in (tmp_path / "fused.csv").read_text("utf-8-sig")
    assert (tmp_path / "fused.csv").read_bytes().startswith(b"\xef\xbb\xbf")


def test_numbers_of_a_text_file_have_six_digits_and_parquet_has_all(tmp_path):
    reading = read_text(WIDE)
    p = np.array([0.999999934896034, 0.123456789, np.nan, 0.5])
    answer = Answer(reading.votes, np.stack([p, 1 - p], axis=1))
    export.write_fused(reading, answer, tmp_path / "out.csv", diagnostics=False)
    assert [row[5:] for row in cells(tmp_path / "out.csv")[1:]] == [
        ["1", "1", "6.5104e-8"],
        ["0.876543", "0.123457", "0.876543"],
        ["", "", ""],
        ["0.5", "0.5", "0.5"],
    ]
    export.write_fused(reading, answer, tmp_path / "out.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "out.parquet")["p_cat"].to_pylist()[0] == p[0]


# ---------------------------------------------------------------------- review threshold


def test_a_threshold_decides_who_needs_review():
    reading = read_text("id,a,b,c\n1,x,x,y\n2,x,y,y\n3,x,x,x\n4,,,\n5,y,y,y\n")
    posterior = np.array([[0.95, 0.05], [0.4, 0.6], [0.99, 0.01], [0.5, 0.5], [0.8, 0.2]])
    table = fused_table(reading, posterior, review_below=0.7)
    assert table["needs_review"].to_pylist() == [False, True, False, True, True]  # row 5 overrules a unanimous vote
    assert table["fused_label"].to_pylist() == ["x", "y", "x", None, "x"]
    at_the_limit = fused_table(reading, posterior, review_below=0.6)
    assert at_the_limit["needs_review"].to_pylist() == [False, False, False, True, True]


def test_doubtful_labels_can_be_left_empty():
    reading = read_text("id,a,b,c\n1,x,x,y\n2,x,y,y\n3,x,x,x\n")
    posterior = np.array([[0.95, 0.05], [0.4, 0.6], [0.99, 0.01]])
    table = fused_table(reading, posterior, review_below=0.7, blank=True)
    assert table["fused_label"].to_pylist() == ["x", None, "x"]
    assert table["confidence"].to_pylist()[1] == 0.6
    assert table["majority_vote"].to_pylist() == ["x", "y", "x"]


@pytest.mark.parametrize(("share", "rows"), [(0.0, []), (0.1, [1]), (0.25, [1]), (0.5, [0, 1]), (1.0, [0, 1, 2, 3])])
def test_a_share_decides_who_needs_review(tmp_path, share, rows):
    reading = read_text("id,a,b,c\n1,x,x,y\n2,x,y,y\n3,x,x,x\n4,y,y,y\n")
    answer = Answer(reading.votes, np.array([[0.7, 0.3], [0.45, 0.55], [0.99, 0.01], [0.02, 0.98]]))
    table = export.fused_table(reading, answer, review_share=share, blank=True)
    assert np.flatnonzero(table["needs_review"].to_pylist()).tolist() == rows
    assert [at for at, label in enumerate(table["fused_label"].to_pylist()) if label is None] == rows
    part = export.fused_table(export.reading_rows(reading, 0, 2), answer.head(2), review_share=share)
    assert part["needs_review"].to_pylist() == table["needs_review"].to_pylist()[:2]  # decided among all rows
    export.write_fused(reading, answer, tmp_path / "out.csv", review_share=share)
    assert [row[-1] for row in cells(tmp_path / "out.csv")[1:]].count("true") == len(rows)


@pytest.mark.parametrize(
    ("wishes", "sentence"),
    [
        ({"review_below": 1.5}, "between 0 and 1"),
        ({"review_share": 1.5}, "between 0 and 1"),
        ({"review_below": 0.5, "review_share": 0.5}, "not both"),
    ],
)
def test_thresholds_that_make_no_sense_are_refused(wishes, sentence):
    reading = read_text("id,a,b,c\n1,x,x,y\n2,x,y,y\n")
    with pytest.raises(InputError, match=sentence):
        fused_table(reading, np.array([[0.9, 0.1], [0.4, 0.6]]), **wishes)


@pytest.mark.parametrize("label", ["a,b", "a;b", 'a"b'])
def test_a_label_that_only_the_majority_vote_has_is_quoted_too(tmp_path, label):
    quoted = label.replace('"', '""')
    lines = ["task,worker,label", *(f't{t},w{w},"{quoted if t == 0 else "c"}"' for t in range(4) for w in range(3))]
    reading = read("\n".join(lines).encode(), layout="long")
    other = [str(name) for name in reading.votes.classes].index("c")
    answer = Answer(reading.votes, np.eye(2)[[other] * 4])
    export.write_fused(reading, answer, tmp_path / "fused.csv")
    back = pd.read_csv(tmp_path / "fused.csv")
    assert back["majority_vote"].tolist() == [label, "c", "c", "c"]


def test_a_file_written_in_parts_is_the_file_written_whole(tmp_path, monkeypatch):
    lines = [f"{row},{'xy'[row % 2]},{'xy'[row % 3 > 0]},{'xy'[row % 5 > 1]},a note {row}" for row in range(50)]
    reading = read("\n".join(["id,ann,bob,cy,note", *lines]).encode())
    answer = Answer(reading.votes, np.tile([0.7, 0.3], (50, 1)))
    export.write_fused(reading, answer, tmp_path / "whole.csv")
    monkeypatch.setattr(Answer.parts, "__defaults__", (7,))
    for name in ("parts.csv", "parts.parquet"):
        export.write_fused(reading, answer, tmp_path / name)
    assert (tmp_path / "parts.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert len(pd.read_parquet(tmp_path / "parts.parquet")) == 50


def test_labels_without_probabilities_make_the_same_file_but_for_these(tmp_path):
    reading = read_text("id,a,b,c\n1,x,x,y\n2,y,y,y\n3,,,\n4,x,y,y\n")
    answer = Answer(reading.votes, posterior_of(reading.votes, 0.7))
    with (tmp_path / "labels.parquet").open("wb") as stream:
        write_answer(answer, stream, probabilities=False)
    kept = StoredAnswer(tmp_path / "labels.parquet", 2).answer(reading.votes)
    expected = export.fused_table(reading, answer, probabilities=False)
    found = export.fused_table(reading, kept)
    assert found.column_names == expected.column_names
    for name in found.column_names:
        if name != "entropy":
            assert found[name].to_pylist() == expected[name].to_pylist(), name
    export.write_fused(reading, kept, tmp_path / "fused.csv")
    assert cells(tmp_path / "fused.csv")[1][:6] == ["1", "x", "x", "y", "x", "0.7"]
    with pytest.raises(InputError, match="were not kept"):
        export.fused_table(reading, kept, probabilities=True)
