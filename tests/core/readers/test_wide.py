import gzip
import io
from pathlib import Path

import pandas as pd
import pytest

from deem_core.readers import read, read_votes


def labels(votes):
    return [[None if code < 0 else str(votes.classes[code]) for code in row] for row in votes.codes]


def text(reading):
    return " ".join(reading.report.sentences())


GOOD = "id,a,b,label\n1,x,y,x\n2,y,,y\n3,x,x,x\n"


def test_id_learners_and_truth_are_found_and_said():
    reading = read(GOOD.encode())
    assert reading.report.layout == "wide"
    assert reading.votes.learners == ("a", "b")
    assert list(reading.votes.ids) == ["1", "2", "3"]
    assert labels(reading.votes) == [["x", "y"], ["y", None], ["x", "x"]]
    assert reading.votes.truth.tolist() == [0, 1, 0]
    assert reading.report.roles == {"id": "id", "a": "learner", "b": "learner", "label": "truth"}
    assert "'label' is taken as the truth; it is for evaluation only and never used in training" in text(reading)


FUSED_ROWS = "\n".join(
    f"{n},{'xy'[n % 2]},{'xy'[n % 3 % 2]},{'xy'[n % 2]},0.9,{'xy'[n % 2]},1,0.1,false" for n in range(30)
)


@pytest.mark.parametrize("label", ["fused_label", "fused_label_2", "answer"])
def test_the_answer_in_a_fused_file_is_no_vote(label):
    file = f"id,a,b,{label},confidence,majority_vote,agreement,entropy,needs_review\n{FUSED_ROWS}".encode()
    reading = read(file)
    assert reading.votes.learners == ("a", "b")
    assert "the answer of an earlier fusion" in text(reading)
    assert read(file, learners=["a", "b", "majority_vote"]).votes.n_learners == 3


def test_a_column_before_confidence_is_a_learner_where_nothing_else_was_added():
    rows = "\n".join(f"{n},{'xy'[n % 2]},{'xy'[n % 3 % 2]},0.9" for n in range(30))
    assert read(f"id,a,b,confidence\n{rows}".encode()).votes.learners == ("a", "b")


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_delimiters_and_encodings_are_found(delimiter, encoding):
    content = GOOD.replace(",", delimiter).replace("x", "Zoë").encode(encoding)
    reading = read(content)
    assert reading.report.delimiter == delimiter
    assert labels(reading.votes) == [["Zoë", "y"], ["y", None], ["Zoë", "Zoë"]]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("ending", ["", "\n"])
def test_line_ends_of_every_system_are_read(newline, ending):
    assert read_votes((GOOD.strip() + ending).replace("\n", newline).encode()).n_rows == 3


def test_a_latin_1_semicolon_file_with_quoted_newlines_is_read_and_said():
    content = 'Nummer;Prüfer A;Prüfer B\n"1\n";süß;"bitter;herb"\n2;"bitter;herb";süß\n3;süß;"sü""ß"\n'
    reading = read(content.encode("latin-1"), id="Nummer")
    assert reading.votes.learners == ("Prüfer A", "Prüfer B")
    assert labels(reading.votes) == [["süß", "bitter;herb"], ["bitter;herb", "süß"], ["süß", 'sü"ß']]
    assert reading.source.text("Nummer")[0].as_py() == "1\n"
    assert "not valid UTF-8 (line 1), so it was read as Windows-1252 (Latin-1)" in text(reading)


def test_gzip_is_unpacked_whatever_the_name(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_bytes(gzip.compress(GOOD[:20].encode()) + gzip.compress(GOOD[20:].encode()))
    reading = read(path)
    assert reading.votes.n_rows == 3
    assert reading.report.compression == "gzip"


def test_parquet_is_read_with_typed_columns():
    frame = pd.DataFrame(
        {
            "id": ["007", "8", "9"],
            "a": [1, 2, 1],
            "b": [1.0, None, 2.0],
            "c": pd.array([True, False, None], "boolean").astype("Int64"),
            "d": pd.Categorical([2, 2, 1]),
            "score": [[0.1], [0.2], [0.3]],
        }
    )
    buffer = io.BytesIO()
    frame.to_parquet(buffer)
    reading = read(buffer)
    assert reading.report.encoding == "parquet"
    assert reading.votes.learners == ("a", "b", "c", "d")
    assert labels(reading.votes)[0] == ["1", "1", "1", "2"]
    assert list(reading.votes.ids) == ["007", "8", "9"]
    assert "'score' was left out: its cells (list<element: double>) are not labels" in text(reading)


def test_buffers_and_paths_read_alike(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text(GOOD)
    hashes = {
        read_votes(source).content_hash for source in (path, str(path), io.BytesIO(GOOD.encode()), io.StringIO(GOOD))
    }
    with path.open("rb") as stream:
        hashes.add(read_votes(stream).content_hash)
    assert len(hashes) == 1


def test_labels_are_text_at_heart():
    votes = read_votes(b"a,b,c\n1,1.0, 1 \n2,2,01\n1,2,2\nA,a,2\n2,1,A\na,a,1\n")
    assert votes.classes.tolist() == ["01", "1", "2", "A", "a"]


def test_labels_that_differ_in_case_only_are_kept_apart_with_a_warning():
    reading = read(b"a,b\nCat,cat\ncat,Cat\nCat,Cat\n")
    assert reading.votes.n_classes == 2
    assert "2 spellings look like one class: 'Cat', 'cat'. They are kept as separate classes" in text(reading)


def test_missing_cells_are_counted_by_spelling():
    reading = read(b"a,b\nx,NA\ny,\nx,?\nx,-\ny,NULL\nx,x\n")
    assert reading.votes.coverage == pytest.approx(7 / 12)
    assert "5 cells without a vote" in text(reading)


def test_minus_one_as_no_vote_is_said():
    assert "-1 is read as no vote (2 cells)" in text(read(b"a,b\n-1,0\n1,1\n0,-1\n"))


def test_a_file_of_minus_and_plus_one_has_two_classes():
    reading = read(b"a,b\n-1,+1\n1,-1\n1,1\n")
    assert reading.votes.classes.tolist() == ["-1", "1"]
    assert "no vote" not in text(reading)


def test_own_missing_spellings_are_used():
    assert read_votes(b"a,b\nx,abstain\nNA,x\ny,y\n", missing=["abstain"]).classes.tolist() == ["NA", "x", "y"]


def test_columns_that_are_not_votes_are_set_aside_with_a_reason():
    rows = "".join(f"{at},{18 + at},text {at},{at / 7:.2f},{at % 3},{(at + 1) % 3},{at % 3}\n" for at in range(60))
    reading = read(f"id,age,comment,price,a,b,c\n{rows}".encode())
    assert reading.votes.learners == ("a", "b", "c")
    for name in ("age", "comment", "price"):
        assert reading.report.roles[name] == "ignored"
        assert f"Column {name!r} was left out" in text(reading)


def test_a_column_set_aside_can_be_forced_in():
    content = b"a,b,odd\nx,y,u\ny,x,v\nx,x,u\ny,y,v\n"
    assert read_votes(content).learners == ("a", "b")
    assert read_votes(content, learners=["a", "b", "odd"]).learners == ("a", "b", "odd")


def test_numeric_columns_that_resemble_each_other_do_not_outvote_the_learners():
    rows = "".join(
        f"{at % 40},{at % 37},{'cat' if at % 2 else 'dog'},{'cat' if at % 3 else 'dog'},cat\n" for at in range(99)
    )
    assert read_votes(f"age,weight,m1,m2,m3\n{rows}".encode()).learners == ("m1", "m2", "m3")


def test_a_rule_that_votes_for_one_class_only_is_a_learner_where_others_abstain_alike():
    rows = "".join(f"{-1 if at % 3 else 2},{-1 if at % 2 else 0},{at % 2},{(at // 2) % 2}\n" for at in range(60))
    assert read_votes(f"lf1,lf2,lf3,lf4\n{rows}".encode()).learners == ("lf1", "lf2", "lf3", "lf4")


def test_an_empty_column_is_left_out():
    reading = read(b"a,b,c\nx,y,\ny,y,\n")
    assert reading.votes.learners == ("a", "b")
    assert "'c' was left out: it has no votes" in text(reading)


def test_two_possible_truths_are_both_left_out_and_never_become_learners():
    reading = read(b"id,a,b,label,truth\n1,x,y,x,x\n2,y,y,x,y\n")
    assert reading.votes.learners == ("a", "b")
    assert reading.votes.truth is None
    assert "could all be the truth, so none was taken" in text(reading)
    assert read_votes(b"id,a,b,label,truth\n1,x,y,x,x\n2,y,y,x,y\n", truth="truth").truth.tolist() == [0, 1]


def test_pandas_index_column_names_the_rows():
    buffer = io.BytesIO()
    pd.DataFrame({"a": ["x", "y"], "b": ["y", "y"]}, index=["r1", "r2"]).to_csv(buffer)
    reading = read(buffer)
    assert list(reading.votes.ids) == ["r1", "r2"]
    assert "The unnamed first column names the rows" in text(reading)


def test_a_trailing_delimiter_makes_no_column():
    reading = read(b"a,b,\nx,y,\ny,y,\n")
    assert reading.votes.learners == ("a", "b")
    assert "'column 3' was left out: it has no name and no values" in text(reading)


def test_header_cells_are_trimmed_and_kept_as_spelled_in_the_source():
    reading = read(b" a , b\nx,y\ny,y\n")
    assert reading.votes.learners == ("a", "b")
    assert reading.source.header == (" a ", " b")


def test_blank_lines_are_skipped_and_counted():
    reading = read(b"\n\na,b\nx,y\n\n\ny,y\n\n\n")
    assert reading.votes.n_rows == 2
    assert "Skipped 4 blank lines" in text(reading)
    assert "blank line" not in text(read(b'a,b\n"x\n\n",y\ny,y\ny,y\n'))


def test_default_pandas_names_are_a_header_and_labels_as_names_are_doubted():
    assert "looks like labels" not in text(read(b"0,1,2\n1,1,2\n2,1,1\n0,0,1\n"))
    assert "looks like labels" in text(read(b"2,1,0\n1,1,2\n2,1,1\n0,0,1\n"))


def test_repeated_ids_are_warned_about():
    assert "1 row repeats an id" in text(read(b"id,a,b\n1,x,y\n1,y,y\n"))


def test_rows_without_votes_stay_and_are_named():
    reading = read(b"a,b\nx,y\n,\ny,y\nNA,\n")
    assert reading.votes.n_rows == 4
    assert "2 rows without any vote: no label can be given (rows 2, 4)" in text(reading)


def test_truth_labels_that_nobody_votes_for_are_kept_apart():
    reading = read(b"a,b,label\nx,y,z\ny,y,y\nx,x,\n")
    assert reading.votes.classes.tolist() == ["x", "y"]
    assert reading.votes.truth.tolist() == [2, 1, -1]
    assert "no learner votes for it (row 1)" in text(reading)
    assert "The truth is known for 2 of 3 rows" in text(reading)


def test_ignored_columns_are_neither_learners_nor_truth():
    reading = read(GOOD.replace("b,label", "b,c").encode(), ignore=["c"])
    assert reading.votes.learners == ("a", "b")
    assert read(GOOD.encode(), ignore="label").votes.truth is None


def test_the_source_keeps_every_cell_as_it_was():
    content = b'id,a,b\n007, x ,"y,1"\n1e3,"x",x\n\xf0\x9f\x90\x8d,=1+1,"y,1"\n'
    source = read(content, learners=["a", "b"]).source
    assert source.table.select(["id"]).to_pydict() == {"id": ["007", "1e3", "🐍"]}
    assert source.text("a").to_pylist() == [" x ", "x", "=1+1"]
    assert source.text("b").to_pylist() == ["y,1", "x", "y,1"]


def test_repeating_columns_keep_their_text_in_the_source():
    rows = "".join(f"x{at % 3}, x{at % 2} \n" for at in range(400))
    source = read(f"a,b\n{rows}".encode()).source
    assert source.text("b").to_pylist() == [f" x{at % 2} " for at in range(400)]


def test_very_long_cells_are_read():
    long_cell = "word " * 2_000_000
    votes = read_votes(f'a,b,text\nx,y,"{long_cell}"\ny,y,short\n'.encode())
    assert votes.n_rows == 2


def test_order_of_rows_and_learners_is_the_files():
    votes = read_votes(b"z,a,m,id\nx,y,x,9\ny,y,x,1\n")
    assert votes.learners == ("z", "a", "m")
    assert list(votes.ids) == ["9", "1"]


def test_the_report_is_plain_json_and_tells_the_memory():
    import json

    report = read(GOOD.encode()).report
    content = json.loads(json.dumps(report.to_dict()))
    assert content["notes"] == report.sentences()
    assert content["held_bytes"] > 0
    assert report.column("truth") == "label"
    assert report.column("worker") is None


def test_large_ensembles_read_as_they_were_written(large_data: Path):
    import numpy as np

    n_sets = 0
    for path in sorted(large_data.glob("*.npz")):
        stored = np.load(path)
        source = large_data / f"{path.stem}.csv.gz"
        if "P" in stored:
            continue
        with gzip.open(source) as stream:
            if not stream.readline().startswith(b"id,"):
                continue
        votes = read_votes(source)
        names = [*stored["classes"].tolist()] if "classes" in stored else list(map(str, range(int(stored["K"]))))
        ours = np.array([*(str(label) for label in [*votes.classes, *votes.truth_only]), ""], object)
        theirs = np.array([*names, ""], object)
        assert (ours[votes.codes] == theirs[stored["X"]]).all(), path.stem
        assert votes.learners == tuple(stored["learners"])
        assert (ours[votes.truth] == theirs[stored["y"]]).all(), path.stem
        n_sets += 1
    assert n_sets


def test_with_known_classes_few_rows_are_enough_and_strangers_are_left_out():
    reading = read(b"id,a,b,note\n1,x,y,hello\n2,x,q,there\n", classes=["x", "y", "z"])
    assert reading.votes.learners == ("a", "b")
    assert {"x", "y", "z"} <= set(map(str, reading.votes.classes))
    assert labels(reading.votes) == [["x", "y"], ["x", "q"]]
    assert "its values ('hello', 'there', …) do not look like labels" in text(reading)
