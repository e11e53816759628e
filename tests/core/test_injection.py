"""Whatever a file calls its rows, learners and classes: no file that we write does anything when it is opened."""

import csv
import gzip
import html
import io
import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deem_core import ask, compare, fuse, read, report, scorecard
from deem_core.answers.export import write, write_fused
from deem_core.cli import main
from deem_core.files.spreadsheet import as_typed
from deem_core.readers.gold import read_gold
from deem_core.readers.label_file import read_labels, write_labels
from deem_core.readers.label_table import LabelRow
from deem_core.runs import Workspace
from deem_core.runs.answer_book import AnswerBook, Reply
from deem_core.runs.answer_file import written
from tests.in_process import done

LIVE = (
    *("=1+1", "+1-1+A1", "-1+cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", "＝1+1", ' =HYPERLINK("http://x.y")', "-x"),
    *(
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "</script><b>",
        '"><svg onload=alert(1)>',
        "&lt;b&gt;",
    ),
    *(
        "**bold** [a](http://x.y)",
        "$x^2$ :red[y] :smile:",
        "a\u202eb",
        "\u2067c",
        "{{ 7*7 }}",
        "{% raw %}",
        "';--",
        '=x,y;"z"',
    ),
)
SHEET = re.compile(r"^[\s\u200b\ufeff]*[=+\-@＝＋－＠]")
NUMBER = re.compile(r"^\s*[+-]?[\d.,]+(?:[eE][+-]?\d+)?\s*%?\s*$|^\s*[+-]\s*$")


def file_of(names, labels, ids, texts) -> bytes:
    """A wide file of 24 rows with such names."""
    rng = np.random.default_rng(0)
    truth = rng.integers(len(labels), size=24)
    codes = np.where(
        rng.random((24, len(names))) < 0.8, truth[:, None], rng.integers(len(labels), size=(24, len(names)))
    )
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow(["id", "note", *names, "label"])
    for row in range(24):
        cells = [labels[code] for code in codes[row]]
        writer.writerow([f"{ids[row % len(ids)]}{row}", texts[row % len(texts)], *cells, labels[truth[row]]])
    return sink.getvalue().encode()


@pytest.fixture(scope="module")
def reading():
    names = ("ann", *LIVE[:2], LIVE[8], LIVE[11], LIVE[14], LIVE[15], LIVE[18])
    data = file_of(names, (LIVE[0], LIVE[3], LIVE[9], LIVE[14]), LIVE, LIVE)
    return read(data, ignore=["note"], learners=list(names), id="id", truth="label")


def cells_of(text: str, delimiter: str = ",") -> list[str]:
    return [cell for row in csv.reader(io.StringIO(text), delimiter=delimiter) for cell in row]


def expect_harmless(cells) -> None:
    assert [cell for cell in cells if SHEET.match(cell) and not NUMBER.match(cell)] == []
    assert [cell for cell in cells if cell[:1] in "\t\r\n" and cell] == []


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz"])
def test_no_cell_of_a_fused_file_is_a_formula(reading, tmp_path, ending):
    path = tmp_path / f"fused{ending}"
    write_fused(reading, fuse(reading.votes, "mv"), path, probabilities=True)
    data = path.read_bytes()
    text = (gzip.decompress(data) if ending.endswith("gz") else data).decode()
    cells = cells_of(text, "\t" if ending == ".tsv" else ",")
    assert any("1+1" in cell for cell in cells)
    expect_harmless(cells)


def test_parquet_keeps_every_text_as_it_was(reading, tmp_path):
    write_fused(reading, fuse(reading.votes, "mv"), tmp_path / "fused.parquet")
    table = pq.read_table(tmp_path / "fused.parquet")
    assert set(table["fused_label"].to_pylist()) <= set(map(str, reading.votes.classes))
    for column in ("id", "note", LIVE[0]):
        assert table[column].to_pylist() == reading.source.text(column).to_pylist()


def test_queues_scorecards_and_tables_hold_no_formula(reading, tmp_path):
    import pyarrow as pa

    answer = fuse(reading.votes, "mv")
    frames = {
        "queue": ask(answer, 5).to_frame(reading.votes),
        "scorecard": scorecard(answer).to_frame(),
        "answer": answer.to_frame().reset_index(),
        "methods": pd.DataFrame(compare(reading.votes, ["mv", "ds"], seeds=1).to_dict()["methods"]).astype(str),
    }
    for name, frame in frames.items():
        write(pa.Table.from_pandas(frame, preserve_index=False), tmp_path / f"{name}.csv")
        cells = cells_of((tmp_path / f"{name}.csv").read_text())
        assert len(cells) > 5
        expect_harmless(cells)


def test_reviewers_answers_are_harmless_and_come_back(reading, tmp_path):
    votes = reading.votes
    book, classes = AnswerBook(tmp_path / "book.jsonl"), list(map(str, votes.classes))
    for row in range(8):
        label = classes[row % len(classes)]
        book.add(Reply(row=row, id=str(votes.ids[row]), label=label, reviewer="=ann()", time=float(row)))
    ledger = book.labels(votes.without_truth())
    expect_harmless(cells_of(written(ledger).decode()))
    for data in (written(ledger), ledger.snapshot()):
        gold = read_gold(data, votes.without_truth()).gold
        assert [classes[code] for code in gold.codes[:8]] == [classes[row % len(classes)] for row in range(8)]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=12), min_size=2, max_size=6)
)
def test_label_files_are_harmless_and_come_back(tmp_path_factory, texts):
    labels = list(dict.fromkeys(text.strip() for text in (*texts, *LIVE) if text.strip() and as_typed(text) == text))
    rows = [LabelRow(label, label, 1, 1) for label in labels]
    path = tmp_path_factory.mktemp("labels") / "labels.csv"
    write_labels(rows, path)
    expect_harmless(cells_of(path.read_text(encoding="utf-8")))
    assert [label for label, _ in read_labels(path)] == labels


class Tags(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_a_report_holds_names_and_none_of_their_markup(tmp_path):
    workspace, path = Workspace(tmp_path / "home"), tmp_path / "report.html"
    names = ("ann", LIVE[0], LIVE[8], LIVE[9], LIVE[11])
    data = workspace.add_dataset("=1+1<b>$x$.csv", file_of(names, ("<b>x</b>", "=1", "{{ 7*7 }}"), LIVE, LIVE))
    run = done(workspace, "train", data, {"method": "irbm", "random_state": 0}, "<i>title</i> {{ 7*7 }}")
    report(run, workspace).write(path)
    text = path.read_text(encoding="utf-8")
    tags = Tags(text).found
    assert not [tag for tag, attrs in tags if tag in {"img", "svg"} and ("onerror" in attrs or "onload" in attrs)]
    assert not [attrs for _, attrs in tags if any(name.startswith("on") for name in attrs)]
    assert "alert(1)</script>" not in text
    assert html.escape(LIVE[9]) in text or "onerror" in html.unescape(text)
    assert "{{ 7*7 }}" in html.unescape(text)
    assert ">49<" not in text


def test_json_of_commands_is_json_with_the_names_as_they_are(tmp_path):
    data, out = tmp_path / "votes.csv", tmp_path / "out.json"
    names = ("ann", LIVE[0], LIVE[8], LIVE[16], LIVE[20])
    data.write_bytes(file_of(names, (LIVE[9], LIVE[0], LIVE[16]), LIVE, LIVE))
    common = [str(data), "--ignore", "note", "--json", str(out)]
    for command in (["fuse", *common, "-o", str(tmp_path / "fused.csv")], ["compare", *common, "--methods", "mv"]):
        assert main(command) == 0
        told = json.loads(out.read_text(encoding="utf-8"))
        assert told
    assert LIVE[8] in out.read_text(encoding="utf-8") or json.dumps(LIVE[8])[1:-1] in out.read_text(encoding="utf-8")


STEERING = "\x1b]0;zq\x07\x1b[31m\u202e"
"""Sets the title of a terminal, turns its text red and its line round."""


def test_nothing_that_is_printed_steers_a_terminal(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("DEEM_HOME", str(tmp_path / "home"))
    data, rng = tmp_path / f"votes{STEERING}.jsonl", np.random.default_rng(0)
    truth = rng.integers(2, size=40)
    codes = np.where(rng.random((40, 3)) < 0.8, truth[:, None], rng.integers(2, size=(40, 3)))
    names, labels = [f"{STEERING}{name}" for name in ("ann", "bob", "cy")], (f"x{STEERING}", f"y{STEERING}")
    records = [
        {f"id{STEERING}": f"{row}{STEERING}", **{name: labels[code] for name, code in zip(names, votes, strict=True)}}
        for row, votes in enumerate(codes)
    ]
    data.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    out = str(tmp_path / f"fused{STEERING}.csv")
    lines = (
        ["describe", str(data)],
        ["fuse", str(data), "-o", out],
        ["compare", str(data), "--methods", "mv,ds", "--seeds", "1"],
        ["ask", str(data), "-n", "3", "-o", out],
        ["fuse", str(data), "-o", out, "--truth", f"none{STEERING}"],
        ["fuse", str(data), "-o", out, f"--{STEERING}"],
        ["describe", str(tmp_path / STEERING)],
    )
    codes = [main(line) for line in lines]
    assert codes == [0, 0, 0, 0, 2, 2, 2]
    printed = capsys.readouterr()
    for text in (printed.out, printed.err):
        assert "\\x1b]0;zq" in text
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]", text)
