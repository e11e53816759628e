"""Fused labels in the formats of other tools: what is in the files, and what strangers' names can do there."""

import json

import numpy as np
import pyarrow.parquet
import pytest
import yaml

import deem_core
from deem_core import InputError, cli, fuse, read
from deem_core.answers import writers
from deem_core.answers.writers import Names, check_output, format_name
from deem_core.answers.writers.card import plain

NASTY = (
    "id,text,ann,bob,cy,truth\n"
    '7,"=1+1 ""quoted"" \u2028 <script>",cat,cat,"x\ny",cat\n'
    "8,# heading,cat,cat,cat,cat\n"
    '12,"---\nlicense: mine","x\ny","x\ny","x\ny",cat\n'
    "13,no votes at all,,,,\n"
)


@pytest.fixture
def nasty(tmp_path):
    path = tmp_path / "a*b`c.csv"
    path.write_text(NASTY, encoding="utf-8", newline="")
    reading = read(path, truth="truth", learners=["ann", "bob", "cy"], id="id")
    return reading, fuse(reading.votes, "mv")


# ---------------------------------------------------------------------- which format


def test_the_ending_or_a_name_says_the_format(tmp_path):
    endings = {"a.csv": "csv", "A.CSV.GZ": "csv", "a.tsv": "tsv", "a.parquet": "parquet", "a.jsonl.gz": "jsonl"}
    endings |= {"a.json": "label-studio"}
    assert {name: format_name(name) for name in endings} == endings
    assert check_output(tmp_path / "folder", "huggingface") == "huggingface"
    for name, form, words in (
        ("a.xlsx", None, "end the name with .csv"),
        ("folder", None, "or name a format"),
        ("a.csv", "jsonl", r"ends with .jsonl or .jsonl.gz"),
        ("a.csv", "huggingface", "is a folder"),
        ("a.csv", "arrow", "no format 'arrow'"),
    ):
        with pytest.raises(InputError, match=words):
            format_name(name, form)


def test_a_dataset_folder_is_never_written_over_anything(tmp_path, nasty):
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "mine.txt").write_text("mine")
    for place, words in ((taken, "not empty"), (taken / "mine.txt", "is a file"), (tmp_path / "a" / "b", "not exist")):
        with pytest.raises(InputError, match=words):
            nasty[1].export(nasty[0], place, format="huggingface")
    assert [each.name for each in taken.iterdir()] == ["mine.txt"]
    (tmp_path / "empty").mkdir()
    nasty[1].export(nasty[0], tmp_path / "empty", format="huggingface")
    assert (tmp_path / "empty" / "README.md").exists()
    assert not list(tmp_path.glob(".*part"))


# ---------------------------------------------------------------------- JSON lines


def test_json_lines_hold_the_fused_table(nasty, tmp_path):
    reading, answer = nasty
    answer.export(reading, tmp_path / "out.jsonl")
    lines = (tmp_path / "out.jsonl").read_text(encoding="utf-8").split("\n")
    rows = [json.loads(line) for line in lines[:-1]]
    assert (len(rows), lines[-1]) == (4, "")
    assert [row["id"] for row in rows] == ["7", "8", "12", "13"]
    assert rows[0]["text"] == '=1+1 "quoted" \u2028 <script>'
    assert [row["fused_label"] for row in rows] == ["cat", "cat", "x\ny", None]
    assert rows[0]["confidence"] == pytest.approx(2 / 3, abs=1e-6)
    assert rows[3]["confidence"] is None
    assert rows[1]["needs_review"] in (True, False)
    assert rows[0]["p_x\ny"] == pytest.approx(1 / 3, abs=1e-6)
    answer.export(reading, tmp_path / "out.jsonl.gz")
    assert deem_core.read(tmp_path / "out.jsonl.gz", learners=["ann", "bob"]).votes.n_rows == 4


def test_large_files_are_written_as_json_lines_in_parts(tmp_path, capsys):
    whole, parts = tmp_path / "whole.jsonl", tmp_path / "parts.jsonl"
    words = ["fuse", "sample_data/experts_wide.csv", "--method", "mv"]
    assert cli.main([*words, "-o", str(whole)]) == cli.main([*words, "-o", str(parts), "--stream"]) == 0
    assert whole.read_bytes() == parts.read_bytes()
    assert cli.main([*words, "-o", str(tmp_path / "out.json"), "--stream"]) == 2
    assert "--no-stream" in capsys.readouterr().err


# ---------------------------------------------------------------------- Label Studio


def test_label_studio_gets_tasks_with_predictions(nasty, tmp_path):
    reading, answer = nasty
    answer.export(reading, tmp_path / "out.json", names=Names("sentiment", "doc", "mine 1"))
    tasks = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert [task["id"] for task in tasks] == [7, 8, 12, 13]
    assert tasks[0]["data"] == {"id": "7", "text": '=1+1 "quoted" \u2028 <script>'}
    prediction = tasks[0]["predictions"][0]
    assert prediction["score"] == pytest.approx(2 / 3, abs=1e-6)
    assert prediction["model_version"] == "mine 1"
    assert prediction["result"] == [
        {"from_name": "sentiment", "to_name": "doc", "type": "choices", "value": {"choices": ["cat"]}}
    ]
    assert tasks[3]["predictions"] == []
    assert "truth" not in json.dumps(tasks)


def test_only_whole_numbers_are_ids_of_tasks(tmp_path):
    for cells, numbered in ((("1", "2"), True), (("01", "2"), False), (("1", "x"), False), (("1.0", "2"), False)):
        path = tmp_path / "votes.csv"
        path.write_text(f"id,a,b,c\n{cells[0]},x,y,x\n{cells[1]},y,y,x\n")
        reading = read(path, id="id")
        task = next(writers.label_studio.tasks(reading, fuse(reading.votes, "mv"), Names()))
        assert ("id" in task) == numbered, cells
        assert task["predictions"][0]["model_version"] == f"deem-studio {deem_core.__version__} majority vote"
        assert task["data"] == {"id": cells[0]}


def test_doubtful_rows_can_go_without_prediction(nasty, tmp_path):
    reading, answer = nasty
    answer.export(reading, tmp_path / "out.json", review_below=0.9, blank=True)
    tasks = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert [len(task["predictions"]) for task in tasks] == [0, 1, 1, 0]
    with pytest.raises(InputError, match="may not be empty"):
        Names(" ")


@pytest.fixture
def several(tmp_path):
    """A file whose cells hold several labels, with an answer: one label, two, none, and no vote."""
    path = tmp_path / "several.csv"
    path.write_text("id,text,a,b,c\n1,one two three four,x,x,x\n2,b b b b,x|y,y|x,x\n3,c c c c,[],[],x\n4,d d d d,,,\n")
    reading = read(path, multilabel=True, learners=["a", "b", "c"], id="id")
    return reading, fuse(reading.votes, "mv")


def test_several_labels_are_several_choices(several, tmp_path):
    reading, answer = several
    answer.export(reading, tmp_path / "out.json")
    tasks = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    told = [[one["result"] for one in task["predictions"]] for task in tasks]
    assert [[part["value"]["choices"] for part in result] for each in told for result in each] == [
        [["x"]],
        [["x", "y"]],
        [],  # none applies: a prediction without a choice
    ]
    assert tasks[3]["predictions"] == []


def test_several_labels_are_lists_of_classes_in_a_dataset(several, tmp_path):
    reading, answer = several
    answer.export(reading, tmp_path / "set", format="huggingface")
    table = pyarrow.parquet.read_table(tmp_path / "set" / "data" / "train-00000-of-00001.parquet")
    assert table["fused_label"].to_pylist() == table["majority_vote"].to_pylist() == [[0], [0, 1], [], None]
    features = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
    assert features["fused_label"] == {"feature": {"names": ["x", "y"], "_type": "ClassLabel"}, "_type": "Sequence"}
    header = yaml.safe_load((tmp_path / "set" / "README.md").read_text(encoding="utf-8").split("---")[1])
    told = {each["name"]: each for each in header["dataset_info"]["features"]}
    assert told["fused_label"]["sequence"] == {"class_label": {"names": {"0": "x", "1": "y"}}}
    assert header["task_ids"] == ["multi-label-classification"]


def test_long_files_become_a_task_each(tmp_path, capsys):
    out = tmp_path / "out.json"
    words = ["fuse", "sample_data/crowd_long.csv", "--method", "mv", "-o", str(out), "--to-name", "image"]
    assert cli.main(words) == 0
    tasks = json.loads(out.read_text())
    assert len(tasks) == 800
    assert list(tasks[0]["data"]) == ["task"]
    assert tasks[0]["predictions"][0]["result"][0]["to_name"] == "image"
    assert cli.main([*words[:-4], "-o", str(tmp_path / "out.csv"), "--to-name", "image"]) == 2
    assert "--to-name is for --format label-studio" in capsys.readouterr().err


# ---------------------------------------------------------------------- Hugging Face


def card_of(folder):
    text = (folder / "README.md").read_text(encoding="utf-8")
    _, header, body = text.split("---\n", 2)
    return yaml.safe_load(header), body


def test_a_dataset_folder_has_class_labels_and_a_card_that_tells_the_same(nasty, tmp_path):
    reading, answer = nasty
    answer.export(reading, tmp_path / "hub", format="huggingface")
    file = tmp_path / "hub" / "data" / "train-00000-of-00001.parquet"
    table = pyarrow.parquet.read_table(file)
    assert table["fused_label"].to_pylist() == [0, 0, 1, None]
    assert table["majority_vote"].to_pylist() == [0, 0, 1, None]
    assert table["text"].to_pylist()[0].startswith("=1+1")
    features = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
    names = ["cat", "x\ny"]
    assert features["fused_label"] == {"names": names, "_type": "ClassLabel"}
    assert features["text"] == {"dtype": "string", "_type": "Value"}
    header, body = card_of(tmp_path / "hub")
    info = header["dataset_info"]
    assert [each["name"] for each in info["features"]] == table.column_names
    told = {each["name"]: each["dtype"] for each in info["features"]}
    assert told["fused_label"] == {"class_label": {"names": dict(zip("01", names, strict=True))}}
    assert (told["confidence"], told["needs_review"]) == ("float64", "bool")
    assert info["splits"] == [{"name": "train", "num_bytes": info["dataset_size"], "num_examples": 4}]
    assert info["download_size"] == file.stat().st_size
    assert header["configs"][0]["data_files"] == [{"split": "train", "path": "data/train-*"}]
    assert header["task_categories"] == ["text-classification"]
    assert "license" not in header
    assert "4 rows × 3 learners × 2 classes" in body
    assert "1 row has no vote and gets no label." in body
    assert "Evaluation only: right on 66.7% of 3 rows" in body
    assert "# Fused labels of a\\*b\\`c.csv" in body


def test_names_of_strangers_stay_text_in_a_card(tmp_path):
    evil = 'x"\n---\nlicense: evil\n# owned <img src=x onerror=alert(1)> [a](http://b) \U0001f600\x85\u2028'
    labels = np.array([[evil, evil, "ok"], ["ok", "ok", evil]], object)
    votes = deem_core.Votes.from_labels(labels, learners=["- [click](javascript:1)", "<b>", "c"])
    reading = read(_csv_of(votes, tmp_path), learners=list(votes.learners))
    fuse(reading.votes, "mv").export(reading, tmp_path / "hub", format="huggingface")
    header, body = card_of(tmp_path / "hub")
    info = {each["name"]: each["dtype"] for each in header["dataset_info"]["features"]}
    classes = [str(label) for label in reading.votes.classes.tolist()]
    assert list(info["fused_label"]["class_label"]["names"].values()) == classes
    assert "license" not in header
    for mark in ("<img", "<b>", "[a]", "[click]", "http://"):
        assert mark not in body, mark
    assert "\n# owned" not in body


def _csv_of(votes, folder):
    from deem_core.files import tables

    tables.write(tables.wide_table(votes), folder / "evil.csv")
    return folder / "evil.csv"


def test_what_is_plain_is_left_alone():
    assert plain("Dawid-Skene, 93.4% (a: b)") == "Dawid-Skene, 93.4% (a: b)"
    assert plain("*a* http://b www.c") == r"\*a\* http\://b www\.c"
    assert plain("- a\n- b") == r"\- a - b"


def test_a_dataset_is_split_into_files_of_bounded_size(tmp_path, monkeypatch):
    monkeypatch.setattr(writers.hub_folder, "SHARD_ROWS", 300)
    monkeypatch.setattr(writers.hub_folder, "PART_ROWS", 200)
    reading = read("sample_data/judges_text.csv", truth="label", gold=None)
    answer = fuse(reading.votes, "ds")
    answer.export(reading, tmp_path / "hub", format="huggingface", review_share=0.25, blank=True)
    files = sorted((tmp_path / "hub" / "data").iterdir())
    assert [file.name for file in files] == ["train-00000-of-00002.parquet", "train-00001-of-00002.parquet"]
    tables = [pyarrow.parquet.read_table(file) for file in files]
    assert [table.num_rows for table in tables] == [300, 100]
    codes = np.concatenate([table["fused_label"].to_numpy() for table in tables])
    doubtful = answer.reviewing(0.25).doubtful
    assert np.isnan(codes[doubtful]).all()
    assert (codes[~doubtful] == answer.codes[~doubtful]).all()
