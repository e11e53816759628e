"""JSON records: wide, long, nested votes and probabilities, one per line or in a list."""

import gzip
import json

import pytest

from deem_core import InputError, cli, fuse
from deem_core.answers import export
from deem_core.readers import read

WIDE = [
    {"id": f"q{i}", "g": "xy"[i % 2], "c": "xy"[i % 3 == 0], "d": "xy"[i % 2], "label": "xy"[i % 2]} for i in range(12)
]


def lines(records):
    return "\n".join(json.dumps(record) for record in records).encode()


def text(reading):
    return " ".join(reading.report.sentences())


@pytest.mark.parametrize(
    "content",
    [
        lines(WIDE),
        lines(WIDE) + b"\n\n",
        b"\xef\xbb\xbf" + lines(WIDE),
        lines(WIDE).replace(b"\n", b"\r\n"),
        json.dumps(WIDE).encode(),
        json.dumps(WIDE, indent=2).encode(),
        json.dumps({"data": WIDE}, indent=1).encode(),
        gzip.compress(lines(WIDE)),
        lines(WIDE).decode().encode("utf-16"),
    ],
    ids=["lines", "blank lines", "mark", "crlf", "list", "indented", "wrapped", "gzip", "utf-16"],
)
def test_flat_records_are_read_as_a_wide_file(content):
    reading = read(content)
    assert reading.report.layout == "wide"
    assert reading.votes.learners == ("g", "c", "d")
    assert reading.votes.n_rows == 12
    assert list(reading.votes.ids[:2]) == ["q0", "q1"]
    assert (reading.votes.truth >= 0).all()
    assert "JSON records" in text(reading)


def test_answers_in_lines_of_their_own_are_read_as_a_long_file():
    reading = read(lines([{"item": i, "judge": j, "label": "xy"[i % 2]} for i in range(4) for j in "gcd"]))
    assert reading.report.layout == "long"
    assert reading.votes.learners == ("g", "c", "d")


NESTED = [
    {"g": "x", "c": "y", "d": "x"},
    [{"judge": "g", "label": "x"}, {"judge": "c", "label": "y"}, {"judge": "d", "label": "x"}],
    [{"model": "g", "answer": "x"}, {"model": "c", "answer": "y"}, {"model": "d", "answer": "x"}],
    {"g": {"label": "x"}, "c": {"label": "y"}, "d": {"label": "x"}},
]


@pytest.mark.parametrize("votes", NESTED)
def test_nested_votes_become_a_column_per_learner(votes):
    reading = read(lines([{"id": f"q{i}", "text": f"question {i}", "votes": votes} for i in range(6)]))
    assert reading.votes.learners == ("g", "c", "d")
    assert reading.votes.codes[0].tolist() == [0, 1, 0]
    assert list(reading.votes.ids[:2]) == ["q0", "q1"]
    assert reading.source.text("text")[0].as_py() == "question 0"


def test_who_votes_once_is_a_learner_where_the_records_say_so():
    records = [{"id": i, "votes": {"g": "x", "c": "y"}} for i in range(6)] + [
        {"id": 9, "votes": {"g": "y", "rare": "z"}}
    ]
    assert read(lines(records)).votes.learners == ("g", "c", "rare")


@pytest.mark.parametrize("held", [lambda p: p, lambda p: {"probs": p}, lambda p: {"votes": p}])
def test_probabilities_by_class_are_soft_votes(held):
    both = {"g": {"x": 0.9, "y": 0.1}, "c": {"x": 0.3, "y": 0.7}}
    reading = read(lines([{"id": "a", **held(both)}, {"id": "b", **held(both)}]))
    assert reading.report.layout == "soft"
    assert reading.votes.soft[0, 0].tolist() == pytest.approx([0.9, 0.1])


def test_a_label_and_a_probability_in_nested_votes_are_one_soft_vote():
    votes = [{"judge": "g", "label": "x", "prob": 0.9}, {"judge": "c", "label": "y", "prob": 0.6}]
    reading = read(lines([{"id": i, "votes": votes} for i in range(5)]))
    assert reading.votes.learners == ("g", "c")
    assert reading.votes.soft[0, 1].tolist() == pytest.approx([0.4, 0.6])


def test_fields_that_are_no_votes_keep_their_spelling():
    more = {"n": 1.5, "tags": ["p", 2], "meta": {"len": 7, "ok": True}, "no": None}
    reading = read(lines([record | more for record in WIDE]))
    cells = {name: reading.source.text(name)[0].as_py() for name in reading.source.columns}
    assert cells["n"] == "1.5"
    assert cells["tags"] == '["p", 2]'
    assert (cells["meta.len"], cells["meta.ok"], cells["no"]) == ("7", "true", "")
    raw = b'{"a":"x","b":"y","n":1.50}\n{"a":"y","b":"y","n":12345678901234567890123}'
    assert read(raw).source.text("n").to_pylist() == ["1.50", "12345678901234567890123"]


def test_votes_without_names_are_numbered_with_a_warning():
    reading = read(lines([{"id": i, "votes": ["x", "y", "x"]} for i in range(5)]))
    assert reading.votes.n_learners == 3
    assert "have no names" in " ".join(reading.report.sentences("warning"))


def test_half_a_character_does_not_stop_the_reading():
    assert read(b'{"a":"\\ud800","b":"x","c":"y"}\n{"a":"q","b":"y","c":"y"}\n').votes.learners == ("b", "c")


def test_records_are_not_taken_from_a_table_that_begins_alike():
    assert read(b'a,b\n"{x",y\ny,y\n"{x",y\n').report.layout == "wide"


def test_too_many_fields_are_refused_by_line():
    with pytest.raises(InputError, match="more than 5,000 different fields"):
        read(lines([{f"w{i}_{j}": "x" for j in range(600)} for i in range(10)]))


def test_fused_records_come_back_with_their_cells():
    reading = read(lines(WIDE))
    table = export.fused_table(reading, fuse(reading.votes, method="mv"))
    assert table.column("id").to_pylist()[:2] == ["q0", "q1"]
    assert "fused_label" in table.column_names


def test_the_command_line_reads_records_and_says_that_they_are_not_streamed(tmp_path, capsys):
    path, out = tmp_path / "votes.jsonl", tmp_path / "fused.csv"
    path.write_bytes(lines(WIDE))
    assert cli.main(["fuse", str(path), "--method", "mv", "-o", str(out)]) == 0
    assert out.read_text().startswith("id,g,c,d,label,fused_label")
    assert cli.main(["fuse", str(path), "--method", "mv", "-o", str(out), "--stream"]) == 2
    assert "read whole" in capsys.readouterr().err
