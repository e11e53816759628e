"""Review without a browser: what the desk shows and hides, and what becomes of answers."""

import io
import json
import time

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from deem_core import InputError
from deem_core.gold import Questions
from deem_core.runs.answer_book import Reply
from deem_core.runs.answer_file import written
from studio import state
from studio.data.datasets import open_dataset
from studio.review import evidence, images
from studio.review.row import keys_of
from tests.app.conftest import button, expect_calm, metrics, words
from tests.core.runs.test_ask import camps
from tests.in_process import done

ROWS = 120


def judges(**columns):
    """Two camps of judges with a text, an image and the truth in a column that nobody named so."""
    votes = camps(ROWS)
    labels = np.array(["no", "yes"], object)
    table = pd.DataFrame(labels[votes.codes], columns=votes.learners)
    table.insert(0, "id", votes.ids)
    table.insert(1, "prompt", [f"What of **{row}**? <b>Say</b>" for row in range(ROWS)])
    table["verdict of the board"] = labels[votes.truth]
    table["label"] = labels[votes.truth]
    for name, cells in columns.items():
        table[name] = cells
    return table.to_csv(index=False).encode()


@pytest.fixture
def panel(workspace):
    """A panel whose board's verdict is not a learner."""
    return workspace.add_dataset("judges.csv", judges(), reading={"ignore": ["verdict of the board"]})


@pytest.fixture
def open_desk(app, workspace, panel):
    """Return what asks for rows and opens the page at them."""

    def open_it(dataset=panel, **address):
        run = done(workspace, "ask", dataset, {"n": 20, "random_state": 0})
        app.query_params[state.DATA] = dataset.id
        for name, value in address.items():
            app.query_params[name] = value
        app.run()
        app.switch_page("pages/review.py").run()
        return Questions.from_dict(json.loads((run.path / "queue.json").read_text())).rows

    return open_it


def press(app, key):
    """Press a button by its key."""
    return next(each for each in app.button if each.key == key).click().run()


def book_of(workspace, dataset):
    """The answers that are kept: row → label."""
    votes = workspace.read(dataset).votes
    return workspace.answer_book(dataset).labels(votes)


def test_without_data_the_page_leads_to_it(app):
    app.run()
    app.switch_page("pages/review.py").run()
    expect_calm(app)
    assert "No data yet" in words(app)


def test_before_a_queue_it_says_what_gold_rows_are(app, panel):
    app.query_params[state.DATA] = panel.id
    app.run()
    app.switch_page("pages/review.py").run()
    expect_calm(app)
    assert "rows whose right label you know" in words(app)
    assert button(app, "Suggest 20 rows")


def test_the_desk_shows_the_text_literally_and_never_the_truth(app, open_desk, panel):
    rows = open_desk()
    expect_calm(app)
    shown = words(app)
    assert f"Row {rows[0] + 1}" in "\n".join(each.value for each in app.header)
    assert f"What of **{rows[0]}**? <b>Say</b>" in shown
    for hidden in ("verdict of the board", "label\n"):
        assert hidden not in shown
    assert "10 of 10 learners voted" in shown


def test_the_desk_says_learners_in_the_files_own_word(app, workspace, open_desk):
    table = pd.read_csv(io.BytesIO(judges()))
    names = table.columns.difference(["id", "prompt", "verdict of the board", "label"])
    table = table.rename(columns={name: f"judge_{at}" for at, name in enumerate(names)})
    reading = {"ignore": ["verdict of the board"]}
    rows = open_desk(workspace.add_dataset("jury.csv", table.to_csv(index=False).encode(), reading=reading))
    assert "10 of 10 judges voted" in words(app)
    for row in rows[:6]:
        press(app, f"label_{row}_1")
    expect_calm(app)
    assert "best judge on gold" in words(app)
    assert "learner" not in words(app)


def test_a_truth_of_another_reading_is_not_shown_either(workspace, panel):
    table = judges(diagnosis=[f"case {row % 7}" for row in range(ROWS)])
    dataset = workspace.add_dataset("cases.csv", table, reading={"ignore": ["diagnosis", "label"]})
    assert "diagnosis" in evidence.of(open_dataset(dataset.id)).columns
    workspace.vary_dataset(dataset, reading={"truth": "diagnosis"})
    other = workspace.vary_dataset(dataset, reading={"ignore": ["diagnosis"]})
    assert evidence.of(open_dataset(other.id)).columns == ("prompt",)


def test_a_truth_that_does_not_look_like_labels_is_not_shown_either(workspace):
    table = pd.read_csv(io.BytesIO(judges()))
    table["label"] = [label if row % 3 else "unclear" for row, label in enumerate(table["label"])]
    table["ground truth of the board"] = [f"case {row % 7}" for row in range(ROWS)]
    reading = {"ignore": ["ground truth of the board", "verdict of the board"]}
    dataset = workspace.add_dataset("unclear.csv", table.to_csv(index=False).encode(), reading=reading)
    assert workspace.read(dataset).report.roles["label"] == "truth"
    assert evidence.of(open_dataset(dataset.id)).columns == ("prompt",)


def test_answers_are_kept_at_once_and_the_next_row_comes(app, workspace, open_desk, panel):
    rows = open_desk()
    press(app, f"label_{rows[0]}_1")
    press(app, f"label_{rows[1]}_0")
    press(app, f"skip_{rows[2]}")
    expect_calm(app)
    ledger = book_of(workspace, panel)
    assert dict(ledger.labels) == {rows[0]: "yes", rows[1]: "no"}
    assert f"Row {rows[3] + 1}" in app.header[0].value.replace("\\", "")
    assert metrics(app)["Gold rows"] == "2"
    assert "2 gold rows are too few" in words(app)


def test_only_the_row_that_is_shown_takes_an_answer(app, workspace, open_desk, panel):
    rows = open_desk()
    votes, (run,) = workspace.read(panel).votes, workspace.runs(kind="ask")
    said = Reply(rows[0], str(votes.ids[rows[0]]), "no", "reviewer", time.time())
    workspace.answer_book(panel).add(said)  # in another tab
    press(app, f"label_{rows[0]}_1")  # and here, where it is still shown
    assert dict(book_of(workspace, panel).labels) == {rows[0]: "yes"}
    for key in (f"label_{rows[1]}_1", f"skip_{rows[1]}"):
        app.session_state[f"review_shows_{run.id}"] = rows[5]  # another row is there, and the old buttons hear a key
        press(app, key)
    expect_calm(app)
    assert dict(book_of(workspace, panel).labels) == {rows[0]: "yes"}
    assert not any(reply.skipped for reply in workspace.answer_book(panel).answers())
    press(app, f"label_{rows[1]}_1")
    assert set(book_of(workspace, panel).labels) == {rows[0], rows[1]}


def test_the_last_answer_can_be_taken_back_again_and_again(app, workspace, open_desk, panel):
    rows = open_desk()
    press(app, f"label_{rows[0]}_1")
    press(app, f"label_{rows[1]}_1")
    press(app, f"take_back_{rows[2]}")
    press(app, f"take_back_{rows[1]}")
    expect_calm(app)
    assert not book_of(workspace, panel).labels
    assert f"Row {rows[0] + 1}" in app.header[0].value.replace("\\", "")


def test_contradictory_answers_get_a_sentence_and_can_be_settled(app, workspace, open_desk, panel):
    rows = open_desk(reviewer="ann")
    press(app, f"label_{rows[0]}_1")
    votes = workspace.read(panel).votes
    workspace.answer_book(panel).add(Reply(rows[0], str(votes.ids[rows[0]]), "no", "bob", time.time()))
    app.run()
    expect_calm(app)
    assert "1 row with contradictory answers" in words(app)
    assert "ann says yes; bob says no" in words(app)
    assert not book_of(workspace, panel).labels
    button(app, "It is no").click().run()
    expect_calm(app)
    assert dict(book_of(workspace, panel).labels) == {rows[0]: "no"}
    assert book_of(workspace, panel).asked == {rows[0]}  # and still no fair draw
    assert "contradictory" not in words(app)


def test_a_file_of_known_labels_counts_and_a_bad_one_gets_a_sentence(app, workspace, open_desk, panel):
    open_desk()
    app.file_uploader[0].set_value(("known.csv", b"id,label\nr1,yes\nr2,no\nr3,perhaps\n", "text/csv")).run()
    expect_calm(app)
    assert "3 known labels from known.csv will be used from now on" in words(app)
    assert "no learner votes for it" in words(app)
    assert metrics(app)["Gold rows"] == "3"
    app.file_uploader[0].set_value(("other.csv", b"id,label\nr1,yes\nr1,no\n", "text/csv")).run()
    expect_calm(app)
    assert "two different" in words(app)
    assert len(book_of(workspace, panel).labels) == 3
    for name, content in {"none.csv": b"id,label\nx9,yes\n", "judges.csv": judges()}.items():
        app.file_uploader[0].set_value((name, content, "text/csv")).run()
        expect_calm(app)
    assert "judges.csv holds votes" in words(app)  # and its truth is not taken
    assert len(book_of(workspace, panel).labels) == 3


def test_downloaded_answers_come_back_under_their_names(app, workspace, open_desk, panel):
    rows = open_desk(reviewer="ann")
    press(app, f"label_{rows[0]}_1")
    press(app, f"label_{rows[1]}_1")
    votes, book = workspace.read(panel).votes, workspace.answer_book(panel)
    book.add(Reply(rows[1], str(votes.ids[rows[1]]), "no", "bob", time.time()))
    content = written(book.labels(votes))
    book.forget()
    app.file_uploader[0].set_value(("answers.csv", content, "text/csv")).run()
    expect_calm(app)
    assert "3 new answers from answers.csv, by ann, bob." in words(app)
    assert {reply.reviewer for reply in book.answers()} == {"ann", "bob"}
    assert "ann says yes; bob says no" in words(app)


def test_an_answer_against_the_gold_of_the_file_is_said(app, workspace, open_desk, panel):
    gold = workspace.vary_dataset(panel, reading={"gold": "label", "ignore": ["verdict of the board"]})
    votes = workspace.read(gold).votes
    right = str(votes.classes[votes.gold.codes[0]])
    workspace.answer_book(gold).add(Reply(0, "r0", "no" if right == "yes" else "yes", "ann", time.time()))
    workspace.answer_book(gold).add(Reply(1, "r1", str(votes.classes[votes.gold.codes[1]]), "ann", time.time()))
    app.query_params[state.DATA] = gold.id
    app.run()
    app.switch_page("pages/review.py").run()
    expect_calm(app)
    assert "1 answer here differs from the gold labels in the file" in words(app)


def test_fusing_with_gold_keeps_the_answers_that_were_used(app, workspace, open_desk, panel, monkeypatch):
    monkeypatch.setattr(type(workspace), "start", lambda self, run: None)
    rows = open_desk()
    press(app, f"label_{rows[0]}_1")
    button(app, "Fuse with 1 gold row").click().run()
    expect_calm(app)
    (run,) = workspace.runs(kind="fuse")
    assert workspace.input(run.config["gold"]).read_text().splitlines()[1].replace('"', "").endswith(",yes,yes")


def test_rows_that_were_passed_over_come_again_at_the_end(app, workspace, open_desk, panel):
    rows = open_desk()
    votes = workspace.read(panel).votes
    for row in rows[1:-1]:
        workspace.answer_book(panel).add(Reply(row, str(votes.ids[row]), "yes", "reviewer", time.time()))
    for at in range(len(rows) - 1):
        press(app, f"forward_{rows[at]}")
    press(app, f"label_{rows[-1]}_1")
    expect_calm(app)
    assert f"Row {rows[0] + 1}" in app.header[0].value.replace("\\", "")


def test_a_finished_queue_says_so_and_forgetting_begins_anew(app, workspace, open_desk, panel):
    rows = open_desk()
    votes = workspace.read(panel).votes
    for row in rows[:-1]:
        workspace.answer_book(panel).add(Reply(row, str(votes.ids[row]), "yes", "reviewer", time.time()))
    app.run()
    press(app, f"label_{rows[-1]}_0")
    expect_calm(app)
    assert "All 20 rows are done" in words(app)
    press(app, "forget_answers")
    press(app, "forget_for_good")
    expect_calm(app)
    assert not workspace.answer_book(panel).answers()


def test_many_classes_have_keys_for_the_likeliest_and_a_list_for_the_rest(app, workspace, open_desk):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 14, 200)
    codes = np.where(rng.random((200, 4)) < 0.7, truth[:, None], rng.integers(0, 14, (200, 4)))
    table = pd.DataFrame(codes, columns=list("abcd")).map(lambda code: f"class {code:02d}")
    dataset = workspace.add_dataset("many.csv", table.to_csv(index=False).encode())
    rows = open_desk(dataset)
    expect_calm(app)
    shown = [each for each in app.button if str(each.key).startswith("label_")]
    assert 1 <= len(shown) <= 6
    app.selectbox(key=f"other_label_{rows[0]}").set_value(
        next(option for option in app.selectbox(key=f"other_label_{rows[0]}").options)
    ).run()
    expect_calm(app)
    assert set(book_of(workspace, dataset).labels) == {rows[0]}


def test_labels_that_are_digits_have_their_own_keys(app, workspace, open_desk):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 10, 200)
    codes = np.where(rng.random((200, 4)) < 0.7, truth[:, None], rng.integers(0, 10, (200, 4)))
    dataset = workspace.add_dataset(
        "digits.csv", pd.DataFrame(codes, columns=list("abcd")).to_csv(index=False).encode()
    )
    open_desk(dataset)
    expect_calm(app)
    shown = {each.label: each.proto.shortcut for each in app.button if str(each.key).startswith("label_")}
    assert shown == {str(digit): str(digit) for digit in range(10)}
    assert keys_of(["no", "2", "yes", "1"]) == ["3", "2", "4", "1"]


def test_images_are_asked_for_and_never_leave_their_folder(app, workspace, open_desk, tmp_path):
    folder = workspace.root / "files"
    folder.mkdir()
    Image.new("RGB", (4, 4)).save(folder / "in.png")
    Image.new("RGB", (4, 4)).save(tmp_path / "out.png")
    (folder / "link.png").symlink_to(tmp_path / "out.png")
    (folder / "junk.png").write_bytes(b"no image")
    assert images.load("in.png")
    for name in ("../../out.png", str(tmp_path / "out.png"), "link.png", "junk.png", "gone.png", "a\0.png"):
        with pytest.raises(InputError):
            images.load(name)
    pictures = [f"https://example.org/{row}.jpg?size=2" for row in range(ROWS)]
    dataset = workspace.add_dataset("seen.csv", judges(picture=pictures), reading={"ignore": ["picture"]})
    open_desk(dataset)
    expect_calm(app)
    assert not app.get("image")
    button(app, "Load images from example.org".replace(".", "\\.")).click().run()
    expect_calm(app)
    assert app.get("image")


def test_a_gold_column_is_chosen_on_the_data_page_only(app, workspace, panel):
    gold = workspace.vary_dataset(panel, reading={"gold": "label", "ignore": ["verdict of the board"]})
    app.query_params[state.DATA] = gold.id
    app.run()
    app.switch_page("pages/data.py").run()
    expect_calm(app)
    assert f"{ROWS} gold rows" in words(app)


def test_where_votes_do_not_settle_it_the_data_page_offers_to_label_rows(app, workspace, panel, monkeypatch):
    monkeypatch.setattr(type(workspace), "start", lambda self, run: None)
    done(workspace, "fuse", panel, {"method": "auto", "random_state": 0}, "Answer by auto")
    app.query_params[state.DATA] = panel.id
    app.run()
    app.switch_page("pages/data.py").run()
    expect_calm(app)
    button(app, "Label 20 rows").click().run()
    (run,) = workspace.runs(kind="ask")
    assert app.query_params[state.ASK] == run.id
    app.switch_page("pages/review.py").run()  # a test does not follow by itself
    expect_calm(app)
    assert app.title[0].value == "Review"


def test_an_answer_with_gold_says_so_and_offers_no_more_labels(app, workspace, panel):
    digest = workspace.store(b"row,id,gold_label,asked\n1,r0,yes,\n2,r1,no,\n")
    done(workspace, "fuse", panel, {"method": "auto", "random_state": 0, "gold": digest}, "Answer with gold rows")
    app.query_params[state.DATA] = panel.id
    app.run()
    app.switch_page("pages/data.py").run()
    expect_calm(app)
    assert "Used 2 gold rows" in words(app)
    assert not [each for each in app.button if each.label == "Label 20 rows"]
