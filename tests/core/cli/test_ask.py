"""ask as a command, and gold labels handed to fuse."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from deem_core import cli, simulation
from deem_core.files import tables

ROOT = Path(__file__).resolve().parents[3]
CROWD = ROOT / "sample_data" / "crowd_long.csv"


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    """Return a complete file of 400 rows with truth."""
    path = tmp_path_factory.mktemp("ask") / "votes.csv"
    tables.write(tables.wide_table(simulation.simulate("ampdata", 400, 3).votes), path)
    return path


@pytest.fixture(scope="module")
def asked(file) -> Path:
    """Return a queue of 20 rows, filled in with the truth."""
    path = file.with_name("asked.csv")
    assert cli.main(["ask", str(file), "-o", str(path)]) == 0
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    truth = pd.read_csv(file, dtype=str)["label"]
    return write(frame.assign(gold_label=[truth[int(row) - 1] for row in frame["row"]]), path)


@pytest.fixture
def queue(asked, tmp_path) -> Path:
    """Return that queue, to be changed at will."""
    return Path(shutil.copy(asked, tmp_path / "queue.csv"))


def write(frame: pd.DataFrame, path: Path) -> Path:
    frame.to_csv(path, index=False)
    return path


def run(capsys, *arguments) -> str:
    code = cli.main([str(argument) for argument in arguments])
    told = capsys.readouterr()
    assert (code, told.err) == (0, "")
    return told.out


def refused(capsys, *arguments) -> str:
    """Return the one sentence or two with which a command is refused."""
    code = cli.main([str(argument) for argument in arguments])
    told = capsys.readouterr()
    assert (code, told.out) == (2, "")
    assert len(told.err.splitlines()) == 1
    return told.err


# ---------------------------------------------------------------------- the loop


def test_a_queue_that_is_filled_in_is_used(capsys, file, queue, tmp_path):
    out, result = tmp_path / "fused.csv", tmp_path / "fused.json"
    told = run(capsys, "fuse", file, "--gold-file", queue, "-o", out, "--json", result)
    assert "Used 20 gold rows" in told
    content = json.loads(result.read_text())
    assert (content["gold"]["n_gold"], content["gold"]["asked"]) == (20, True)
    assert content["evaluation"]["rows"] == 400 - 20  # what is used is not evaluated on
    fused, asked = pd.read_csv(out, dtype=str), pd.read_csv(queue, dtype=str)
    rows = asked["row"].astype(int) - 1
    assert fused["gold_label"].notna().sum() == 20
    assert fused["gold_label"][rows].tolist() == fused["fused_label"][rows].tolist() == asked["gold_label"].tolist()
    right = (fused["fused_label"] == fused["label"])[fused["gold_label"].isna()].mean()
    assert content["accuracy"] == pytest.approx(right)


def test_a_queue_holds_the_votes_and_leaves_the_answer_empty(capsys, file, tmp_path):
    told = run(capsys, "ask", file, "-o", tmp_path / "queue.csv", "-n", "25", "--json", tmp_path / "queue.json")
    assert told.startswith("25 rows to label. The methods differ on ")
    frame = pd.read_csv(tmp_path / "queue.csv", dtype=str)
    votes = pd.read_csv(file, dtype=str)
    learners = [name for name in votes.columns if name not in ("id", "label")]
    assert list(frame.columns) == ["row", "id", "gold_label", "asked", "why", "likeliest", "second", *learners]
    assert "label" not in frame.columns
    assert frame["gold_label"].isna().all()
    rows = frame["row"].astype(int) - 1
    assert frame[learners].equals(votes.loc[rows, learners].reset_index(drop=True))
    assert set(frame["asked"]) == {"disputed", "check"}
    assert json.loads((tmp_path / "queue.json").read_text())["rows"] == rows.tolist()


def test_rows_that_are_known_are_not_asked_again(capsys, file, queue, tmp_path):
    told = run(capsys, "ask", file, "--gold-file", queue, "-n", "30", "-o", tmp_path / "more.csv")
    assert "30 rows to label, besides 20 gold rows." in told
    known, more = (set(pd.read_csv(path)["row"]) for path in (queue, tmp_path / "more.csv"))
    assert not known & more
    assert len(more) == 30


def test_a_column_is_gold_if_it_is_named(capsys, file, tmp_path):
    frame = pd.read_csv(file, dtype=str)
    frame["known"] = frame["label"].where(frame.index < 30, "")
    path = write(frame, tmp_path / "known.csv")
    told = run(capsys, "fuse", path, "--gold", "known", "-o", tmp_path / "fused.csv", "--json", tmp_path / "out.json")
    assert "Used 30 gold rows" in told
    assert json.loads((tmp_path / "out.json").read_text())["evaluation"]["rows"] == 370


def test_training_and_comparing_with_gold_say_so_too(capsys, file, queue, tmp_path):
    model, result = tmp_path / "model.safetensors", tmp_path / "train.json"
    told = run(capsys, "train", file, "--gold-file", queue, "--method", "gds", "-o", model, "--json", result)
    assert "Used 20 gold rows to tell how accurate the labels are" in told
    assert json.loads(result.read_text())["gold"]["n_gold"] == 20
    told = run(capsys, "compare", file, "--gold-file", queue, "--methods", "mv,ds")
    assert "Methods that take gold use 20 gold rows; accuracies leave them out." in told
    assert "gold rows" not in run(capsys, "compare", file, "--methods", "mv,ds")


def test_truth_is_never_gold_unless_it_is_said(capsys, file, tmp_path):
    out, result = tmp_path / "fused.csv", tmp_path / "out.json"
    told = run(capsys, "fuse", file, "-o", out, "--json", result)
    assert "gold row" not in told.lower()
    assert "gold" not in result.read_text().lower()
    assert "gold_label" not in pd.read_csv(out).columns
    renamed = write(pd.read_csv(file, dtype=str).rename(columns={"label": "gold"}), tmp_path / "renamed.csv")
    content = run(capsys, "fuse", renamed, "-o", out, "--json", result) and json.loads(result.read_text())
    assert "gold" not in content  # a column of that name is the truth
    assert content["evaluation"]["rows"] == 400
    told = run(capsys, "fuse", file, "--gold", "label", "-o", out, "--json", result)
    assert "Used 400 gold rows" in told
    assert "no telling" not in told  # gold tells
    assert "evaluation" not in json.loads(result.read_text())


# ---------------------------------------------------------------------- gold that makes no sense


def test_a_column_cannot_be_truth_and_gold(capsys, file, tmp_path):
    told = refused(capsys, "fuse", file, "--truth", "label", "--gold", "label", "-o", tmp_path / "fused.csv")
    assert "cannot be both the truth and the gold" in told


def test_gold_is_given_once(capsys, file, queue, tmp_path):
    told = refused(capsys, "fuse", file, "--gold", "label", "--gold-file", queue, "-o", tmp_path / "fused.csv")
    assert "given twice" in told


def test_two_labels_for_one_row_are_refused(capsys, file, queue, tmp_path):
    frame = pd.read_csv(queue, dtype=str, keep_default_na=False)
    other = "0" if frame["gold_label"][0] != "0" else "1"
    write(pd.concat([frame, frame[:1].assign(gold_label=other)]), queue)
    told = refused(capsys, "fuse", file, "--gold-file", queue, "-o", tmp_path / "fused.csv")
    assert f"two different labels for row {int(frame['row'][0]):,}" in told
    write(pd.concat([frame, frame[:1]]), queue)  # the same label twice says nothing new
    assert "Used 20 gold rows" in run(capsys, "fuse", file, "--gold-file", queue, "-o", tmp_path / "fused.csv")


def test_a_label_that_nobody_votes_for_is_a_warning(capsys, file, queue, tmp_path):
    frame = pd.read_csv(queue, dtype=str, keep_default_na=False)
    frame.loc[0, "gold_label"] = "unicorn"
    write(frame, queue)
    out, result = tmp_path / "fused.csv", tmp_path / "out.json"
    assert "Used 20 gold rows" in run(capsys, "fuse", file, "--gold-file", queue, "-o", out, "--json", result)
    assert json.loads(result.read_text())["gold"]["unheard"] == 1
    told = run(capsys, "describe", file, "--gold-file", queue)
    assert "1 gold label of class 'unicorn': no learner votes for it" in told
    fused = pd.read_csv(out, dtype=str)
    row = int(frame["row"][0]) - 1
    assert fused["gold_label"][row] == "unicorn"
    assert fused["fused_label"][row] != "unicorn"
    assert fused["needs_review"][row] == "true"


@pytest.mark.parametrize("number", ["0", "401", "2.5", "first", ""])
def test_rows_that_are_not_there_are_refused(capsys, file, queue, tmp_path, number):
    frame = pd.read_csv(queue, dtype=str, keep_default_na=False)
    frame.loc[3, "row"] = number
    write(frame, queue)
    told = refused(capsys, "fuse", file, "--gold-file", queue, "-o", tmp_path / "fused.csv")
    assert "the votes have rows 1 to 400" in told


def test_a_queue_of_other_votes_is_refused(capsys, file, queue, tmp_path):
    frame = pd.read_csv(queue, dtype=str, keep_default_na=False)
    write(frame.assign(id=[f"other {at}" for at in range(len(frame))]), queue)
    assert "id" in refused(capsys, "fuse", file, "--gold-file", queue, "-o", tmp_path / "fused.csv")


def test_ids_that_match_nothing_are_refused(capsys, file, tmp_path):
    gold = write(pd.DataFrame({"task": ["x", "y"], "label": ["0", "1"]}), tmp_path / "gold.csv")
    told = refused(capsys, "fuse", file, "--gold-file", gold, "-o", tmp_path / "fused.csv")
    assert "gold.csv" in told


def test_rows_that_only_the_gold_file_has_are_left_out_and_said(capsys, file, tmp_path):
    known = pd.read_csv(file, dtype=str)[["id", "label"]][:6]
    known.loc[4:, "id"] = ["nowhere", "elsewhere"]
    gold = write(known, tmp_path / "gold.csv")
    told = run(capsys, "fuse", file, "--gold-file", gold, "-o", tmp_path / "fused.csv")
    assert "Used 4 gold rows" in told
    assert "2 rows of the gold file are not among the votes and are left out." in told
    assert "left out" in run(capsys, "fuse", file, "--gold-file", gold, "--method", "mv", "-o", tmp_path / "fused.csv")
    write(known[:4], gold)
    assert "left out" not in run(capsys, "fuse", file, "--gold-file", gold, "-o", tmp_path / "fused.csv")


def test_an_empty_queue_is_refused(capsys, file, tmp_path):
    queue = tmp_path / "queue.csv"
    run(capsys, "ask", file, "-o", queue)
    told = refused(capsys, "fuse", file, "--gold-file", queue, "-o", tmp_path / "fused.csv")
    assert "holds no gold label. Fill in the column 'gold_label'" in told


@pytest.mark.parametrize("gold", ["column", "file"])
def test_a_file_in_parts_takes_no_gold(capsys, file, queue, tmp_path, gold):
    words = ["--gold", "label"] if gold == "column" else ["--gold-file", queue]
    told = refused(capsys, "fuse", file, *words, "--stream", "-o", tmp_path / "fused.csv")
    assert "read whole" in told


def test_no_rows_cannot_be_asked_for(capsys, file, tmp_path):
    assert "ask for 1 row or more" in refused(capsys, "ask", file, "-n", "0", "-o", tmp_path / "queue.csv")


# ---------------------------------------------------------------------- orders


def test_orders_are_for_learners_who_have_not_voted(capsys, tmp_path):
    orders = tmp_path / "orders.csv"
    told = run(capsys, "ask", CROWD, "-o", tmp_path / "queue.csv", "--orders", orders)
    assert "20 answers to order from 10 learners" in told
    frame, votes = pd.read_csv(orders, dtype=str), pd.read_csv(CROWD, dtype=str)
    assert list(frame.columns) == ["row", "id", "learner", "expected_gain"]
    given = set(zip(votes["task"], votes["worker"], strict=True))
    assert set(frame["learner"]) <= set(votes["worker"])
    assert set(frame["id"]) <= set(votes["task"])
    assert not given & set(zip(frame["id"], frame["learner"], strict=True))
    gains = frame["expected_gain"].astype(float)
    assert gains.is_monotonic_decreasing
    assert (gains > 0).all()


def test_nothing_is_ordered_where_everybody_has_voted(capsys, file, tmp_path):
    told = refused(capsys, "ask", file, "-o", tmp_path / "queue.csv", "--orders", tmp_path / "orders.csv")
    assert "there is nothing to order" in told
